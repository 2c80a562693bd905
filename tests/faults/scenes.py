# SPDX-License-Identifier: MIT
"""What the tests of faults run: commands that write, each in a folder of its own, and what must hold when one of them ended
badly. Only the standard library.

A scene is a folder with files of the user's and a command. `old` is the folder before the command, `new` the folder after it,
both without a fault. However the command ends, each file is the old or the new one, whole; the command again gets to `new`;
and for annotate and strip, strip gets to `bare`, in which each file of the user's is what it was.
"""
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
import riegeli
from helpers import DATA, PROGRAM, skip as skip, today, turns_are_all

TRACER = os.path.abspath("tests/faults/tracer")
PATIENCE_S = 300
TEMPORARY = re.compile(r"^\..*\.tpusight-[a-z0-9]{6}$")
LOOKS = re.compile(rb',\n  "annotation": \{[^\n]*"state": "[0-9a-f]{32}"\}\n\}\n$')
ENVIRONMENT = {"PATH": "/nonexistent", "HOME": "/nonexistent", "LC_ALL": "C"}  # no XProf is looked for
NO_ROOM = "no room in the temporary folder"  # to unpack a trace: the figures that need it are unknown
EVERY = turns_are_all()
STATUSES = (0, 1, 2, 3, 4)
SESSION = "logs/plugins/profile/one"


def data(path):
    with open(os.path.join(DATA, path), "rb") as file:
        return file.read()


def planted(name):
    """The first profile of a planted run."""
    with tarfile.open(fileobj=io.BytesIO(data(f"planted/{name}.tar.gz"))) as archive:
        member = next(m for m in archive if m.name.endswith(".xplane.pb"))
        return archive.extractfile(member).read()


def put(folder, name, content):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def without_looks(content):
    """A report says how the files looked when it was written: no two runs say the same of that."""
    return LOOKS.sub(b"\n}\n", content)


def tree(folder):
    """{path: content}; of a link, where it leads."""
    found = {}
    for where, folders, names in os.walk(folder):
        for name in names + [n for n in folders if os.path.islink(os.path.join(where, n))]:
            path = os.path.join(where, name)
            if os.path.islink(path):
                found[os.path.relpath(path, folder)] = os.readlink(path).encode()
                continue
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = without_looks(file.read())
    return found


def folders(folder):
    return {os.path.relpath(where, folder) for where, _, _ in os.walk(folder)}


def temporaries(files):
    return sorted(path for path in files if TEMPORARY.match(os.path.basename(path)))


def lay(folder, files):
    """The folder holds these files and nothing else. Two names of one object are two names of one file."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    first = {}
    for path, content in files.items():
        known = first.setdefault(id(content), path) if len(content) > 1 else path
        if known == path:
            put(folder, path, content)
        else:
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            os.link(os.path.join(folder, known), os.path.join(folder, path))


def is_whole(path, content):
    """Can what TPUsight wrote be read to its end?"""
    try:
        if path.endswith(".gz"):
            content = gzip.decompress(content)
        if path.endswith((".json", ".json.gz")):
            json.loads(content)
    except (EOFError, OSError, ValueError):
        return False
    return True


def names_file_and_cause(scene, folder, text, cause):
    """Does a line begin with a file or folder of the scene, or with what has no name, and is the cause there?"""
    known = {part for path in [folder, *scene.old, *scene.new] for part in path.split("/")} | {"some", ""}
    named = re.findall(r"^(?:tpusight|  not annotated): ([^:\n]+)", text, re.MULTILINE)
    nameless = (".", "temporary file", "standard output", "out of memory")
    return bool(re.search(cause, text)) and any(set(name.split("/")) & known or name in nameless for name in named)


class Ended:
    """How a command ended."""

    def __init__(self, args, folder, extra=None, before=(), stdout=subprocess.PIPE, preexec=None, pass_fds=()):
        scratch = os.path.join(os.path.dirname(folder), "tmp")
        os.makedirs(scratch, exist_ok=True)
        done = subprocess.run([*before, PROGRAM, *args], cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, env={**ENVIRONMENT, "TMPDIR": scratch, **(extra or {})},
                              timeout=PATIENCE_S, preexec_fn=preexec, pass_fds=pass_fds, check=False)
        self.args, self.status = args, done.returncode
        self.out, self.err = done.stdout or b"", done.stderr.decode(errors="replace")
        self.scratch = sorted(os.listdir(scratch))


class Traced:
    """A command below the tracer, and what that wrote."""

    def __init__(self, mode, args, folder):
        with tempfile.TemporaryFile() as out:
            self.ended = Ended(args, folder, before=["/bin/sh", "-c", f'exec 3>&{out.fileno()} "$0" "$@"', TRACER, *mode],
                               pass_fds=(out.fileno(),))
            out.seek(0)
            self.text = out.read().decode()


def need_tracer():
    """Skips where programs cannot be traced."""
    if not os.access(TRACER, os.X_OK):
        skip(f"{TRACER} is not built")
    done = subprocess.run([TRACER, "enter", "1", "0", "/bin/true"], capture_output=True, check=False)
    if done.returncode != 0:
        skip("this system does not let one program trace another")


class Scene:
    def __init__(self, name, files, command, first=(), undo=None, says_times=False):
        self.name, self.files, self.command, self.first = name, files, command, first
        self.undo = undo  # the command that takes everything out again
        self.says_times = says_times  # so no two runs print the same
        self.beside = {}  # what is not the scene's, and stays

    def learn(self, folder):
        """Runs it without a fault, for `old`, `new` and `bare`."""
        lay(folder, self.files)
        for args in self.first:
            self.must_end_well(Ended(args, folder))
        self.old = tree(folder)
        ended = self.must_end_well(Ended(self.command, folder))
        self.out, self.new = ended.out, tree(folder)
        if self.undo:
            self.must_end_well(Ended(self.undo, folder))
        self.bare = tree(folder)
        for path, content in self.users().items():
            assert self.bare[path] == content, f"{self.name}: strip changed {path}"

    def users(self):
        return {path: content for path, content in self.files.items()
                if not path.endswith(CACHES) and not path.startswith("out.")}

    def must_end_well(self, ended):
        assert ended.status == 0, f"{self.name}: {ended.args}: status {ended.status}\n{ended.err}"
        return ended

    def half_files(self, folder, may_leave=False, may_differ=False):
        """What is wrong with the folder: files that are neither the old nor the new one. Where a host could not be read, ours
        may differ, and are whole all the same."""
        return self.half_of(tree(folder), may_leave, may_differ)

    def half_of(self, files, may_leave=False, may_differ=False):
        """The same of these files."""
        found = dict(files)
        left = temporaries(found)
        for path in left:
            found.pop(path)
        wrong = [] if may_leave else [f"{path} was left behind" for path in left]
        for path in sorted(set(found) | set(self.old) | set(self.new)):
            if found.get(path) in (self.old.get(path), self.new.get(path)):
                continue
            if not self.keeps(path, found) or not may_differ or path not in found or not is_whole(path, found[path]):
                wrong.append(f"{path} is neither the old nor the new file")
        return wrong

    def keeps(self, path, found):
        """Is all that the user's file holds there: in it, in front of what is ours, or under the name that sets it aside?"""
        mine = self.files.get(path, b"")
        return found.get(path, b"").startswith(mine) or found.get(path.replace("_trace.", "_trace.native.")) == mine

    def recovers(self, folder):
        """What is wrong with it after a run without a fault, and after the undoing."""
        wrong = self.after(self.command, folder, self.new)
        if self.undo:
            wrong += self.after(self.undo, folder, self.bare)
        return wrong

    def strips(self, folder):
        return self.after(self.undo, folder, self.bare)

    def after(self, command, folder, wanted):
        ended = Ended(command, folder)
        if ended.status != 0:
            return [f"{command}: status {ended.status}: {ended.err.strip()}"]
        found, wanted = tree(folder), {**wanted, **self.beside}
        return [f"after {command[0]} {command[1]}: {path} is wrong" for path in sorted(set(found) | set(wanted))
                if found.get(path) != wanted.get(path) and not path.endswith(CACHES)]


CACHES = (".SSTABLE", ".op_stats_v2.pb", "overview_page.pb", ".cached_tools.json")
ANNOTATE = ["annotate", "-q", "-j1", "logs"]
STRIP = ["annotate", "--strip", "-q", "logs"]
FEW = ["annotate", "-q", "-j1", "--max-overlay-events=3", "--max-trace-events=5", "logs"]


def session():
    """Two hosts, a trace of the user's, caches of XProf's, and a file that is nobody else's."""
    return {f"{SESSION}/a.xplane.pb": planted("padding"), f"{SESSION}/b.xplane.pb": data("cpu_cache_warm.xplane.pb"),
            f"{SESSION}/perfetto_trace.json.gz": data("torch_memory.pt.trace.json.gz"),
            f"{SESSION}/a.op_stats_v2.pb": b"stale", f"{SESSION}/ALL_HOSTS.overview_page.pb": b"stale",
            f"{SESSION}/notes.txt": b"keep me\n", f"{SESSION}/.notes.tpusight-": b"and me\n"}


def traces():
    return {"logs/run.pt.trace.json": data("hand_made.pt.trace.json"), "logs/other.txt": b"keep me\n"}


def one_file(name, content):
    return {f"in/{name}": content, "in/other.txt": b"keep me\n"}


def records():
    """The same profile in records, in two pieces, and as an xplane beside them."""
    native = data("cpu_cache_warm.xplane.pb")
    return {f"{SESSION}/a.xplane.riegeli": riegeli.file_of(*(riegeli.records(half) for half in riegeli.pieces(native)), padded=False),
            f"{SESSION}/b.xplane.pb": native}


def annotations():
    yield Scene("annotate", session(), ANNOTATE, undo=STRIP)
    yield Scene("annotate-both", session(), ["annotate", "-q", "-j1", "--perfetto=both", "logs"], undo=STRIP)
    yield Scene("annotate-again", session(), ANNOTATE, first=[FEW], undo=STRIP)
    yield Scene("annotate-records", records(), ANNOTATE, undo=STRIP)
    yield Scene("strip-records", records(), STRIP, first=[ANNOTATE], undo=STRIP)
    yield Scene("strip", session(), STRIP, first=[ANNOTATE], undo=STRIP)
    yield Scene("annotate-trace", traces(), ANNOTATE, undo=STRIP)
    yield Scene("strip-trace", traces(), STRIP, first=[ANNOTATE], undo=STRIP)


def watched():
    """A watch annotates what it finds. Each run takes a second."""
    yield Scene("live", traces(), ["live", "-j1", "--for=1", "--settle=50ms", "--interval=100ms", "logs"], undo=STRIP,
                says_times=True)


def threaded():
    """The same with threads, where no two runs make their calls in one order."""
    yield Scene("annotate-threads", session(), ["annotate", "-q", "-j4", "--perfetto=both", "logs"], undo=STRIP)


def reports():
    profile, trace = one_file("a.xplane.pb", planted("padding")), one_file("a.pt.trace.json", data("hand_made.pt.trace.json"))
    gpu = one_file("a.pt.trace.json.gz", data("torch/stack.pt.trace.json.gz"))
    memory = one_file("a.pt.trace.json.gz", data("torch_memory.pt.trace.json.gz"))
    compiled = one_file("a.pt.trace.json.gz", data("torch/breaks.pt.trace.json.gz"))
    for form in ("txt", "json", "html", "csv"):
        view = ["--view=ops"] if form == "csv" else []
        yield Scene(f"report-{form}", {**profile, f"out.{form}": b"old\n"}, ["report", "-q", "-j1", *view, "-o", f"out.{form}", "in"])
    yield Scene("report-stdout", profile, ["report", "-q", "-j1", "in"])
    yield Scene("check", profile, ["check", "-q", "-j1", "-o", "out.json", "in"])
    yield Scene("compare", {**profile, "out.json": b"old\n"}, ["compare", "-q", "-j1", "-o", "out.json", "in", "in"])
    yield Scene("hta", trace, ["hta", "-q", "-j1", "-o", "out.json", "in"])
    yield Scene("kernels", trace, ["kernels", "-q", "-j1", "-o", "out.csv", "in"])
    yield Scene("flame-folded", gpu, ["flame", "-q", "-j1", "--format=folded", "-o", "out.txt", "in"])
    yield Scene("flame-html", gpu, ["flame", "-q", "-j1", "-o", "out.html", "in"])
    yield Scene("timeline", trace, ["timeline", "-q", "-j1", "-o", "out.html", "in"])
    yield Scene("timeline-chrome", {**trace, "out.json": b"old\n"},
                ["timeline", "-q", "-j1", "--format=chrome", "-o", "out.json", "in"])
    yield Scene("timeline-packed", trace, ["timeline", "-q", "-j1", "--format=chrome", "-o", "out.json.gz", "in"])
    yield Scene("memory", memory, ["memory", "-q", "-j1", "-o", "out.html", "in"])
    yield Scene("compile", compiled, ["compile", "-q", "-j1", "-o", "out.json", "in"])
    yield Scene("hlo", one_file("m.hlo_proto.pb", data("pallas_v5e.hlo.pb")), ["hlo", "-q", "-j1", "-o", "out.json", "in/m.hlo_proto.pb"])
    yield Scene("thresholds", {}, ["thresholds", "-o", "out.json", "--format=json"])


def copies():
    run = {f"logs/plugins/profile/one/{name}": content for name, content in
           {"a.xplane.pb": planted("padding"), "memory_profile.prof": data("memory_profile.prof")}.items()}
    trace = one_file("a.pt.trace.json", data("hand_made.pt.trace.json"))
    key = {"key": b"a key that is long enough, and the same each time\n"}
    yield Scene("trim", run, ["trim", "-q", "-j1", "--from-ms=0", SESSION])
    yield Scene("trim-folder", run, ["trim", "-q", "-j1", "--from-ms=0", "-o", "some/where", SESSION])
    yield Scene("trim-packed", {**trace, "out.json.gz": b"old\n"},
                ["trim", "-q", "-j1", "--from-ms=0", "-o", "out.json.gz", "in/a.pt.trace.json"])
    yield Scene("redact", {**run, **key}, ["redact", "-q", "-j1", "--key=key", SESSION])
    yield Scene("redact-trace", {**trace, **key}, ["redact", "-q", "-j1", "--key=key", "-o", "out.json", "in/a.pt.trace.json"])


def all_scenes():
    return [*annotations(), *reports(), *copies()]


class Folder:
    """A folder for scenes, on a file system in memory where there is one; gone at the end."""

    def __enter__(self):
        shm = "/dev/shm"
        here = shm if os.path.isdir(shm) and os.access(shm, os.W_OK) and not os.environ.get("TMPDIR") else None
        self.top = tempfile.mkdtemp(prefix="tpusight-faults-", dir=here)
        self.path = os.path.join(self.top, "scene")
        return self.path

    def __exit__(self, *what):
        shutil.rmtree(self.top, ignore_errors=True)


def wanted(scenes):
    """Those that TS_SCENES names, as a pattern."""
    pattern = os.environ.get("TS_SCENES", "")
    return [scene for scene in scenes if re.search(pattern, scene.name)]


class Sample:
    """One of STEP numbers, another each day, as the allocations of tests/oom."""

    def __init__(self, step):
        self.step = 1 if EVERY else int(os.environ.get("TS_STEP", step))
        self.seed = today()
        self.turn = 0
        print(f"one of {self.step}, TS_DAY={self.seed} (TS_TURNS=all: each)", flush=True)

    def takes(self):
        self.turn += 1
        return (self.turn + self.seed) % self.step == 0
