#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Disks that are really full, file-size limits, and outputs that take nothing: full_test.py

 - Commands that write run on a file system in memory, with room for what is there and a little more, page by page up to what
   they need. It takes a mount namespace (root, or unshare --map-root-user); where there is none this part is left out, and said.
 - They run with a file-size limit (ulimit -f) of every so many bytes.
 - What is printed goes to /dev/full, to a pipe that nobody reads, and to a descriptor that is closed.
However it goes, the command ends with a documented status, never by a signal; not with 0 when something was not written; its
message names file and cause; files are old or new, no temporary is left, and the next run gets to the right end.
TS_TURNS=all tries each size; `make check` some, others each day.
"""
import os
import resource
import subprocess
import sys

import scenes

PAGE, STEP = 4096, 6
SCENES = ("annotate", "annotate-both", "strip", "annotate-trace", "report-html", "report-json", "timeline-chrome", "trim",
          "redact-trace")
FULL = "disk is full|No space left"
wrong = []


def complaints(scene, folder, ended, cause):
    yield from scene.half_files(folder, may_differ=ended.status != 0)
    if ended.status not in scenes.STATUSES:
        yield f"status {ended.status}"
    elif ended.status == 0 and scenes.tree(folder) != scene.new:
        yield "status 0, and its files are not those of a good run"
    elif ended.status != 0 and not scenes.names_file_and_cause(scene, folder, ended.err, cause):
        yield f"the message does not name file and cause: {ended.err.strip()}"


def note(scene, what, found):
    for text in found:
        wrong.append(f"{scene.name}, {what}: {text}")
        print(wrong[-1], flush=True)


def remount(top, nr_pages):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"remount,size={nr_pages * PAGE}", "none", top], check=True,
                   env={**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})


def used_pages(top):
    found = os.statvfs(top)
    return (found.f_blocks - found.f_bfree) * found.f_bsize // PAGE


def try_room(scene, folder, nr_free):
    """With so many pages free; true: that was enough."""
    top = os.path.dirname(folder)
    remount(top, 1 << 14)
    scenes.lay(folder, scene.old)
    remount(top, used_pages(top) + nr_free)
    ended = scenes.Ended(scene.command, folder)
    found = list(complaints(scene, folder, ended, FULL))
    remount(top, 1 << 14)
    note(scene, f"{nr_free} pages free", found + scene.recovers(folder))
    return ended.status == 0


def on_small_disks(folder):
    """In a mount namespace of its own. Sizes grow a page at a time, and later faster, until the command has room."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", os.path.dirname(folder)], check=True)
    sample, nr = scenes.Sample(STEP), 0
    for scene in scenes.wanted(scenes.all_scenes()):
        if scene.name not in SCENES:
            continue
        scene.learn(folder)
        nr_free, has_room = 1, False
        while not has_room:
            if sample.takes() or nr_free > 1 << 12:
                has_room = try_room(scene, folder, nr_free)
                nr += 1
            nr_free += 1 + nr_free // 16
    print(f"{nr} small disks tried, {len(wrong)} complaints")
    return 1 if wrong or nr == 0 else 0


def limit(nr_bytes):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (nr_bytes, nr_bytes))


def with_limits(folder):
    """ulimit -f; the number of limits tried."""
    sample, nr = scenes.Sample(STEP), 0
    for scene in scenes.wanted(scenes.all_scenes()):
        if scene.name not in SCENES:
            continue
        scene.learn(folder)
        most = max([len(content) for content in scene.new.values()] + [1])
        for nr_bytes in range(0, most + most // 24, max(most // 24, 1)):
            if not sample.takes():
                continue
            scenes.lay(folder, scene.old)
            ended = scenes.Ended(scene.command, folder, preexec=limit(nr_bytes))
            note(scene, f"files of {nr_bytes} bytes", [*complaints(scene, folder, ended, f"larger than a file may be|{scenes.NO_ROOM}"),
                                                     *scene.recovers(folder)])
            nr += 1
    return nr


def printing():
    """Commands that print, and whether all of their answer is what they print."""
    profile, trace = os.path.join(scenes.DATA, "cpu_cache_warm.xplane.pb"), os.path.join(scenes.DATA, "hand_made.pt.trace.json")
    for form in ("text", "json", "html", "csv"):
        yield ["report", "-j1", f"--format={form}", *(["--view=steps"] if form == "csv" else []), profile]
    yield from (["check", profile], ["compare", profile, profile], ["annotate", "-n", profile], ["annotate", "-n", "--json", profile])
    yield from (["hta", trace], ["flame", trace], ["timeline", trace], ["kernels", trace], ["memory", trace], ["compile", profile])
    yield from (["thresholds"], ["explain", "padding"], ["--help"], ["--version"], ["report", "--help"])
    yield from (["trim", "--from-ms=0", "-o", "out.json", trace], ["redact", "--salt=x", "-o", "out.json", trace],
                ["timeline", "--format=chrome", "-o", "out.json", trace])


def to_nowhere(folder):
    """Outputs that take nothing; the number of them tried."""
    nr = 0
    for args in printing():
        scenes.lay(folder, {})
        with open("/dev/full", "wb") as full:
            ended = scenes.Ended(args, folder, stdout=full)
        if ended.status not in (3, 4) or "standard output" not in ended.err:
            wrong.append(f"{args} to /dev/full: status {ended.status}: {ended.err.strip()}")
        reader, writer = os.pipe()
        os.close(reader)
        ended = scenes.Ended(args, folder, stdout=writer)
        os.close(writer)
        if ended.status not in (0, 1):  # a reader that has seen enough
            wrong.append(f"{args} to a closed pipe: status {ended.status}: {ended.err.strip()}")
        ended = scenes.Ended(args, folder, before=["/bin/sh", "-c", 'exec >&-; exec "$0" "$@"'])
        if ended.status not in (3, 4) or "standard output" not in ended.err:
            wrong.append(f"{args} with standard output closed: status {ended.status}: {ended.err.strip()}")
        nr += 3
    profile = os.path.join(scenes.DATA, "cpu_cache_warm.xplane.pb")
    ended = scenes.Ended(["report", "-o", "/dev/full", profile], folder)
    if ended.status not in (3, 4) or "/dev/full: cannot write it" not in ended.err:
        wrong.append(f"report -o /dev/full: status {ended.status}: {ended.err.strip()}")
    return nr + 1


def main():
    if not os.path.exists("/dev/full"):
        scenes.skip("/dev/full is Linux's")
    with scenes.Folder() as folder:
        if sys.argv[1:] == ["inside"]:
            return on_small_disks(folder)
        nr_limits, nr_outputs = with_limits(folder), to_nowhere(folder)
    print("\n".join(wrong))
    print(f"{nr_limits} file-size limits and {nr_outputs} outputs tried, {len(wrong)} complaints")
    namespace = ["unshare", "--mount", *(["--map-root-user"] if os.getuid() else [])]
    if subprocess.run([*namespace, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode != 0:
        print("no small disks: this system does not let us mount one", file=sys.stderr)
        return 1 if wrong else 0
    inside = subprocess.run([*namespace, sys.executable, os.path.abspath(__file__), "inside"], check=False)
    return 1 if wrong or inside.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
