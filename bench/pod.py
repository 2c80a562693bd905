#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a run of many hosts costs by files: pod.py PROGRAM PROFILE HOSTS [FOLDER]

Makes a session of HOSTS names of one PROFILE, takes it through the four rounds (docs/map.md), each map by itself, and prints for each
round its processor seconds, wall seconds, the peak of memory of one command, and the bytes that it writes. FOLDER (default: a temporary
one) keeps the files.
"""
import os
import sys
import tempfile
import time


def run(command):
    """(processor seconds, peak memory in bytes: what is mapped of files counts, too)."""
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command[:4])} ended with {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss << 10


def round_of(name, commands, made):
    begin = time.monotonic()
    used = [run(command) for command in commands]
    size = sum(os.stat(path).st_size for path in made)
    print(f"{name:16} {len(commands):5} commands {sum(cpu for cpu, _ in used):9.2f} s CPU {time.monotonic() - begin:9.1f} s wall "
          f"{max(memory for _, memory in used) / 2**20:9.1f} MiB peak {size / 2**20:9.1f} MiB written", flush=True)


def rounds(program, profile, count, folder):
    session = os.path.join(folder, "run", "plugins", "profile", "2026_01_01_00_00_00")
    os.makedirs(session)
    profiles = [os.path.join(session, f"host{i:04d}.xplane.pb") for i in range(count)]
    for path in profiles:
        os.symlink(os.path.abspath(profile), path)
    outlines = [os.path.join(folder, f"{i}.outline") for i in range(count)]
    states = [os.path.join(folder, f"{i}.states") for i in range(count)]
    outline, report = os.path.join(folder, "run.outline"), os.path.join(folder, "report.json")
    given = ["--outline", outline]
    round_of("map outline", [[program, "map", "outline", "-j1", a, "-o", b] for a, b in zip(profiles, outlines)], outlines)
    round_of("reduce outline", [[program, "reduce", "outline", *outlines, "-o", outline]], [outline])
    round_of("map pass", [[program, "map", "pass", "-j1", a, *given, "-o", b] for a, b in zip(profiles, states)], states)
    round_of("reduce report", [[program, "reduce", "report", *states, *given, "-o", report]], [report])


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    program, profile, count = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if len(sys.argv) == 5:
        rounds(program, profile, count, sys.argv[4])
    else:
        with tempfile.TemporaryDirectory(prefix="tpusight-pod-bench-") as folder:
            rounds(program, profile, count, folder)


if __name__ == "__main__":
    main()
