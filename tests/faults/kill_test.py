#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""annotate, strip and other commands that write are ended by a signal at a system call, for every call: kill_test.py

A tracer (tracer.c) sends the signal when the program enters its n-th call, and when it leaves it.
 - SIGKILL may leave a temporary, which the next run sweeps; SIGINT, SIGTERM and SIGHUP leave none. SIGPIPE is not noticed.
 - Each file is the old or the new one, whole; the next run gets to the right end, and strip gives every byte back.
 - A temporary of another program that lives is never removed, nor what only has a similar name.
`make check` tries some of the calls that change files, others each day; TS_TURNS=all is each call, also those that change
nothing.
"""
import fcntl
import os
import signal
import sys

import scenes

HELD = ".held.xplane.pb.tpusight-a1b2c3"  # a temporary of a program that lives
ENDS = {signal.SIGKILL: True, signal.SIGTERM: True, signal.SIGINT: True, signal.SIGHUP: True, signal.SIGPIPE: False}
STEP = 48
OTHERS = ("report-html", "timeline-chrome", "trim-packed", "redact")  # beside all that annotate
tried, wrong = {}, []


def calls_of(scene, folder):
    """[(number, whether the call can change files)]"""
    scenes.lay(folder, scene.old)
    lines = scenes.Traced(["list"], scene.command, folder)
    scene.must_end_well(lines.ended)
    return [(int(line.split()[0]), line.split()[1] != "-") for line in lines.text.splitlines()]


def held(folder, scene):
    """The other program's temporary, beside the scene's files."""
    where = os.path.join(folder, os.path.dirname(next(iter(scene.files))))
    path = os.path.join(where, HELD)
    file = open(path, "w", encoding="utf-8")
    fcntl.flock(file, fcntl.LOCK_EX)
    return path, file


def complaints(scene, folder, number, ended):
    """What is wrong with how it ended; NUMBER is the signal's."""
    if ended.status == 0:
        if {path: content for path, content in scenes.tree(folder).items() if not path.endswith(HELD)} != scene.new:
            yield "status 0, and its files are not those of a good run"
    elif not ENDS[number]:
        yield f"status {ended.status}: {ended.err.strip()}"
    elif ended.status != 128 + number:
        yield f"status {ended.status} is not that of the signal: {ended.err.strip()}"
    yield from (text for text in scene.half_files(folder, may_leave=number == signal.SIGKILL) if HELD not in text)


def try_one(scene, folder, number, call, when):
    scenes.lay(folder, scene.old)
    path, file = held(folder, scene)
    ended = scenes.Ended(scene.command, folder, before=[scenes.TRACER, when, str(call), str(int(number))])
    tried[number.name] = tried.get(number.name, 0) + 1
    found = list(complaints(scene, folder, number, ended))
    scene.beside = {os.path.relpath(path, folder): b""}
    found += scene.strips(folder) if scene.undo and call % 2 else scene.recovers(folder)
    scene.beside = {}
    file.close()
    for what in found:
        wrong.append(f"{scene.name}: {number.name} at call {call}, {when}: {what}")
        print(wrong[-1], flush=True)


def try_scene(scene, folder, sample):
    scene.learn(folder)
    calls = calls_of(scene, folder)
    for number in ENDS:
        for call, changes in calls:
            for when in ("enter", "leave"):
                if (changes or scenes.EVERY and number == signal.SIGKILL) and sample.takes():
                    try_one(scene, folder, number, call, when)


def main():
    scenes.need_tracer()
    for number in set(ENDS) - {signal.SIGKILL}:  # what runs in the background ignores some, and hands that on
        signal.signal(number, signal.SIG_DFL)
    sample = scenes.Sample(STEP)
    with scenes.Folder() as folder:
        others = [scene for scene in scenes.all_scenes() if scene.name in OTHERS]
        for scene in scenes.wanted([*scenes.annotations(), *scenes.threaded(), *others]):
            try_scene(scene, folder, sample)
    nr = sum(tried.values())
    print(f"{nr} ends tried ({', '.join(f'{n} {name}' for name, n in tried.items())}), {len(wrong)} complaints")
    return 1 if wrong or nr == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
