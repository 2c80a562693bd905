#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Annotate and --strip, there and back, in every layout that a folder of profiles can have: undo_test.py

Each row of LAYOUTS makes a folder, annotates what a user would name, and then
 - annotating again changes nothing: names, kinds, modes, bytes;
 - after --strip every name is back with its kind, mode, bytes and link target, and no name is new;
 - --strip ends with 0 (or as badly as annotate: of links that lead nowhere both complain), unless the row says that it has
   something to refuse, and then it names a file.
Rows with `between` change the folder before the strip, as a job or a user does; what they changed is to stay.
$TS_ANNOTATE: the program (default bin/tpusight-annotate).
"""
import gzip
import hashlib
import io
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile

ANNOTATE = os.path.abspath(os.environ.get("TS_ANNOTATE", "bin/tpusight-annotate"))
TOP = pathlib.Path(os.environ.get("srcdir", ".")).resolve()
PROFILE = (TOP / "tests/fuzz/seeds/xplane/steps_marked").read_bytes()
OTHER = (TOP / "tests/fuzz/seeds/xplane/plain").read_bytes()
TRACE = (TOP / "tests/data/hand_made.pt.trace.json").read_bytes()
LOG = b'V1121 15:03:11.119000 31397 torch/_dynamo/x.py:55] {"artifact": {"name": "a"}}\n'
S = "plugins/profile/s/"
SLOW = 120  # seconds: a run that takes longer hangs

# Every name that annotate writes, renames or removes, and names like them
OURS = ["ALL_HOSTS.smart_suggestion.pb", "ALL_HOSTS.tpusight.json", "perfetto_trace.json.gz", "perfetto_trace.native.json.gz",
        "perfetto_trace.pftrace", "perfetto_trace.native.pftrace", "cache_version.txt", "ALL_HOSTS.my_backup.pb",
        "ALL_RANKS.perfetto.zip",
        "ALL_HOSTS.tpusight.report.json", "h.tpusight.json.gz", "h.tpusight.pftrace", "h.tpusight.report.json",
        ".h.xplane.pb.tpusight-backup", "ALL_HOSTS.hlo_proto.pb", "other.SSTABLE", "h.xplane.pb.SSTABLE"]
ODD = ["a b", "new\nline", "*", "?[a]", "-n", "--strip", "'q'\"", "$HOME", "%s%n", "\u00e4\u4e2d", os.fsdecode(b"\xff\xfe"),
       "\x1b[31m", "x" * 200, "a.tpusight", "ALL_HOSTS"]


class Folder:
    def __init__(self, top):
        self.top = os.path.join(top, "d")
        self.outside = os.path.join(top, "outside")
        os.mkdir(self.top)
        os.mkdir(self.outside)

    def path(self, name):
        return os.path.join(self.top, name)

    def put(self, name, content, mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as f:
            f.write(content)
        os.chmod(self.path(name), mode)

    def link(self, name, target):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        os.symlink(target, self.path(name))

    def look(self):
        seen = {}
        for top in (self.top, self.outside):
            for folder, folders, files in os.walk(top):
                for name in folders + files:
                    path = os.path.join(folder, name)
                    info = os.lstat(path)
                    what = None
                    if stat.S_ISLNK(info.st_mode):
                        what = os.readlink(path)
                    elif stat.S_ISREG(info.st_mode):
                        with open(path, "rb") as f:
                            what = hashlib.sha256(f.read()).hexdigest()
                    seen[path] = (oct(info.st_mode), what)
        return seen


def run(*args):
    return subprocess.run([ANNOTATE, "-j1", *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=SLOW, check=False)


def packed(content):
    return gzip.compress(content, mtime=0)


def session(folder):
    folder.put(S + "h.xplane.pb", PROFILE)


def field(number, value):
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value


def steps_alone(folder):
    """A device with steps and no ops: the report counts what there is, and must not count ours."""
    events = b"".join(field(4, field(1, 1) + field(2, 10 * i) + field(3, 9)) for i in range(5))
    name = field(4, field(1, 1) + field(2, field(1, 1) + field(2, b"1")))
    plane = field(1, 2) + field(2, b"/device:TPU:0") + field(3, field(1, 1) + field(2, b"Steps") + events) + name
    folder.put(S + "h.xplane.pb", field(1, plane))


def hosts(folder):
    folder.put(S + "a.xplane.pb", PROFILE)
    folder.put(S + "b.xplane.pb", OTHER)


def nested(folder):
    for name in ("", "run/", "run/train/deep/er/", "run2/"):
        folder.put(name + S + "h.xplane.pb", PROFILE)
        folder.put(name + "plugins/profile/t/h.xplane.pb", OTHER)
        folder.put(name + "events.out.tfevents.1", b"scalars")


def several_kinds(folder):
    session(folder)
    folder.put("r0.1700000000.pt.trace.json", TRACE)
    folder.put("jax/plugins/profile/u/h.trace.json.gz", packed(TRACE))


def bare_profile(folder):
    folder.put("h.xplane.pb", PROFILE)


def odd_profile(folder):
    folder.put("profile.pb", PROFILE)


def bare_trace(folder):
    folder.put("r0.1700000000.pt.trace.json", TRACE)


def packed_trace(folder):
    folder.put("r0.1700000000.pt.trace.json.gz", packed(TRACE))


def twins(folder):
    bare_trace(folder)
    packed_trace(folder)


def captures(folder):
    for time in (1700000000, 1700009000):
        for rank in (0, 1):
            folder.put(f"r{rank}.{time}.pt.trace.json", TRACE)


def ranks(folder):
    for rank in (0, 1):
        folder.put(f"rank_{rank}.json", TRACE.replace(b'"rank": 3', b'"rank": %d' % rank))


def trace_session(folder):
    folder.put(S + "host0.trace.json.gz", packed(TRACE))
    folder.put(S + "perfetto_trace.json.gz", packed(TRACE))


def native_traces(folder):
    session(folder)
    folder.put(S + "perfetto_trace.json.gz", packed(TRACE), 0o600)
    folder.put(S + "perfetto_trace.pftrace", b"\x0a\x02\x50\x01")


def linked_trace(folder):
    session(folder)
    with open(os.path.join(folder.outside, "trace.gz"), "wb") as f:
        f.write(packed(TRACE))
    folder.link(S + "perfetto_trace.json.gz", os.path.join(folder.outside, "trace.gz"))


def hard_links(folder):
    session(folder)
    folder.put(S + "perfetto_trace.json.gz", packed(TRACE))
    os.link(folder.path(S + "perfetto_trace.json.gz"), folder.path(S + "kept.json.gz"))


def logdir_link(folder):
    folder.put("real/" + S + "h.xplane.pb", PROFILE)
    folder.link("logs", "real")


def session_link(folder):
    folder.put("real/h.xplane.pb", PROFILE)
    folder.link("plugins/profile/s", "../../real")


def loop_link(folder):
    session(folder)
    folder.link("loop", "..")


def archives(folder):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        info = tarfile.TarInfo(S + "h.xplane.pb")
        info.size = len(PROFILE)
        tar.addfile(info, io.BytesIO(PROFILE))
    folder.put("run.tar.gz", data.getvalue())
    folder.put("h.xplane.pb.gz", packed(PROFILE))


def log_as_trace(folder):
    folder.put("r0.1700000000.pt.trace.json", LOG)


def profile_as_trace(folder):
    folder.put("foo.pt.trace.json", PROFILE)


def trace_as_profile(folder):
    folder.put(S + "h.xplane.pb", TRACE)


def empty(folder):
    session(folder)
    folder.put(S + "i.xplane.pb", b"")


def damaged(folder):
    session(folder)
    folder.put(S + "i.xplane.pb", PROFILE[:-3])


def half_ours(folder):
    """A profile that was annotated and grew since: planes of ours stand in it, the user's bytes behind them."""
    session(folder)
    run(folder.top)
    for name in os.listdir(folder.path(S)):
        if name != "h.xplane.pb":
            os.unlink(folder.path(S + name))
    with open(folder.path(S + "h.xplane.pb"), "ab") as f:
        f.write(OTHER)


def a_profile_comes(folder):
    folder.put("h.xplane.pb", PROFILE)
    run(folder.top)
    run("--strip", folder.path("h.xplane.pb"))


def a_capture_comes(folder):
    folder.put(S + "host0.1700009000.trace.json.gz", packed(TRACE))


def the_profile_goes(folder):
    os.unlink(folder.path(S + "h.xplane.pb"))


def a_trace_comes(folder):
    folder.put(S + "new.trace.json.gz", packed(TRACE))


def a_user_writes(folder):
    folder.put(S + "notes.txt", b"mine")
    folder.put("README", b"mine")


def taken(names, make):
    def build(folder):
        session(folder)
        for name in names:
            make(folder, S + name)
    return build


def mine(folder, name):
    folder.put(name, b"mine, and precious\n", 0o640)


def nothing(folder, name):
    folder.put(name, b"")


def a_folder(folder, name):
    folder.put(name + "/precious", b"mine")


def a_link(folder, name):
    target = os.path.join(folder.outside, os.path.basename(name))
    with open(target, "wb") as f:
        f.write(b"mine")
    folder.link(name, target)


def a_dangling_link(folder, name):
    folder.link(name, os.path.join(folder.outside, "nowhere"))


def a_pipe(folder, name):
    os.mkfifo(folder.path(name))


def odd(name):
    def build(folder):
        folder.put(f"{name}/plugins/profile/{name}/{name[:100]}.xplane.pb", PROFILE)
        folder.put(f"{name}/{name[:100]}.pt.trace.json", TRACE)
    return build


class Layout:
    def __init__(self, name, build, paths=("",), options=(), between=None, refuses=False):
        self.name, self.build, self.paths, self.options = name, build, paths, options
        self.between, self.refuses = between, refuses


def layouts():
    for build in (session, steps_alone, hosts, nested, several_kinds, bare_profile, bare_trace, packed_trace, twins, captures,
                  trace_session, native_traces, linked_trace, hard_links, session_link, loop_link, log_as_trace, profile_as_trace, empty):
        yield Layout(build.__name__, build)
    yield Layout("a profile by its name", bare_profile, ("h.xplane.pb",))
    yield Layout("a profile of a session by its name", hosts, (S + "a.xplane.pb",))
    yield Layout("a profile of another name", odd_profile, ("profile.pb",))
    yield Layout("a profile of another name, then its folder", odd_profile, ("profile.pb",), between=lambda folder: None)
    yield Layout("a trace by its name", bare_trace, ("r0.1700000000.pt.trace.json",))
    yield Layout("the same path twice", session, ("", "plugins/profile/s"))
    yield Layout("the session's folder", session, ("plugins/profile/s",))
    yield Layout("a linked log directory", logdir_link, ("logs",))
    yield Layout("archives", archives, ("run.tar.gz", "h.xplane.pb.gz"))
    yield Layout("an archive by its folder", archives)
    yield Layout("a trace with a profile's name", trace_as_profile)
    yield Layout("a damaged profile", damaged)
    yield Layout("bytes behind ours", half_ours, refuses=True)
    for form in ("pftrace", "both", "none"):
        yield Layout(f"--perfetto={form}", native_traces, options=(f"--perfetto={form}",))
    yield Layout("joined", nested, options=("--join-sessions",))
    yield Layout("no overlay", session, options=("--max-overlay-events=0",))
    yield Layout("ranks in one file", ranks, options=("--perfetto-zip",))
    yield Layout("a profile comes beside a trace", bare_trace, between=a_profile_comes)
    yield Layout("a capture comes into a session", trace_session, between=a_capture_comes)
    yield Layout("a trace comes into a session", session, between=a_trace_comes)
    yield Layout("the profile goes", native_traces, between=the_profile_goes)
    yield Layout("the user writes", session, between=a_user_writes)
    for name in OURS:
        for make in (mine, nothing):
            yield Layout(f"{name}: {make.__name__}", taken([name], make))
    for make in (mine, nothing, a_folder, a_link, a_dangling_link, a_pipe):
        yield Layout(f"every name: {make.__name__}", taken(OURS, make))
    for name in ODD:
        yield Layout(f"named {name!r}", odd(name))


def check(layout, top):
    folder = Folder(top)
    layout.build(folder)
    paths = [folder.path(path) if path else folder.top for path in layout.paths]
    before = folder.look()
    first = run(*layout.options, *paths)
    assert first.returncode in (0, 3, 4), f"annotate: status {first.returncode} {first.stderr}"
    once = folder.look()
    second = run(*layout.options, *paths)
    assert second.returncode == first.returncode, f"annotate again: status {second.returncode} {second.stderr}"
    assert folder.look() == once, f"annotating again changed {differences(once, folder.look())}"
    if layout.between:
        plain = Folder(os.path.join(top, "plain"))
        layout.build(plain)
        layout.between(plain)
        before = {path.replace(plain.top, folder.top, 1): what for path, what in plain.look().items()
                  if path != plain.outside and not path.startswith(plain.outside + "/")}
        layout.between(folder)
        paths = [folder.top]
    strip = run("--strip", *(layout.options if "--join-sessions" in layout.options else ()), *paths)
    left = differences(before, folder.look())
    assert not left, f"--strip left {left} {strip.stdout} {strip.stderr}"
    if layout.refuses:
        assert strip.returncode in (3, 4) and b".xplane.pb: " in strip.stderr, f"{strip.returncode} {strip.stderr}"
    else:
        assert strip.returncode == 0 or first.returncode != 0, f"--strip: status {strip.returncode} {strip.stderr}"
    again = run("--strip", *paths)
    assert folder.look() == before, f"--strip again changed {differences(before, folder.look())} {again.stderr}"
    return once != before


def differences(a, b):
    return sorted(os.path.relpath(path) for path in a.keys() | b.keys() if a.get(path) != b.get(path))


def main():
    nr = changed = 0
    wrong = []
    for layout in layouts():
        with tempfile.TemporaryDirectory() as top:
            os.mkdir(os.path.join(top, "plain"))
            try:
                changed += check(layout, top)
            except (AssertionError, subprocess.TimeoutExpired) as cause:
                wrong.append(f"{layout.name}: {cause}")
            nr += 1
            shutil.rmtree(os.path.join(top, "d"), ignore_errors=True)
    print(f"{nr} layouts, {changed} of them annotated, {len(wrong)} not as they were")
    print("\n".join(wrong))
    return 1 if wrong or changed < nr / 2 else 0


if __name__ == "__main__":
    sys.exit(main())
