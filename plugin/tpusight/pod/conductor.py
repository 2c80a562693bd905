# SPDX-License-Identifier: MIT
"""Takes sessions through the rounds on the workers of an engine.

A task is one file in one round. It goes to a node that has the file, is tried again on another one when it fails, and a second
time beside when a node is slow: equal files give equal bytes, so the first outcome is as good as any. What a map made goes into a
file of this machine at once. A file that no node can read is left out, named, and the rounds after the first begin again
without it. What changes files is never done twice at once: the slower one could come after another round.
"""
import concurrent.futures
import contextlib
import hashlib
import os
import subprocess
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from .._program import DONE, SOME, found_program, last_words
from .engine import Engine
from .rounds import RESULTS, Round
from .sessions import HostFile, Session, folders
from .worker import PROFILE, Outcome, Task

MOST_TRIES = 4  # of a task
MOST_LOSSES = 3  # of workers of a node, one after the other
REDUCES = 2  # at once on this machine
SLOW = 4  # times the middle task's time for a byte, and
SLOW_S = 5  # seconds more: then it is tried a second time beside
_TICK_S = 0.5
NOTHING = 3  # the exit status when no input could be read


@dataclass
class Progress:
    """Of all sessions together."""
    step: str  # of the last task that was done
    hosts_done: int = 0  # files that are through all rounds
    hosts: int = 0
    bytes_done: int = 0  # of all rounds, each byte as often as it is read
    bytes: int = 0
    seconds_left: Optional[float] = None


@dataclass
class Work:
    """A task: a file in a round, or a folder of files."""
    run: "Run"
    round: int
    index: int  # of the file in the session, or of the folder
    file: HostFile
    failed: List[str] = field(default_factory=list)  # on these nodes
    words: str = ""  # why it failed last
    running: Dict[str, float] = field(default_factory=dict)  # node: since when
    is_done: bool = False
    is_suspect: bool = False  # a worker was lost while it ran: it runs alone on a node, so that no other file pays for it


@dataclass
class Run:
    """How far a session is."""
    session: Session
    folder: str  # for its parcels
    output: Optional[str]  # of the last reduce; None: standard output
    round: int = 0
    left: int = 0  # tasks of this round that are not done
    done: Set[Tuple[int, int]] = field(default_factory=set)  # parcels that are there: (round, file)
    lost: Set[int] = field(default_factory=set)  # files that no node can read
    unread: Set[int] = field(default_factory=set)  # files that are not what they should be: the outline says so
    said: List[str] = field(default_factory=list)
    status: int = 0
    is_done: bool = False
    shipped: Dict[str, Tuple[str, Any]] = field(default_factory=dict)  # results of rounds: (key, what an engine shipped)

    def parcel(self, map: str, index: int) -> str:
        return os.path.join(self.folder, f"{index}.{map}")

    def result(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def indices(self, round: Round) -> List[int]:
        """The files of a round."""
        return [index for index, file in enumerate(self.session.files) if index not in self.lost and
                (not round.puts or (index not in self.unread and PROFILE.fullmatch(file.name)))]

    def say(self, words: str, status: int = SOME) -> None:
        if words and words not in self.said:
            self.said.append(words)
        self.status = NOTHING if NOTHING in (self.status, status) else status


def _configs(options: Sequence[str]) -> Iterator[str]:
    """The files of --config FILE and --config=FILE."""
    for i, option in enumerate(options):
        if option.startswith("--config="):
            yield option[len("--config="):]
        elif option == "--config" and i + 1 < len(options):
            yield options[i + 1]


class Conductor:
    def __init__(self, engine: Engine, rounds: Sequence[Round], options: Dict[str, List[str]],
                 progress: Optional[Callable[[Progress], None]] = None) -> None:
        """OPTIONS: more of them for `tpusight reduce STEP`, by step. What files they name is input goes to `tpusight map outline`, too."""
        self.engine, self.rounds, self.options, self.progress = engine, rounds, options, progress
        self.free = dict(engine.nodes)  # slots
        self.losses: Dict[str, int] = {}
        self.holders: Dict[Tuple[int, int], str] = {}  # who had a file last: it is in its memory, or its scratch folder
        self.waiting: List[Work] = []
        self.running: Dict[Future[Any], Tuple[Work, str, int, int]] = {}  # and which worker of the node, how many slots
        self.workers: Dict[str, int] = dict.fromkeys(engine.nodes, 0)  # how many were lost: the number of today's
        self.reducing: Dict[Future[Any], Run] = {}
        self.reducers = ThreadPoolExecutor(REDUCES)
        self.reduced: Set[subprocess.Popen] = set()
        self.pace: List[float] = []  # seconds a byte of tasks that are done
        self.runs: List[Run] = []
        self.configs = tuple(self._config(path) for path in _configs(options["outline"]))
        self.begun, self.step = time.monotonic(), rounds[0].map

    def _config(self, path: str) -> Tuple[str, str, Any]:
        with open(path, "rb") as f:
            return "--config", f"config-{hashlib.sha256(f.read()).hexdigest()}", self.engine.ship(path)

    def conduct(self, runs: List[Run]) -> None:
        self.runs = runs
        for run in runs:
            for words in run.session.refused:
                run.say(words)
            self._begin(run, 0)
        while not all(run.is_done for run in runs):
            self._place()
            done, _ = concurrent.futures.wait([*self.running, *self.reducing], _TICK_S, concurrent.futures.FIRST_COMPLETED)
            for future in done:
                self._finish(future)
            self._hurry()
            self._show()

    def close(self) -> None:
        """Ends what runs on this machine; the workers are the engine's."""
        for process in list(self.reduced):
            process.kill()
        self.reducers.shutdown()

    def _begin(self, run: Run, round: int) -> None:
        run.round = round
        files = [(index, run.session.files[index]) for index in run.indices(self.rounds[round])]
        if self.rounds[round].of_folders:
            files = list(enumerate(folders(file for _, file in files)))
        run.left = len(files)
        self.waiting += [Work(run, round, index, file) for index, file in files]

    # Tasks

    def _candidates(self, work: Work) -> List[str]:
        """Nodes that have the file, those first on which it did not fail."""
        alive = [node for node in work.file.places if node in self.free and node not in work.running]
        fresh = [node for node in alive if node not in work.failed]
        return fresh or ([] if work.running else alive)

    def _choose(self, work: Work) -> Optional[str]:
        free = [node for node in self._candidates(work) if self.free[node] >= self._slots(work, node)]
        holder = self.holders.get((id(work.run), work.index))
        return holder if holder in free else max(free, key=lambda node: self.free[node], default=None)

    def _slots(self, work: Work, node: str) -> int:
        return self.engine.nodes[node] if work.is_suspect else 1

    def _place(self) -> None:
        still: List[Work] = []
        for work in self.waiting:
            node = self._choose(work) if any(self.free.values()) else None
            if node:
                self._start(work, node)
            elif self._candidates(work):
                still.append(work)
            else:
                self._lose(work, work.words or "no node that has it is left")
        self.waiting = still

    def _start(self, work: Work, node: str) -> None:
        round, run = self.rounds[work.round], work.run
        shipped = tuple((option, *run.shipped[result]) for option, result in round.given)
        if round.map == "outline":
            shipped += self.configs
        threads = max(1, self.engine.nodes[node] // max(1, len(self.waiting)))
        task = Task(round.map, work.file.places[node], shipped, threads, "" if round.of_folders else round.made,
                    round.puts, not any(later.reduce for later in self.rounds[work.round + 1:]))
        slots = self._slots(work, node)
        self.free[node] -= slots
        work.running[node] = time.monotonic()
        self.running[self.engine.submit(node, "run", task)] = work, node, self.workers[node], slots

    def _finish(self, future: "Future[Any]") -> None:
        if future in self.reducing:
            self._reduced(self.reducing.pop(future), future)
            return
        work, node, worker, slots = self.running.pop(future)
        begun = work.running.pop(node)
        error = future.exception()
        if node in self.free:
            self.free[node] += slots
        if error:
            work.is_suspect = True
            self._worker_lost(node, worker)
            self._failed(work, node, f"the worker was lost ({(str(error).splitlines() or [''])[0]})")
            return
        outcome: Outcome = future.result()
        if outcome.status in DONE and (outcome.made or self.rounds[work.round].of_folders):
            self.losses[node] = 0
            self._made(work, node, time.monotonic() - begun, outcome)
        else:
            self._failed(work, node, outcome.words or f"tpusight ended with status {outcome.status}")

    def _made(self, work: Work, node: str, took_s: float, outcome: Outcome) -> None:
        if work.is_done or work.run.is_done:
            return
        work.is_done = True
        round = self.rounds[work.round]
        if outcome.status == SOME:
            work.run.say(outcome.words)
        if not round.of_folders:
            with open(work.run.parcel(round.map, work.index), "wb") as f:
                f.write(outcome.made)
            if outcome.status == SOME and work.round == 0:
                work.run.unread.add(work.index)
            self.holders[id(work.run), work.index] = node
            self.pace.append(took_s / (work.file.size + 1))
            work.run.done.add((work.round, work.index))
        self.step = round.map
        self._one_less(work.run)

    def _worker_lost(self, node: str, worker: int) -> None:
        """All tasks of a worker are lost together; the first one says so."""
        if node not in self.free or worker != self.workers[node]:
            return
        self.workers[node] += 1
        self.losses[node] = self.losses.get(node, 0) + 1
        if self.losses[node] > MOST_LOSSES or not self.engine.restart(node):
            del self.free[node]

    def _failed(self, work: Work, node: str, words: str) -> None:
        work.failed.append(node)
        work.words = f"{words} [{self.engine.names[node]}]"
        if work.is_done or work.running:
            return  # another node has it, or has done it
        if len(work.failed) < MOST_TRIES:
            self.waiting.append(work)
        else:
            self._lose(work, work.words)

    def _lose(self, work: Work, words: str) -> None:
        work.is_done = True
        place = os.path.join(work.run.session.folder, work.file.name)
        if self.rounds[work.round].of_folders:
            work.run.say(f"{place}: the report could not be put there: {words}")
        else:
            work.run.lost.add(work.index)
            work.run.say(f"{place}: left out, the report is of the other hosts: {words}")
        self._one_less(work.run)

    def _hurry(self) -> None:
        """Tasks that take much longer than others are tried beside, where another node has the file and time."""
        if self.waiting or not self.pace:
            return
        middle = sorted(self.pace)[len(self.pace) // 2]
        for work, *_ in list(self.running.values()):
            slow_s = SLOW_S + SLOW * middle * work.file.size
            if self.rounds[work.round].puts:
                continue
            if not work.is_done and len(work.running) == 1 and time.monotonic() - min(work.running.values()) > slow_s:
                node = self._choose(work)
                if node:
                    self._start(work, node)

    # Rounds

    def _one_less(self, run: Run) -> None:
        run.left -= 1
        if run.left > 0:
            return
        if not self.rounds[run.round].reduce:
            run.is_done = True
            return
        if run.round > 0 and self._has_new_losses(run):
            run.round = 0  # what was shipped speaks of a file that is not there any more
            with contextlib.suppress(FileNotFoundError):
                os.unlink(run.result(RESULTS))
            run.done = {(round, index) for round, index in run.done if round == 0}
        self.reducing[self.reducers.submit(self._reduce, run, self.rounds[run.round])] = run

    def _has_new_losses(self, run: Run) -> bool:
        """Whether a file was lost that the earlier rounds have."""
        missing = {(0, index) for index in run.lost} & run.done
        run.done -= missing
        return bool(missing)

    def _reduce(self, run: Run, round: Round) -> Tuple[int, str]:
        """(status, last words)."""
        parcels = [run.parcel(one.map, index) for one in self.rounds if one is round or one.map in round.also
                   for index in run.indices(one)]
        if not parcels:
            return NOTHING, f"{run.session.folder}: none of its profiles could be read"
        is_last = round is self.rounds[-1]
        output = [] if is_last and run.output is None else ["-o", run.output if is_last and run.output else run.result(round.result)]
        files = [word for option, result in round.reduced for word in (option, run.result(result))]
        options = [*self.options.get(round.reduce, []), *round.flags]
        command = [found_program(), "reduce", round.reduce, *options, *files, *output, *parcels]
        try:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        except OSError as e:
            return NOTHING, f"{command[0]}: {e.strerror}"
        self.reduced.add(process)
        _, words = process.communicate()
        self.reduced.discard(process)
        return process.returncode, last_words(words)

    def _reduced(self, run: Run, future: "Future[Any]") -> None:
        round = self.rounds[run.round]
        status, words = future.result()
        if status not in DONE:
            run.say(words or f"tpusight reduce ended with status {status}", NOTHING)
            run.is_done = True
        elif round is self.rounds[-1]:
            run.status = max(run.status, status)
            if status == SOME:
                run.say(words)
            run.is_done = True
        elif any(given == RESULTS and not os.path.exists(run.result(RESULTS)) for _, given in self.rounds[run.round + 1].given):
            run.say(words)  # which file is damaged
            run.say(f"{run.session.folder}: nothing was written")
            run.is_done = True
        else:
            if round.puts and status == SOME:
                run.say(words)
            for _, name in self.rounds[run.round + 1].given:
                key = f"{name}-{id(run)}-{len(run.lost)}"
                if run.shipped.get(name, ("", None))[0] != key:
                    run.shipped[name] = key, self.engine.ship(run.result(name))
            self._begin(run, run.round + 1)

    # Progress

    def _show(self) -> None:
        if not self.progress:
            return
        files = [(run, index) for run in self.runs for index in range(len(run.session.files)) if index not in run.lost]
        read = [(round, run.session.files[index].size) for run in self.runs for round, index in run.done]
        size = sum(run.session.files[index].size for run, index in files)
        work = size * sum(round.work for round in self.rounds)
        work_done = sum(nr_bytes * self.rounds[round].work for round, nr_bytes in read)
        left = (time.monotonic() - self.begun) * (work / work_done - 1) if work_done else None
        of_files = [round for round in self.rounds if not round.of_folders]
        self.progress(Progress(self.step, sum(round == len(of_files) - 1 for round, _ in read), len(files),
                               sum(nr_bytes for _, nr_bytes in read), size * len(of_files), left))
