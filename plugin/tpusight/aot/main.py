# SPDX-License-Identifier: MIT
"""The program tpusight-before, which is also `tpusight before`."""
import argparse
import json
import os
import pickle
import sys
from typing import Any, Dict, List, Optional

from .. import _forms
from .._program import TpusightError
from .._whole import new_file
from . import chips, compiled, files, gate, hlo, job, kinds_of, libraries, scaling, shapes, tries, upgrade, upgraded, whatif
from .result import Before

EPILOG = """SCRIPT.py:FUNCTION is a function of a script, which is imported; its arguments are --shapes, or what --arguments names in the
script. Shapes: "bf16[8192,4096]"; "f32[1024@data,512]" is split along the axis data of --mesh; several have a semicolon between them, or
are given several times; a tree is JSON: '{"w": "f32[512,512]"}'.

FILE is StableHLO (*.mlir), what jax.export wrote (*.jax_export), or a module that XLA has compiled: *.txt or *.pb of --xla_dump_to, or
that folder.

EXPR is NAME OP NUMBER, or NAME OP baseline [* NUMBER | + NUMBER[%] | - NUMBER[%]]; NAME is peak_memory (percent of the
chip's), padding (percent), collectives (percent of the step), peak_memory_mb, predicted_step_ms, compile_seconds, or the path of any number
in the JSON report; with several --libtpu also libtpu_step_change and libtpu_hbm_peak_change (percent) and libtpu_changes. For instance
  tpusight before step.py:step --topology v5e:2x4 --shapes 'bf16[4096,1024]' --fail-if 'peak_memory > 90 %' --fail-if 'padding > 5 %'

Exit status: 0 done; 1 a gate did not hold; 2 wrong usage; 3 the program could not be read or compiled."""
_USAGE, _NOTHING = 2, 3
_OPTIONS = {"what_if": "try", "kinds": "try-only", "write_baseline": "write-baseline"}  # where they are called otherwise


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tpusight before", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
                     description="Judges a JAX program for a TPU, without one: compiles it, and says whether it fits, how long it "
                     "will take, and why.")
    parser.add_argument("program",
                        metavar="SCRIPT.py:FUNCTION|FILE", help="a function of a script; or a program that is a file")
    parser.add_argument("--topology", required=True, metavar="NAME[,NAME...]", help="for which slice, as v5e:2x4; several are compared")
    parser.add_argument("--shapes", action="append", default=[], metavar="SHAPES", help="the arguments' shapes (repeatable)")
    parser.add_argument("--arguments", metavar="NAME", help="what in the script gives the arguments: a function, or a tuple")
    parser.add_argument("--mesh", metavar="AXIS=SIZE,...", help="the devices as a mesh; -1 is what is left of them")
    parser.add_argument("--shardings", action="append", default=[], metavar="SPECS",
                        help="how the arguments are split, as 'data,-; -': an axis of the mesh for each size (repeatable)")
    parser.add_argument("--donate", type=_numbers, default=[], metavar="N,...", help="arguments whose memory the results may take")
    parser.add_argument("--static", type=_numbers, default=[], metavar="N,...", help="arguments that are no arrays")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report: .html, .json, .txt, .csv or .xlsx")
    parser.add_argument("-f", "--format", choices=_forms.REPORT, help="its form, where the name does not say it")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--view", metavar="NAME", help="print one view of the report")
    parser.add_argument("--try", dest="what_if", action="store_true", help="compile it again with each change that needs no hand")
    parser.add_argument("--try-only", dest="kinds", type=lambda text: text.split(","), metavar="KIND,...",
                        help=f"--try, but only these kinds of changes: {', '.join(tries.KINDS)}")
    parser.add_argument("--libtpu", action="append", default=[], metavar="VERSION|FOLDER|installed",
                        help="the libtpu that compiles; several are compared, with the first as the baseline (repeatable)")
    parser.add_argument("--picture", metavar="FILE", help="several topologies as a picture: .svg or .html")
    parser.add_argument("--fail-if", action="append", default=[], metavar="EXPR",
                        help="exit with 1 when EXPR is true or unknown (repeatable)")
    parser.add_argument("--baseline", metavar="FILE", help="what baseline in an EXPR means")
    parser.add_argument("--write-baseline", metavar="FILE", help="keep this program's figures as the baseline")
    parser.add_argument("--threshold", action="append", default=[], metavar="NAME=VALUE", help="a threshold of the doctor (repeatable)")
    parser.add_argument("-q", "--quiet", action="store_true", help="print gates and errors only")
    return parser


def _numbers(text: str) -> List[int]:
    return [int(part) for part in text.split(",")]


def _say(words: str) -> None:
    print(f"tpusight: {words}", file=sys.stderr)


def _thresholds(texts: List[str]) -> Dict[str, float]:
    try:
        return {name: float(value) for name, _, value in (text.partition("=") for text in texts)}
    except ValueError as e:
        raise TpusightError(f"--threshold takes NAME=VALUE: {e}") from e


def _file(asked: argparse.Namespace, path: str) -> Dict[str, Any]:
    """The same of a program that is a file."""
    if not os.path.isfile(path):
        raise TpusightError(f"{path}: is not a file")
    if asked.shapes or asked.arguments or asked.shardings:
        raise TpusightError(f"{path} has its arguments in it: --shapes, --arguments and --shardings are for functions of a script")
    return {"file": os.path.abspath(path), "kind": files.kind_of(path), "name": os.path.basename(path),
            "mesh": shapes.mesh(asked.mesh) if asked.mesh else None}


def _program(asked: argparse.Namespace) -> Dict[str, Any]:
    """What goes to the compiler's process."""
    file = files.in_folder(asked.program) if os.path.isdir(asked.program) else asked.program
    if files.kind_of(file):
        return _file(asked, file)
    script, colon, name = asked.program.rpartition(":")
    if not colon or not name.replace(".", "").isidentifier():
        raise TpusightError(f"{asked.program}: names no function (SCRIPT.py:FUNCTION)")
    if not os.path.isfile(script):
        raise TpusightError(f"{script}: is not a file (SCRIPT.py:FUNCTION names a function of a script)")
    if bool(asked.shapes) == bool(asked.arguments):
        raise TpusightError("either --shapes or --arguments is needed: what the function is called with")
    jit = {"donate_argnums": tuple(asked.donate), "static_argnums": tuple(asked.static)}
    return {"script": os.path.abspath(script), "name": name, "arguments": pickle.dumps(shapes.arguments(asked.shapes)),
            "arguments_of": asked.arguments, "mesh": shapes.mesh(asked.mesh) if asked.mesh else None,
            "shardings": pickle.dumps(shapes.specs(asked.shardings)) if asked.shardings else None,
            "jit": {key: value for key, value in jit.items() if value}}


def _write(asked: argparse.Namespace, results: List[Before]) -> None:
    for before in results:
        path = asked.output
        if path and len(results) > 1:
            base, end = os.path.splitext(path)
            path = f"{base}-{before.topology.replace(':', '-')}{end}"
        if path:
            before.export(path, asked.format, asked.view)
        if asked.json:
            tried = {"tried": [one.row() for one in before.tried]} if asked.kinds or asked.what_if else {}
            print(json.dumps({**before.report, **tried}, indent=1))
        elif asked.view:
            print(before.session.text(asked.view), end="")
        elif not asked.quiet:
            print(str(before.summary()) + (whatif.text(before.tried) if asked.kinds or asked.what_if else ""), end="")


def _write_scaling(asked: argparse.Namespace, results: List[Before]) -> None:
    table = scaling.rows(results)
    if len(results) > 1 and not asked.quiet and not asked.json:
        print(scaling.text(table), end="")
    if asked.picture:
        drawn = scaling.page(results[0].name, table) if asked.picture.endswith(".html") else scaling.svg(table)
        with new_file(asked.picture) as file:
            file.write(drawn)


def _gates(asked: argparse.Namespace, gates: List[gate.Gate], results: List[Before]) -> int:
    """1 when one did not hold."""
    kept = gate.read_baseline(asked.baseline) if asked.baseline else {}
    failed = 0
    for before in results if gates else []:
        found = gate.figures(before)
        for one in gates:
            verdict = gate.judge(one, found, kept.get(before.topology, {}))
            failed |= verdict.state != "passed"
            if verdict.state != "passed" or not asked.quiet:
                print(f"{before.topology}: {verdict}", file=sys.stderr)
    return int(failed)


def _checked(asked: argparse.Namespace) -> "tuple[Dict[str, Any], List[str], List[gate.Gate]]":
    gates = [gate.parse(text) for text in asked.fail_if]
    for one in gates:
        gate.check(one, upgrade.GATES)
    if any(one.sign for one in gates) and not asked.baseline:
        raise TpusightError("an EXPR names the baseline, and there is no --baseline FILE")
    if any(one.name in upgrade.GATES for one in gates) and len(asked.libtpu) < 2:
        raise TpusightError("an EXPR compares two libraries, and --libtpu does not name two")
    for option in ("output", "view", "what_if", "kinds", "picture", "baseline", "write_baseline"):
        if len(asked.libtpu) > 1 and getattr(asked, option):
            raise TpusightError(f"--{_OPTIONS.get(option, option)} is for one library, and --libtpu names {len(asked.libtpu)}")
    return _program(asked), [chips.parse(name).name for name in asked.topology.split(",")], gates


def _upgrade(asked: argparse.Namespace, gates: List[gate.Gate], found: upgrade.Upgrade) -> int:
    """Tells what several libraries make of the program; 1 when a gate did not hold, or with gates one could not compile it."""
    if asked.json:
        print(json.dumps(found.answer(), indent=1))
    elif not asked.quiet:
        print("".join(upgrade.text(one) for one in found.compared), end="")
    for error in found.errors:
        _say(error)
    failed = bool(gates and found.errors)
    for of, verdict in found.verdicts(gates):
        failed |= verdict.state != "passed"
        if verdict.state != "passed" or not asked.quiet:
            print(f"{of}: {verdict}", file=sys.stderr)
    return int(failed)


def _hlo(words: List[str]) -> int:
    try:
        return hlo.main(words, _say)
    except (TpusightError, OSError, ValueError) as e:
        _say(str(e))
        return _NOTHING


def main(argv: Optional[List[str]] = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == [hlo.OPTION]:
        return _hlo(words[1:])
    asked = _parser().parse_args(words)
    try:
        program, topologies, gates = _checked(asked)
        thresholds = _thresholds(asked.threshold)
        kinds_of(asked.kinds or [])
    except TpusightError as e:
        _say(str(e))
        return _USAGE
    try:
        job.need_compiler()
        say = None if asked.quiet else _say
        found = [libraries.find(wanted, say) for wanted in asked.libtpu]
        if len(found) > 1:
            return _upgrade(asked, gates, upgraded(pickle.dumps(program), program["name"], topologies, found, thresholds, say))
        results = compiled(pickle.dumps(program), program["name"], topologies, thresholds, say, asked.kinds or asked.what_if,
                           found[0].path if found else "")
        _write(asked, results)
        _write_scaling(asked, results)
        failed = _gates(asked, gates, results)
        if asked.write_baseline:
            gate.write_baseline(asked.write_baseline, results)
    except (TpusightError, OSError, ValueError) as e:
        _say(str(e))
        return _NOTHING
    return failed


if __name__ == "__main__":
    sys.exit(main())
