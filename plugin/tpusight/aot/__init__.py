# SPDX-License-Identifier: MIT
"""A program judged before it runs: compiled for a TPU that is not there, and reported. docs/before.md is the guide.

jax and libtpu are needed (pip install 'tpusight[before]'), no TPU. The compiler runs in a process of its own.
"""
import functools
import os
import pickle
from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Union, overload

from .._program import TpusightError
from .._temporary import temporary_folder
from . import chips, job, libraries, tries, upgrade, whatif
from .result import Before
from .upgrade import Upgrade

__all__ = ["Before", "Upgrade", "before"]

Say = Callable[[str], None]
WhatIf = Union[bool, Sequence[str]]  # nothing, all that can be tried, or kinds of it


class Folder:
    """The temporary folder of one call, which its results share."""

    def __init__(self) -> None:
        self.path = temporary_folder(self)
        self._count = 0

    def new(self) -> str:
        self._count += 1
        path = os.path.join(self.path, str(self._count))
        os.mkdir(path)
        return path


def trouble(outcome: job.Outcome) -> NoReturn:
    """Raises what did not compile, with the user's line."""
    assert outcome.trouble
    where = outcome.trouble.get("source")
    said = outcome.trouble["text"] + (f"\n  at {where}" if where else "")
    if outcome.trouble["kind"] == "usage":
        raise TpusightError(said)
    raise TpusightError(f"the program does not compile for {outcome.asked.topology}: {said}")


def _result(outcome: job.Outcome, name: str, owner: Folder, thresholds: Optional[Dict[str, float]]) -> Before:
    if outcome.trouble and not (outcome.trouble["kind"] == "memory" and outcome.facts.get("proto")):
        trouble(outcome)
    return Before(outcome, name, owner, thresholds)


def mesh_sizes(mesh: Any) -> Any:
    """What goes to the other process of a mesh: {"data": 4}, the names of its axes, or a Mesh of jax."""
    if mesh is None or isinstance(mesh, dict):
        return mesh
    if hasattr(mesh, "axis_names") and hasattr(mesh, "shape"):
        return {str(name): int(size) for name, size in dict(mesh.shape).items()}
    if isinstance(mesh, str):
        return [mesh]
    return list(mesh)


def program_of(function: Any, args: Sequence[Any], kwargs: Dict[str, Any], shardings: Any, mesh: Any,
               jit: Optional[Dict[str, Any]]) -> bytes:
    """A function and its arguments, as they go to the other process."""
    job.need_compiler()
    return job.pack({"function": function, "mesh": mesh_sizes(mesh), "jit": jit or {},
                     "shardings": None if shardings is None else pickle.dumps(shardings)}, {"arguments": tuple(args), "keywords": kwargs})


def kinds_of(words: Sequence[str]) -> List[str]:
    """Kinds of changes (tries.KINDS), or a TpusightError that has them all."""
    kinds = [words] if isinstance(words, str) else list(words)
    for kind in kinds:
        if kind not in tries.KINDS:
            raise TpusightError(f"{kind!r} is no kind of change; there are {', '.join(tries.KINDS)}")
    return kinds


def compiled(packed: bytes, name: str, topologies: Sequence[str], thresholds: Optional[Dict[str, float]] = None,
             say: Optional[Say] = None, what_if: WhatIf = False, library: str = "", keeps_text: bool = False) -> List[Before]:
    """A result for each topology, all compiled in one process by LIBRARY ("": the installed one); with WHAT_IF each with what was tried."""
    kinds = [] if isinstance(what_if, bool) else kinds_of(what_if)
    owner = Folder()
    path = os.path.join(owner.path, "program.pkl")
    with open(path, "wb") as file:
        file.write(packed)
    wanted = []
    for topology in topologies:
        one = job.Compilation(owner.new(), chips.parse(topology).name, keeps_text=keeps_text)
        wanted += [one, job.Compilation(owner.new(), one.topology, {"kind": job.PLAN, "kinds": kinds})] if what_if else [one]
    results: List[Before] = []
    for outcome in job.outcomes(path, wanted, say, library):
        if outcome.asked.change is None:
            results.append(_result(outcome, name, owner, thresholds))
        else:
            results[-1].tried.append(_tried(results[-1], outcome, owner))
    return results


def upgraded(packed: bytes, name: str, topologies: Sequence[str], found: Sequence[libraries.Library],
             thresholds: Optional[Dict[str, float]] = None, say: Optional[Say] = None) -> Upgrade:
    """The program as each of these libraries compiles it. Where one cannot, the others go on."""
    made = []
    for library in found:
        for topology in topologies:
            try:
                (result,) = compiled(packed, name, [topology], thresholds, say, library=library.path, keeps_text=True)
                made.append(upgrade.Compiled(library, result.topology, result, result.error))
            except TpusightError as e:
                made.append(upgrade.Compiled(library, chips.parse(topology).name, None, str(e)))
    return Upgrade(made)


def _tried(first: Before, outcome: job.Outcome, owner: Folder) -> whatif.Tried:
    change = outcome.asked.change or {}
    base, scale = whatif.figures_of(first), float(change.get("scale", 1))
    if outcome.trouble:
        error = outcome.trouble["text"].partition(": ")[2] or outcome.trouble["text"]
        return whatif.Tried(change["kind"], change["what"], base, {}, scale, [], error)
    made = Before(outcome, first.name, owner)
    figures = whatif.figures_of(made)
    return whatif.Tried(change["kind"], change["what"], base, figures, scale, whatif.wins(base, figures, scale, made.fits), None)


def _said(words: str) -> None:
    import sys
    print(f"tpusight: {words}", file=sys.stderr)


class Judged:
    """A function that before() decorated: called with arrays, or shapes, it is compiled and not run. `function` is the function itself."""

    is_tpusight_before = True

    def __init__(self, function: Callable[..., Any], options: Dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self._options = options

    def __call__(self, *args: Any, **kwargs: Any) -> Before:
        return _before(self.function, args, kwargs, **self._options)


def _name_of(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _before(function: Any, args: Sequence[Any], kwargs: Dict[str, Any], topology: str, shardings: Any, mesh: Any,
            jit: Optional[Dict[str, Any]], thresholds: Optional[Dict[str, float]], what_if: WhatIf, libtpu: Optional[str]) -> Before:
    chips.parse(topology)
    packed = program_of(function, args, kwargs, shardings, mesh, jit)
    library = libraries.find(libtpu, _said).path if libtpu else ""
    return compiled(packed, _name_of(function), [topology], thresholds, _said, what_if, library)[0]


@overload
def before(function: None = None, *, topology: str, shardings: Any = None, mesh: Any = None, jit: Optional[Dict[str, Any]] = None,
           thresholds: Optional[Dict[str, float]] = None, what_if: WhatIf = False,
           libtpu: Optional[str] = None) -> Callable[[Callable[..., Any]], Judged]: ...


@overload
def before(function: Callable[..., Any], *args: Any, topology: str, shardings: Any = None, mesh: Any = None,
           jit: Optional[Dict[str, Any]] = None, thresholds: Optional[Dict[str, float]] = None, what_if: WhatIf = False,
           libtpu: Optional[str] = None, **kwargs: Any) -> Before: ...


@overload
def before(function: Callable[..., Any], *args: Any, topology: str, libtpu: List[str], shardings: Any = None, mesh: Any = None,
           jit: Optional[Dict[str, Any]] = None, thresholds: Optional[Dict[str, float]] = None, **kwargs: Any) -> Upgrade: ...


def before(function: Any = None, *args: Any, topology: str, shardings: Any = None, mesh: Any = None, jit: Optional[Dict[str, Any]] = None,
           thresholds: Optional[Dict[str, float]] = None, what_if: WhatIf = False, libtpu: Union[None, str, List[str]] = None,
           **kwargs: Any) -> Union[Before, Upgrade, Callable[[Callable[..., Any]], Judged]]:
    """Compiles FUNCTION(*ARGS, **KWARGS) for a TPU that is not there, and says what it will do: a Before.

        result = tpusight.before(step, weights, batch, topology="v5e:2x4", mesh={"data": -1}, shardings=(P(), P("data")))
        print(result.summary()); result.report["padding"]; result.export("step.html")

    Arguments are arrays, jax.ShapeDtypeStruct or tpusight shapes; nothing of them but their shapes is used. Without SHARDINGS and MESH
    the program runs on one chip of the topology.

    topology: a slice, as libtpu names it: "v5e:2x4", "v6e:4x4", "v5p:2x2x1", "v7x:2x2x1".
    mesh: {axis: size} over all devices of the slice, -1 is what is left; or a jax Mesh, whose names and sizes are taken. A parameter
        `mesh` of the function gets it, and names of axes in the program mean it.
    shardings: a jax PartitionSpec for each argument, or a tree of them that begins as the argument's does; None: as the argument
        itself says (its own `sharding`), and where it says nothing it is not split.
    jit: options of jax.jit: {"donate_argnums": 0, "static_argnums": 1}. A function that is jitted keeps its own.
    thresholds: of the doctor, {name: value}.
    what_if: changes that need no hand are compiled too: `tried` of the result has them, each with the compiler's figures. True: all;
        kinds of changes, as ("size", "bf16"): these.
    libtpu: the library that compiles: a version ("0.0.42.1", which is fetched once), a folder with libtpu/libtpu.so, or "installed". A
        list of them gives an Upgrade: the same program by each, and what changes against the first.

    Without a function it decorates: @before(topology="v5e:2x2"); the function then gives a Before when it is called."""
    if isinstance(libtpu, list):
        packed = program_of(function, args, kwargs, shardings, mesh, jit)
        found = [libraries.find(wanted, _said) for wanted in libtpu]
        return upgraded(packed, _name_of(function), [topology], found, thresholds, _said)
    options = {"topology": topology, "shardings": shardings, "mesh": mesh, "jit": jit, "thresholds": thresholds, "what_if": what_if,
               "libtpu": libtpu}
    if function is None:
        return lambda decorated: Judged(decorated, options)
    return _before(function, args, kwargs, **options)
