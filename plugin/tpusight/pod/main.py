# SPDX-License-Identifier: MIT
"""The program tpusight-pod, which is also `tpusight pod`."""
import argparse
import os
import signal
import sys
from typing import Callable, List, Optional

from . import Pod, Progress, TpusightError, annotate, report

EPILOG = """A session's files may lie on the disks of the nodes, on a disk that all of them see, or in a bucket (gs://, s3://, az://).
The report is the one that tpusight report writes on one machine with all files, byte for byte. --annotate writes the findings
into the profiles where they lie, as tpusight annotate --perfetto=none does; tpusight annotate --strip takes them out again.
Exit status: 0 done; 2 wrong usage; 3 no input could be read; 4 some inputs, or an output, failed."""
# The program's own options: what they are for, and which step of `tpusight reduce` takes them.
PASSED = {
    "--threshold": (("outline",), "NAME=VALUE", "a threshold of the doctor (repeatable)"),
    "--config": (("outline",), "FILE", "thresholds, and what is input, from a file"),
    "--max-ops": (("outline", "report"), "N", "how many ops are listed"),
    "--max-steps": (("outline", "report"), "N", "how many steps are listed"),
    "--max-overlay-events": (("outline",), "N", "events in the overlay, a host"),
    "--format": (("report",), "FORM", "text, json or csv; the ending of OUT says it, too"),
    "--view": (("report",), "NAME", "one view"),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tpusight pod", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="One report of many hosts, made where their profiles lie.")
    parser.add_argument("session", metavar="SESSION|LOGDIR", help="a session, or a folder with sessions below it, as the nodes see it")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--address", default=os.environ.get("RAY_ADDRESS"),
                       help="a Ray cluster: auto, HOST:PORT, ray://HOST:10001 (default: $RAY_ADDRESS)")
    where.add_argument("--local", action="store_true", help="processes of this machine, without Ray")
    parser.add_argument("--annotate", action="store_true", help="write the findings into the profiles, and the report beside them")
    parser.add_argument("-o", "--output", metavar="OUT", help="a file; of several sessions a folder, which gets SESSION.json")
    parser.add_argument("-j", "--jobs", type=int, metavar="N", help="work on N files at once on each node (default: its CPUs)")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    parser.add_argument("--all", action="store_true", help="every view, every op, every step")
    for name, (_, value, words) in PASSED.items():
        parser.add_argument(name, metavar=value, action="append", default=[], help=words)
    return parser


def _passed(asked: argparse.Namespace, step: str) -> List[str]:
    given = [f"{name}={value}" for name, (steps, _, _) in PASSED.items() if step in steps
             for value in getattr(asked, name[2:].replace("-", "_"))]
    return given + (["--all"] if asked.all else [])


def _size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} TiB"


def _show(progress: Progress) -> None:
    if not progress.hosts:
        print(f"\r{progress.step}\033[K", end="", file=sys.stderr, flush=True)
        return
    left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
    print(f"\r{progress.step}: {progress.hosts_done} of {progress.hosts} hosts done, {_size(progress.bytes_done)} of "
          f"{_size(progress.bytes)}{left}\033[K", end="", file=sys.stderr, flush=True)


def _asked_for(asked: argparse.Namespace, progress: Optional[Callable[[Progress], None]]) -> Pod:
    address = None if asked.local else asked.address
    outline, of_report = _passed(asked, "outline"), _passed(asked, "report")
    if asked.annotate:
        return annotate(asked.session, address=address, jobs=asked.jobs, outline_options=outline, report_options=of_report,
                        progress=progress)
    return report(asked.session, asked.output, address=address, jobs=asked.jobs, outline_options=outline, report_options=of_report,
                  progress=progress)


def _run(asked: argparse.Namespace) -> int:
    is_shown = sys.stderr.isatty() and not asked.quiet
    pod = _asked_for(asked, _show if is_shown else None)
    if is_shown:
        print("\r\033[K", end="", file=sys.stderr)
    for words in [*pod.words, *(words for session in pod.sessions for words in session.words)]:
        print(words if words.startswith("tpusight: ") else f"tpusight: {words}", file=sys.stderr)
    for session in pod.sessions if asked.annotate and not asked.quiet else []:
        if session.path:
            print(f"{session.session}: annotated, the report is {session.path}")
    return pod.status


def _on_signal(number: int, _: object) -> None:
    signal.signal(number, signal.SIG_IGN)  # once is enough: what follows is the clearing up
    sys.exit(128 + number)


def main(argv: Optional[List[str]] = None) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_signal)
    asked = _parser().parse_args(argv)
    if asked.jobs is not None and asked.jobs < 1:
        print("tpusight: -j takes a number of at least 1", file=sys.stderr)
        return 2
    if asked.annotate and (asked.output or asked.view or asked.format):
        print("tpusight: --annotate writes where the profiles lie: -o, --view and --format are not for it", file=sys.stderr)
        return 2
    try:
        return _run(asked)
    except TpusightError as e:
        print(("\r\033[K" if sys.stderr.isatty() and not asked.quiet else "") + f"tpusight: {e}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
