# SPDX-License-Identifier: MIT
"""One report of many hosts, made where their profiles lie: on the nodes of a Ray cluster, or by processes of this machine.

The report is, byte for byte, what `tpusight report` writes on one machine that has all files; the overlays that annotate() puts
behind the profiles are those of `tpusight annotate`.
"""
import contextlib
import os
from dataclasses import dataclass, field
from typing import Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from .._program import TpusightError
from . import sessions
from .conductor import NOTHING, Conductor, Progress, Run
from .engine import Engine, Local, Ray
from .rounds import ANNOTATE, ANNOTATED, REPORT
from .store import StoreError, is_url
from .worker import Scratch

__all__ = ["Pod", "Progress", "SessionReport", "TpusightError", "annotate", "report"]


@dataclass
class SessionReport:
    session: str  # the folder below the path that was given
    path: Optional[str]  # of the report, for annotate() as a node calls it; None: it was printed, or there is no report
    status: int  # as `tpusight report` would end: 0, 3 without a report, 4 when a file is damaged or was left out
    words: List[str] = field(default_factory=list)  # what is wrong, a sentence each


@dataclass
class Pod:
    sessions: List[SessionReport]
    words: List[str]  # what is wrong beside

    @property
    def status(self) -> int:
        """Of all: as `tpusight report` of several sessions ends."""
        all_of = {session.status for session in self.sessions}
        if all_of == {NOTHING}:
            return NOTHING
        return 4 if self.words or all_of - {0} else 0


def report(session: str, output: Optional[str] = None, *, address: Optional[str] = None, jobs: Optional[int] = None,
           outline_options: Sequence[str] = (), report_options: Sequence[str] = (),
           progress: Optional[Callable[[Progress], None]] = None) -> Pod:
    """The report of a session, or those of all sessions below a log directory.

    session: a folder as the nodes see it (~ and $VARIABLES are those of each node), or a URL.
    output: a file, whose ending says the form (.json, .txt, .csv); of a log directory with several sessions a folder that
        gets SESSION.json. None prints the one session's report.
    address: of a Ray cluster, as ray.init takes it ("auto", "ray://HOST:10001"); None: processes of this machine.
    jobs: how many files a node works on at once; None: as many as it has CPUs.
    outline_options, report_options: for `tpusight reduce outline` and `tpusight reduce report`.
    progress: called with how far it is, of all sessions; at first, with no hosts, that a cluster is waited for.
    Raises TpusightError when there is nothing to report of, or no cluster answers for 30 s.
    """
    options: Dict[str, List[str]] = {"outline": list(outline_options), "report": list(report_options)}
    with _engine(session, address, jobs, progress) as (engine, place):
        found, words = sessions.find(engine, place)
        outputs = [_output(output, one, len(found)) for one in found]
        runs = _conduct(Conductor(engine, REPORT, options, progress), found, outputs)
    return Pod([SessionReport(run.session.folder, run.output if run.status != NOTHING else None, run.status, run.said)
                for run in runs], words)


def annotate(session: str, *, address: Optional[str] = None, jobs: Optional[int] = None, outline_options: Sequence[str] = (),
             report_options: Sequence[str] = (), progress: Optional[Callable[[Progress], None]] = None) -> Pod:
    """Writes the findings into a session, or into all sessions below a log directory, where their files lie: behind each profile what
    `tpusight annotate --perfetto=none` puts there, and beside them ALL_HOSTS.tpusight.json, XProf's suggestions and its
    cache_version.txt. `tpusight annotate --strip` on the node takes all of it out again.

    Of equal copies on several nodes one is annotated. The rest is as in report().
    """
    options: Dict[str, List[str]] = {"outline": list(outline_options), "report": list(report_options)}
    with _engine(session, address, jobs, progress) as (engine, place):
        found, words = sessions.find(engine, place)
        for one in found:
            sessions.keep_to_one_copy(one)
        runs = _conduct(Conductor(engine, ANNOTATE, options, progress), found, [None] * len(found))
    return Pod([SessionReport(run.session.folder, _annotated(run), run.status, run.said) for run in runs], words)


def _annotated(run: Run) -> Optional[str]:
    """The report beside the first profile, where all rounds were gone through."""
    if run.status == NOTHING or ANNOTATED not in run.shipped:
        return None
    first = sessions.folders(run.session.files)[0]
    return f"{next(iter(first.places.values())).path}/{ANNOTATED}"


@contextlib.contextmanager
def _engine(session: str, address: Optional[str], jobs: Optional[int],
            progress: Optional[Callable[[Progress], None]]) -> Iterator[Tuple[Engine, str]]:
    """And how the session is called everywhere. What this machine cannot do is a TpusightError: a full disk, a folder that is not there."""
    if address and not is_url(session) and not session.startswith(("~", "$")):
        session = os.path.abspath(session)
    if address and progress:
        progress(Progress(f"waiting for the Ray cluster at {address}"))
    engine: Engine = Ray(address, jobs) if address else Local(jobs)
    try:
        yield engine, session
    except (OSError, StoreError) as e:
        raise TpusightError(str(e)) from e
    finally:
        engine.close()


def _conduct(conductor: Conductor, found: Sequence[sessions.Session], outputs: Sequence[Optional[str]]) -> List[Run]:
    with contextlib.closing(Scratch()) as scratch, contextlib.closing(conductor):
        runs = [Run(one, _folder(scratch.path(str(i))), output) for i, (one, output) in enumerate(zip(found, outputs))]
        conductor.conduct(runs)
    return runs


def _folder(path: str) -> str:
    os.mkdir(path)
    return path


def _output(output: Optional[str], session: sessions.Session, nr_sessions: int) -> Optional[str]:
    if nr_sessions == 1:
        return output
    if output is None or os.path.splitext(output)[1]:
        raise TpusightError(f"there are {nr_sessions} sessions (say a folder for their reports: -o FOLDER)")
    path = os.path.join(output, session.folder + ".json")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path
