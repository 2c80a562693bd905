# SPDX-License-Identifier: MIT
"""What works on a node: it lists the profiles that lie there, and runs the program on them.

A worker has a scratch folder of its own, which goes with it; what a worker leaves that was killed, the next one removes.
Ray carries this module and store.py to nodes where the package is not installed: both need the standard library alone.
"""
import contextlib
import dataclasses
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from . import store

PREFIX = "tpusight-pod-"
PROFILE = re.compile(r"(?!\.)(.+\.)?xplane\.(pb|riegeli)")
BESIDE = re.compile(r"(?!\.).*\.prof|dedicated_log_torch_trace_.*\.log(\.gz)?")  # read along where there is a profile
_ENDS = 4 << 10  # bytes at both ends of a file that its identity is made of
_LAST_WORDS = 64 << 10
_MOST_REPLACED = 3  # times that a file is read when another process replaces it meanwhile
_CLOSE_S = 5  # for tasks to see that they are not wanted


@dataclass(frozen=True)
class Found:
    """A file of a session as a node sees it. Two nodes see one file, or equal copies, when its identity is the same."""
    folder: str  # the session's, below the path that was given
    name: str
    path: str
    size: int
    identity: str
    look: str = ""  # two nodes see one file, and not equal copies, when it is the same, too


@dataclass(frozen=True)
class Task:
    """`tpusight map STEP FILE`, and files that it takes, by the option that names them."""
    step: str
    file: Found
    shipped: Tuple[Tuple[str, str, Any], ...]  # (option, key, what Worker.fetch makes bytes of)
    threads: int
    made: str  # the option that names the output; "": there is none
    puts: bool  # the step changes the file
    is_last: bool  # no later step needs the file


@dataclass(frozen=True)
class Outcome:
    """How the program ended, its last words, and what it made: b"" for nothing."""
    status: int
    words: str
    made: bytes


def scratch_root() -> str:
    """Where scratch folders are made: $TMPDIR, else /var/tmp, which is not in memory."""
    given = os.environ.get("TMPDIR")
    return given or ("/var/tmp" if os.access("/var/tmp", os.W_OK) else tempfile.gettempdir())


def sweep(root: str) -> None:
    """Removes scratch folders whose process is gone: their lock is free."""
    for name in os.listdir(root):
        folder = os.path.join(root, name)
        if not name.startswith(PREFIX) or os.stat(folder).st_uid != os.getuid():
            continue
        try:
            with open(os.path.join(folder, "lock"), "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # it is locked


class Scratch:
    """A folder that is locked as long as its process lives. It gets the name that sweep() looks for when it is locked."""

    def __init__(self) -> None:
        root = scratch_root()
        with contextlib.suppress(OSError):
            sweep(root)
        hidden = tempfile.mkdtemp(prefix="." + PREFIX, dir=root)
        self.lock = open(os.path.join(hidden, "lock"), "wb")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.folder = os.path.join(root, os.path.basename(hidden)[1:])
        os.rename(hidden, self.folder)

    def path(self, *names: str) -> str:
        return os.path.join(self.folder, *names)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.lock.close()


def _is_session(folder: str, is_top: bool) -> bool:
    return is_top or os.path.abspath(folder).split(os.sep)[-3:-1] == ["plugins", "profile"]


def _identity(path: str, size: int) -> str:
    with open(path, "rb") as f:
        ends = f.read(_ENDS)
        f.seek(max(0, size - _ENDS))
        ends += f.read(_ENDS)
    return f"{size}:{hashlib.sha256(ends).hexdigest()}"


def _found(shown: str, folder: str, name: str) -> Found:
    path = os.path.join(folder, name)
    try:
        now = os.stat(path)
        return Found(shown, name, path, now.st_size, _identity(path, now.st_size), f"{now.st_ino} {now.st_mtime_ns}")
    except OSError as e:  # a link that leads nowhere, a file that may not be read: the program says so
        return Found(shown, name, path, 0, f"unreadable: {e.strerror}")


def _folders(top: str) -> Iterator[Tuple[str, List[str]]]:
    """Each folder below TOP once, whatever links lead to it."""
    seen: Set[Tuple[int, int]] = set()
    for folder, inner, names in os.walk(top, followlinks=True):
        where = os.stat(folder)
        if (where.st_dev, where.st_ino) in seen:
            inner.clear()
            continue
        seen.add((where.st_dev, where.st_ino))
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        yield folder, sorted(names)


def look(path: str) -> List[Found]:
    """The sessions' files below a path. ~ and $VARIABLES are those of the node; a folder is called as seen from the path."""
    top = os.path.expandvars(os.path.expanduser(path))
    found = []
    for folder, names in _folders(top):
        if _is_session(folder, folder == top) and any(map(PROFILE.fullmatch, names)):
            shown = os.path.relpath(folder, top)
            found += [_found(shown, folder, name) for name in names if PROFILE.fullmatch(name) or BESIDE.fullmatch(name)]
    return found


def _logdir(found: Found, path: str) -> Optional[str]:
    """The folder that was given, as PATH of the file begins: it names the run. None: it was a session, or lies within the run."""
    end = "/".join(("", found.folder, *filter(None, [found.name])))
    is_above = found.folder.split("/")[-3:-1] == ["plugins", "profile"] and path.endswith(end)
    return (path[:-len(end)] or "/") if is_above else None


def own_program() -> Optional[str]:
    """The program of this node: $TPUSIGHT, beside Python, or on PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "tpusight")
    return os.environ.get("TPUSIGHT") or (beside if os.access(beside, os.X_OK) else shutil.which("tpusight"))


def version_of(program: str) -> str:
    """What it says of itself; "" when it cannot be run."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


class Worker:
    """The one of a node. Its methods run on several threads at once."""

    def __init__(self, version: str, program: Any) -> None:
        """PROGRAM is fetched where the node has none of this version."""
        self.scratch = Scratch()
        self.version, self.shipped_program = version, program
        self.lock = threading.Condition()  # of what follows
        self.nr_tasks = 0  # that are under way
        self.locks: Dict[str, threading.Lock] = {}  # of files that are held, by key
        self.running: Set[subprocess.Popen] = set()
        self.is_closed = False

    def fetch(self, shipped: Any) -> bytes:
        """The bytes that an engine shipped; here it is the path of a file."""
        with open(shipped, "rb") as f:
            return f.read()

    def look(self, path: str) -> List[Found]:
        return look(path)

    def _held(self, key: str, name: str, make) -> str:
        """The path of a file of the scratch folder, made once."""
        path = self.scratch.path(key, name)
        with self.lock:
            lock = self.locks.setdefault(key, threading.Lock())
        with lock:
            if not os.path.exists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                make(path + ".new")
                os.rename(path + ".new", path)
        return path

    def _unpack(self, shipped: Any, mode: int):
        def make(path: str) -> None:
            with open(path, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as f:
                f.write(self.fetch(shipped))
        return make

    def program(self) -> str:
        own = own_program()
        if own and version_of(own) == self.version:
            return own
        return self._held("program", "tpusight", self._unpack(self.shipped_program, 0o700))

    def _held_object(self, found: Found) -> str:
        """A folder in which the program finds the object under its URL."""
        def make(path: str) -> None:
            store.read(found.path, found.identity, found.size, path, self._ended_with_us)
        self._held(_key(found), store.place(found.path), make)
        return self.scratch.path(_key(found))

    def run(self, task: Task) -> Outcome:
        """Runs the task. A disk that is full, a store that does not answer are outcomes, too."""
        with self.lock:
            if self.is_closed:
                return Outcome(3, "the run was cancelled", b"")
            self.nr_tasks += 1
        try:
            return self._run(task)
        except (OSError, store.StoreError) as e:
            return Outcome(3, str(e), b"")
        finally:
            with self.lock:
                self.nr_tasks -= 1
                self.lock.notify_all()

    def _run(self, task: Task) -> Outcome:
        path, is_url = task.file.path, store.is_url(task.file.path)
        if task.puts and task.made and is_url:
            return self._put_object(task)
        if task.puts and task.made and os.path.islink(path):
            outcome = self._started([*self._command(task, path), "-o", os.devnull])
            return Outcome(outcome.status or 4, outcome.words or
                           f"{path}: a symbolic link, and what it leads to is not changed (name the link itself)", outcome.made)
        command = self._command(task, path) + (["--put"] if task.puts and task.made else [])
        if is_url and task.made:
            command += ["--held", self._held_object(task.file)]
        outcome = self._put(command, path) if task.puts and task.made else self._started(command)
        if is_url and task.is_last and outcome.made:
            self._forget(task.file)
        return outcome

    def _put(self, command: List[str], path: str) -> Outcome:
        """What a lost worker had begun may still end, and replace the file while this reads it: then this begins again."""
        for _ in range(_MOST_REPLACED):
            before = os.stat(path)
            outcome = self._started(command)
            if outcome.status == 0 or os.path.samestat(before, os.stat(path)):
                break
        return outcome

    def _command(self, task: Task, path: str) -> List[str]:
        command = [self.program(), "map", task.step, path, "-q", f"-j{task.threads}"] + ([task.made, "-"] if task.made else [])
        logdir = _logdir(task.file, path)
        if logdir:
            command.append(f"--logdir={logdir}")
        for option, key, shipped in task.shipped:
            command += [option, self._held(key, "shipped", self._unpack(shipped, 0o600))]
        return command

    def _forget(self, found: Found) -> None:
        shutil.rmtree(self.scratch.path(_key(found)), ignore_errors=True)

    def _put_object(self, task: Task) -> Outcome:
        """The overlay is put behind the content that is held, and the store puts it behind the object, if that is still what is
        held. What a worker has done that was killed since is there already: then the program leaves the content as it is."""
        url = task.file.path
        generation, size = store.looked_at(url)
        found = dataclasses.replace(task.file, identity=generation, size=size)
        content = os.path.join(self._held_object(found), store.place(url))
        tail = self.scratch.path(_key(found), "tail")
        before = os.stat(content).st_ino
        try:  # what is held is not the object any more, and what fails is tried with the object
            outcome = self._started([*self._command(task, content), "--put", "-o", tail])
            if outcome.made and os.stat(content).st_ino != before:
                base = os.stat(content).st_size - os.stat(tail).st_size
                store.put_behind(url, base, tail, generation, self._ended_with_us)
        finally:
            self._forget(found)
        return outcome

    @contextlib.contextmanager
    def _ended_with_us(self, process: subprocess.Popen) -> Iterator[None]:
        """While this goes on, close() ends the process, which leads a group of its own."""
        with self.lock:
            self.running.add(process)
            if self.is_closed:
                _kill(process)
        try:
            yield
        finally:
            with self.lock:
                self.running.discard(process)

    def _started(self, command: List[str]) -> Outcome:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   start_new_session=True)
        with self._ended_with_us(process):
            made, words = process.communicate()
        return Outcome(process.returncode, _last_line(words[-_LAST_WORDS:]), made)

    def close(self) -> None:
        """Ends what runs, and removes the scratch folder."""
        with self.lock:
            self.is_closed = True
            for process in self.running:
                _kill(process)
            self.lock.wait_for(lambda: self.nr_tasks == 0, _CLOSE_S)
        self.scratch.close()


class RayWorker(Worker):
    """The same as an actor of Ray, which gets its files from the object store."""

    def fetch(self, shipped: Any) -> bytes:
        import ray
        return ray.get(shipped[0])  # in a list Ray leaves it where it is until it is asked for


def _kill(process: subprocess.Popen) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def _key(found: Found) -> str:
    return hashlib.sha256(f"{found.path} {found.identity}".encode()).hexdigest()


def _last_line(words: bytes) -> str:
    lines = words.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else ""
