# SPDX-License-Identifier: MIT
"""Runs the program over inputs that are built to be slow (tests/fixtures/make_bombs.py), and measures each command: CPU
time of all its threads, and the most memory that it held."""

import os
import re
import resource
import shutil
import subprocess
import sys

TOP = os.environ.get("srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
sys.path.insert(0, os.path.join(TOP, "tests/fixtures"))
import make_bombs
from wire import blob, num

SESSION = "logs/plugins/profile/s"
VIEWS = [
    ("flame", "--json"),
    ("flame", "--format=folded"),
    ("timeline", "--format=chrome"),
    ("timeline", "--json"),
    ("memory", "--json"),
    ("hta", "--json"),
    ("kernels", "--all"),
    ("compile", "--json"),
]
REPORTS = [
    ("report", "--all"),
    ("report", "--json", "--tracks"),
    ("report", "--format=html"),
    ("report", "--format=csv", "--view=ops"),
    ("report", "--budget=4000"),
    ("check",),
]
WRITERS = [
    ("annotate", "-q", "logs"),
    ("annotate", "-q", "--perfetto=both", "--max-trace-events=0", "logs"),
    ("annotate", "--strip", "logs"),
]
COPIES = [("trim", "--to-ms=1", "-o", "trimmed"), ("redact", "--salt=x", "-o", "redacted")]


class Cost:
    def __init__(self, command, seconds, megabytes, status, said):
        self.command, self.seconds, self.megabytes, self.status, self.said = command, seconds, megabytes, status, said


def limit(seconds):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return set_limits


def measure(program, words, folder, seconds):
    """The cost of one command; it is ended after so many SECONDS of CPU."""
    with open(os.path.join(folder, "stderr"), "w+b") as err:
        child = subprocess.Popen(
            [program, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err, preexec_fn=limit(seconds)
        )
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        said = err.read(2000).decode(errors="replace")
    return Cost(" ".join(words), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, child.returncode, said)


def counted(program, words, folder):
    """The instructions of one command on one thread, by valgrind, which counts the same each time: (number, status)."""
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--log-fd=2", "--error-exitcode=0"]
    done = subprocess.run(
        [*tool, program, *words, "-j1"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    found = re.search(rb"I +refs: +([\d,]+)", done.stderr)
    return int(found.group(1).replace(b",", b"")) if found else None, done.returncode


def can_count(program):
    """Is valgrind there, and can it run the program? One with a sanitizer it cannot."""
    if not shutil.which("valgrind"):
        return False
    number, status = counted(program, ["--version"], ".")
    return status == 0 and number is not None


def around(proto):
    """An xplane in which the module runs, once."""
    make = make_bombs
    metadata = make.named(1, "%negate.2 = f32[8,128] negate()", make.op_stats(2, 1)) + make.named(2, "jit_f(1)")
    device = make.device(
        make.line_of("XLA Modules", make.event(2, 0, 9 * make.US), 2) + make.line_of("XLA Ops", make.event(1, 0, 5 * make.US)),
        metadata,
        stat_names=make.OP_STATS,
    )
    held = make.named(1, "jit_f(1)", blob(5, num(1, 1) + blob(6, proto)))
    return device + blob(1, make.plane_of("/host:metadata", b"", held, stat_names=("Hlo Proto",)))


def commands(kind, path):
    """What is run over an input, which lies at PATH."""
    session = [(*words, "logs") for words in REPORTS + VIEWS]
    copies = [(*words, path) for words in COPIES]
    if kind == "hlo":
        alone = [("hlo", *words, "m.hlo_proto.pb") for words in [(), ("--json",), ("--format=html",), ("--format=csv", "--view=ops")]]
        return (
            alone + [("report", "--json", "--tracks", "logs"), ("report", "--all", "logs"), ("memory", "--json", "logs")] + WRITERS + copies
        )
    if kind == "pprof":
        return [("memory", "--json", "logs"), ("report", "--all", "logs"), ("report", "--json", "logs")] + WRITERS
    if kind == "log":
        return [("compile", "--json", f"--torch-trace={path}", "logs")]
    if kind == "config":
        return [("report", f"--config={path}", "logs")]
    if kind == "archive":
        return [(*words, path) for words in REPORTS[:2] + [("flame", "--json"), ("check",), ("annotate", "-q"), ("compare", path)] + COPIES]
    return session + [("compare", "--json", "logs", "logs")] + copies + WRITERS


def lay(name, size, folder):
    """Writes the input with what it needs around it. Gives its kind and its path."""
    kind, ending, make = make_bombs.BOMBS[name]
    body = make(size)
    inside = f"{SESSION}/{ending}" if kind in ("xplane", "trace", "pprof") else ending
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(f"{folder}/{SESSION}")
    with open(f"{folder}/{inside}", "wb") as file:
        file.write(body)
    if kind in ("hlo", "pprof", "log", "config"):
        inside = f"{SESSION}/h.xplane.pb" if kind == "hlo" else inside
        with open(f"{folder}/{SESSION}/h.xplane.pb", "wb") as file:
            file.write(around(body) if kind == "hlo" else make_bombs.CORE)
    return kind, inside


def costs(program, name, size, folder, seconds=60, only=None):
    """The cost of each command over one input."""
    kind, path = lay(name, size, folder)
    for words in commands(kind, path):
        if only and words[0] not in only:
            continue
        yield measure(program, words, folder, seconds)
