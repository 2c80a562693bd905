#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The n-th call of a command into the system fails, for every n, with every error that the call can have: fault_test.py

The commands are those of scenes.py, the errors those of fail.c. However it goes,
 - the command ends with a documented status, never by a signal;
 - with status 0 its files are those of a run without a fault; with another its message names a file and the cause;
 - each file is the old or the new one, whole, and no temporary is left;
 - the command again, without a fault, gets to the right end, and strip then gives every byte back.
EINTR and short reads and writes must not be noticed at all. `make check` tries some, others each day; TS_TURNS=all is each.
"""
import os
import sys

import scenes

LIBRARY = os.path.abspath("tests/faults/fail.so")
# How the cause is named (src/base/status.c); None: the command must end well.
CAUSES = {
    "ENOSPC": f"disk is full|[Nn]o space left|{scenes.NO_ROOM}", "EDQUOT": f"quota is used up|[Qq]uota exceeded|{scenes.NO_ROOM}",
    "EIO": f"[Ii]nput/output error|{scenes.NO_ROOM}", "EINTR": None, "EMFILE": "[Tt]oo many open files",
    "EACCES": "[Pp]ermission denied", "ENOMEM": "out of memory", "short": None,
}
LASTING = ("ENOSPC", "EDQUOT", "EIO")  # a disk that is full stays full
STEP = 128
tried, wrong = {}, []


def fault_run(scene, folder, fault):
    log = os.path.join(os.path.dirname(folder), "log")
    if os.path.exists(log):
        os.unlink(log)
    # Confined, the process could not write the library's log.
    extra = {"LD_PRELOAD": LIBRARY, "TS_FAIL": fault, "TS_FAIL_LOG": log, "TPUSIGHT_CONFINE": "0"}
    ended = scenes.Ended(scene.command, folder, extra)
    lines = []
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    ended.calls = {line.split()[1]: int(line.split()[2]) for line in lines if line.startswith("= ")}
    ended.failed = next((line for line in lines if not line.startswith("= ")), "")
    return ended


def may_not_remove(error, lasting, ended):
    """Did the removal of a temporary fail too? Then the next run does it."""
    return error == "EIO" and lasting or error in ("EIO", "EACCES") and ended.failed.startswith(("unlink", "rmdir"))


def is_explained(scene, folder, ended, cause):
    """Does it say what was wrong? A watch that cannot list its folder waits for what comes."""
    text = ended.err + ended.out.decode()
    return scenes.names_file_and_cause(scene, folder, text, cause) or scene.says_times and "no session came" in text


def complaints(scene, folder, error, lasting, ended):
    """What is wrong with how it ended."""
    if ended.status not in scenes.STATUSES:
        yield f"status {ended.status}"
    cause = CAUSES[error]
    removal_failed = may_not_remove(error, lasting, ended)
    yield from scene.half_files(folder, may_leave=removal_failed, may_differ=ended.status != 0)
    found = scenes.tree(folder)
    empty = [path for path in scenes.folders(folder) if not any(name.startswith(path + "/") for name in found) and path != "."]
    if empty and not removal_failed:
        yield f"a folder without files was left behind: {empty}"
    if ended.status == 0:
        if found != scene.new and not removal_failed:
            yield "status 0, and its files are not those of a good run"
        if ended.out != scene.out and not scene.says_times:
            yield "status 0, and it printed something else"
    elif cause is None:
        yield f"status {ended.status}: {ended.err.strip()}"
    elif not is_explained(scene, folder, ended, cause):
        yield f"status {ended.status}, and the message does not name file and cause: {ended.err.strip()}"
    if ended.scratch and not removal_failed:
        yield f"left in TMPDIR: {ended.scratch}"


def try_one(scene, folder, error, number, lasting):
    scenes.lay(folder, scene.old)
    fault = f"{error}:{number}{'+' if lasting else ''}"
    ended = fault_run(scene, folder, fault)
    tried[error] = tried.get(error, 0) + 1
    found = list(complaints(scene, folder, error, lasting, ended))
    if scene.undo and number % 2:
        found += scene.strips(folder)
    else:
        found += scene.recovers(folder)
    for what in found:
        wrong.append(f"{scene.name} {fault} ({ended.failed}): {what}")
        print(wrong[-1], flush=True)


def try_scene(scene, folder, sample):
    scene.learn(folder)
    scenes.lay(folder, scene.old)
    ended = scene.must_end_well(fault_run(scene, folder, ""))
    for error, nr_calls in ended.calls.items():
        if os.environ.get("TS_ERROR", error) != error:
            continue
        for number in range(1, nr_calls + 1):
            for lasting in (False, True) if error in LASTING else (False,):
                if sample.takes():
                    try_one(scene, folder, error, number, lasting)


def main():
    if not sys.platform.startswith("linux"):
        scenes.skip("LD_PRELOAD is Linux's")
    if not os.path.exists(LIBRARY):
        scenes.skip(f"{LIBRARY} is not built")
    sample = scenes.Sample(STEP)
    with scenes.Folder() as folder:
        slow = list(scenes.watched()) if scenes.EVERY or os.environ.get("TS_SCENES") else []
        for scene in scenes.wanted([*scenes.all_scenes(), *slow]):
            try_scene(scene, folder, sample)
    nr = sum(tried.values())
    print(f"{nr} faults tried ({', '.join(f'{n} {error}' for error, n in tried.items())}), {len(wrong)} complaints")
    return 1 if wrong or nr == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
