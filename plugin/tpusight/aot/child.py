# SPDX-License-Identifier: MIT
"""The process that compiles (job.py starts it): `python -m tpusight.aot.child FD PROGRAM`, with what to compile as a line of JSON on
standard input, which stays open as long as the process that asks is there.

What became of each goes to FD as a line of JSON. What the user's program prints is left to itself.
"""
import glob
import importlib.metadata
import importlib.util
import json
import linecache
import os
import pickle
import re
import shutil
import signal
import struct
import sys
import tempfile
import threading
import time
import traceback
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import _program
from . import chips, files, job, libraries, shardings, tries
from .shapes import Shape, mesh_text, shape_of

try:
    import fcntl
except ImportError:  # Windows, for which there is no libtpu
    fcntl = None  # type: ignore[assignment]

LIBTPU_LOCK = "/tmp/libtpu_lockfile"  # libtpu's own, a lock of POSIX, which it takes and drops more than once while it is loaded
_POLL_S = 0.2
_MEMORY = ("argument_size_in_bytes", "output_size_in_bytes", "alias_size_in_bytes", "temp_size_in_bytes", "generated_code_size_in_bytes",
           "peak_memory_in_bytes", "host_argument_size_in_bytes", "host_output_size_in_bytes", "host_temp_size_in_bytes")
_COST = ("flops", "bytes accessed", "transcendentals", "optimal_seconds")
_MODULE = 1  # field of HloProto
_MOST_TEXT = 1200


class Teller:
    """Says what happens, to the process that asked."""

    def __init__(self, fd: int) -> None:
        self._file = os.fdopen(fd, "w", encoding="utf-8")

    def __call__(self, event: str, **fields: Any) -> None:
        json.dump({"event": event, **fields}, self._file)
        self._file.write("\n")
        self._file.flush()


class Busy(Exception):
    """Another process has libtpu, one that does not wait for ours."""


def _holder(path: str) -> int:
    """Which process has libtpu; 0 where none has, or that cannot be known."""
    form = "hhqqi4x"  # struct flock of Linux on 64 bits
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return 0
    try:
        asked = struct.pack(form, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(form, fcntl.fcntl(fd, fcntl.F_GETLK, asked))
        return 0 if kind == fcntl.F_UNLCK else int(pid)
    except OSError:
        return 0
    finally:
        os.close(fd)


def own_lock() -> str:
    """The lock of this package's processes, for one user: who has it has libtpu to himself, as far as they are asked."""
    return os.path.join(tempfile.gettempdir(), f"tpusight-libtpu-{os.getuid()}.lock")


def _opened(path: str) -> Optional[int]:
    """The lock's file; None where another user made it, who could hold it for ever: then libtpu's own lock is all that is asked for."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    if os.fstat(fd).st_uid == os.geteuid():
        return fd
    os.close(fd)
    return None


def _is_free(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False


def _asked_by(pid: int) -> bool:
    """Whether the process PID waits for this one: it is the one that started it, or one that started that."""
    at = os.getppid()
    while at > 1:
        if at == pid:
            return True
        try:
            with open(f"/proc/{at}/stat", encoding="utf-8") as file:
                at = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
    return False


def _is_ours(fd: Optional[int], libtpu_path: str) -> bool:
    """Who waits for libtpu drops our lock meanwhile: who has libtpu may itself ask us, through another process that wants that lock."""
    if fd is not None and not _is_free(fd):
        return False
    if not _holder(libtpu_path):
        return True
    if fd is not None:
        fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def take_lock(tell: Callable[..., None], path: str = "", libtpu_path: str = LIBTPU_LOCK) -> Optional[int]:
    """Waits until no other process has libtpu but the one that asks, and says that it waits. The file is open, and the lock held, until
    this process ends; None where there is no such file."""
    if not fcntl:
        return None
    fd = _opened(path or own_lock())
    told = False
    while True:
        pid = _holder(libtpu_path)
        if pid and _asked_by(pid):
            # Jax has loaded it there for its TPU, and keeps it while it waits for us. So our lock is not asked for, and libtpu is told to
            # look away, which it can, as nothing here runs on a TPU.
            os.environ["ALLOW_MULTIPLE_LIBTPU_LOAD"] = "1"
            return fd
        if _is_ours(fd, libtpu_path):
            return fd
        if not told:
            told = True
            tell("waiting", text="libtpu is in use" + (f" by process {pid}" if pid else "") +
                 ", and one process at a time can have it: waiting for it")
        time.sleep(_POLL_S)


def _varint(data: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def parts(data: bytes) -> Dict[int, bytes]:
    """The fields of an HloProto, each whole with its tag: all of them have a length."""
    found, at = {}, 0
    while at < len(data):
        start = at
        tag, at = _varint(data, at)
        length, at = _varint(data, at)
        if tag & 7 != 2 or at + length > len(data):
            raise ValueError("not an HloProto")
        at += length
        found[tag >> 3] = data[start:at]
    return found


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _dumped(folder: str, end: str) -> str:
    """Of several the largest: a callback, or a part for the SparseCores, has a module of its own."""
    return max(glob.glob(os.path.join(folder, "*." + end)), key=os.path.getsize, default="")


def _proto_of(folder: str) -> Optional[bytes]:
    """The module as it runs; of a program that did not fit, as it was before that was known. The buffer assignment that libtpu dumps
    beside it is an earlier one: with it totals were up to 14 % off from what memory_analysis() says."""
    for end in ("after_codegen.hlo.pb", "after_optimizations.hlo.pb", "after_optimizations_before_buffer_assignment.hlo.pb"):
        found = _dumped(folder, end)
        if found:
            return parts(_read(found)).get(_MODULE)
    return None


def _keep_partitioning(dump: str, folder: str) -> None:
    """What XLA dumped of its partitioner: why each collective is in the module."""
    found = [name for name in os.listdir(dump) if job.PARTITIONER_PASS in name and name.endswith(".hlo.pb")]
    if found:
        os.makedirs(os.path.join(folder, job.PARTITIONER), exist_ok=True)
    for name in found:
        os.replace(os.path.join(dump, name), os.path.join(folder, job.PARTITIONER, name))


def _facts_of(compiled: Any) -> Dict[str, Any]:
    """What the compiler says of the program that it made; what a version of it does not say is left out."""
    facts: Dict[str, Any] = {"memory": {}, "cost": {}}
    memory = compiled.memory_analysis()
    for name in _MEMORY:
        value = getattr(memory, name, None)
        if value is not None:
            facts["memory"][name] = int(value)
    cost = compiled.cost_analysis()
    cost = cost[0] if isinstance(cost, (list, tuple)) else cost
    facts["cost"] = {name: cost[name] for name in _COST if name in (cost or {})}
    return facts


def _versions(devices: List[Any]) -> Dict[str, str]:
    """Of jax the packages that are installed; of libtpu the library that was loaded, which may be another one than the installed."""
    found = {}
    for name in ("jax", "jaxlib"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = ""
    path = libraries.installed()
    found["libtpu"] = libraries.version_of(path)
    if os.environ.get(libraries.VARIABLE):
        found["libtpu_path"] = path
    built = re.search(r"^Built on (.*?)(?: \(\d+\).*)?$", getattr(devices[0].client, "platform_version", ""), re.M)
    if built:
        found["libtpu_built"] = built[1]
    return found


_LIBRARY = re.compile(r"[/\\](site-packages|dist-packages)[/\\]|[/\\]tpusight[/\\]aot[/\\]|[/\\]lib[/\\]python3[.\d]*[/\\]|^<frozen")


def source_of(error: BaseException) -> str:
    """ "FILE:LINE: TEXT" of the innermost line that is the user's own; "" where none is."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _LIBRARY.search(frame.filename)]
    if not frames:
        return ""
    line = (frames[-1].line or linecache.getline(frames[-1].filename, frames[-1].lineno or 0)).strip()
    return f"{frames[-1].filename}:{frames[-1].lineno}" + (f": {line}" if line else "")


def shortened(error: BaseException) -> str:
    """What an error says, without the parts that are for those who build the compiler."""
    text = str(error).strip() or type(error).__name__
    for end in ("\n-----", "For simplicity, JAX has removed", "\n\nThe MLIR module", "\nHLO:", "*** Begin stack trace"):
        text = text.partition(end)[0].strip()
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    text = "\n".join(lines[:8] + (["..."] if len(lines) > 8 else []))
    text = text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + " ..."
    known = type(error).__name__
    return text if known == "JaxRuntimeError" else f"{known}: {text}"


class Program:
    """The user's function and its arguments, as they are traced for one set of devices."""

    def __init__(self, given: Dict[str, Any]) -> None:
        self._given = given
        self._scripts: Dict[str, Any] = {}
        self.mesh: Any = given.get("mesh")
        self.jit: Dict[str, Any] = given.get("jit") or {}
        self.file: str = given.get("file") or ""
        self.kind: str = given.get("kind") or ""
        self.keywords: Dict[str, Any] = {}
        self.arguments: Tuple[Any, ...] = ()
        self.function: Any = None
        if self.kind == files.EXPORT:
            self.function, self.arguments, self.keywords = files.exported(self.file)
        elif not self.kind:
            self.function, self.arguments = self._function(), self._arguments()
            self.keywords = pickle.loads(given["keywords"]) if given.get("keywords") else {}
        self.shardings = pickle.loads(given["shardings"]) if given.get("shardings") else None

    def _script(self) -> Any:
        path = self._given["script"]
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
        name = os.path.splitext(os.path.basename(path))[0]
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    def _in_script(self, name: str) -> Any:
        if "module" not in self._scripts:
            self._scripts["module"] = self._script()
        found = self._scripts["module"]
        for part in name.split("."):
            if not hasattr(found, part):
                module = self._scripts["module"]
                has = sorted(key for key, value in vars(module).items() if callable(value) and not key.startswith("_") and
                             getattr(value, "__module__", "") == module.__name__)
                raise _program.TpusightError(f"{self._given['script']} has no {name} (it has: {', '.join(has) or 'no function'})")
            found = getattr(found, part)
        return found

    def _function(self) -> Any:
        if self._given.get("pickled"):
            return pickle.loads(self._given["pickled"])
        found = self._in_script(self._given["name"])
        found = getattr(found, "function", found) if getattr(found, "is_tpusight_before", False) else found
        if not callable(found):
            raise _program.TpusightError(f"{self._given['name']} of {self._given['script']} is not a function")
        return found

    def _arguments(self) -> Tuple[Any, ...]:
        if not self._given.get("arguments_of"):
            return tuple(pickle.loads(self._given["arguments"]))
        found = self._in_script(self._given["arguments_of"])
        if callable(found):
            try:
                found = shardings.traced(found)  # nothing is made of what it would make
            except Exception:  # what gives more than arrays is called as it is
                found = found()
        return tuple(found) if isinstance(found, (tuple, list)) else (found,)


def devices_of(topology: chips.Topology) -> List[Any]:
    """jax's devices of a slice that is not there."""
    from jax.experimental import topologies
    try:
        return list(topologies.get_topology_desc(platform="tpu", topology_name=topology.slice_name, **topology.options).devices)
    except Exception as e:
        if "lockfile" in str(e):
            raise Busy from e
        if "Failed to open" in str(e):
            raise _program.TpusightError(f"libtpu cannot be loaded: {shortened(e).partition('Failed to open ')[2]}") from e
        raise chips.unknown(topology.name, shortened(e).partition(": ")[2] or shortened(e)) from e


def _over_slices(named: Dict[str, int], slices: int, devices: List[Any]) -> Any:
    """DEVICES of several slices as an array: the first axis that can be goes over the slices, so that the others stay within one."""
    from jax.experimental import mesh_utils
    sizes = list(named.values())
    axis = next((n for n, size in enumerate(sizes) if size % slices == 0), None)
    if axis is None:
        raise _program.TpusightError(f"no axis of the mesh {mesh_text(named)} can go over the "
                                     f"{slices} slices: the size of one must be a multiple of {slices}")
    across = [slices if n == axis else 1 for n in range(len(sizes))]
    return mesh_utils.create_hybrid_device_mesh([size // part for size, part in zip(sizes, across)], across, devices=devices,
                                                allow_split_physical_axes=True)


def _mesh_of(sizes: Any, devices: List[Any]) -> Any:
    """A jax Mesh over all DEVICES. SIZES: {"data": 2, "model": -1}, or names alone (the first gets all)."""
    import jax
    named = dict(sizes) if isinstance(sizes, dict) else {name: (-1 if n == 0 else 1) for n, name in enumerate(sizes)}
    known = 1
    for size in named.values():
        known *= size if size > 0 else 1
    if -1 in named.values() and len(devices) % known == 0:
        named = {name: (len(devices) // known if size == -1 else size) for name, size in named.items()}
        known = len(devices)
    if known != len(devices):
        raise _program.TpusightError(f"the mesh {mesh_text(named)} has {known} devices, and the "
                                     f"topology {len(devices)} (-1 is what is left of the devices)")
    kinds = getattr(jax.sharding, "AxisType", None)
    more = {"axis_types": (kinds.Auto,) * len(named)} if kinds else {}
    slices = len({getattr(device, "slice_index", 0) for device in devices})
    if slices > 1:
        return jax.sharding.Mesh(_over_slices(named, slices, devices), tuple(named), **more)
    return jax.make_mesh(tuple(named.values()), tuple(named), devices=devices, **more)


def _spec_of(said: Any) -> Any:
    """A PartitionSpec of one, of "data,-", of ("data", None), or of None."""
    from jax.sharding import PartitionSpec
    if isinstance(said, PartitionSpec):
        return said
    if hasattr(said, "spec"):  # a NamedSharding: its mesh is of this process's devices
        return said.spec
    if isinstance(said, str):
        said = [None if part.strip() in ("", "-") else tuple(part.strip().split("+")) for part in said.split(",")]
    return PartitionSpec(*(said or ()))


def _is_spec(value: Any) -> bool:
    from jax.sharding import PartitionSpec
    return (value is None or isinstance(value, (str, PartitionSpec)) or hasattr(value, "spec") or
            (isinstance(value, tuple) and all(part is None or isinstance(part, str) for part in value)))


class Placed:
    """The arguments of a Program on the devices of a slice, with the CHANGE that is tried."""

    def __init__(self, program: Program, change: Optional[Dict[str, Any]], devices: List[Any], mesh: Any) -> None:
        self._devices, self._change, self.mesh = devices, change, mesh
        args, keywords, shardings = tries.arguments(change, program.arguments), program.keywords, program.shardings
        self.arguments, self.keywords = self._all(args, shardings), self._all(keywords, None)

    def _all(self, tree: Any, specs: Any) -> Any:
        import jax
        from jax.sharding import PartitionSpec
        leaves = lambda value: isinstance(value, Shape)  # noqa: E731
        if specs is None or not isinstance(tree, tuple):
            return jax.tree.map(lambda leaf: self.array(leaf, None), tree, is_leaf=leaves)
        if not isinstance(specs, (tuple, list)) or isinstance(specs, PartitionSpec):  # one for all
            specs = (specs,) * len(tree)
        if len(specs) > len(tree):
            raise _program.TpusightError(f"{len(specs)} shardings are given, and the function has {len(tree)} arguments")
        specs = tuple(specs) + (None,) * (len(tree) - len(specs))
        return tuple(self._one(part, spec) for part, spec in zip(tree, specs))

    def _one(self, tree: Any, spec: Any) -> Any:
        """SPEC is one for all arrays in TREE, or a tree that begins as TREE does."""
        import jax
        leaves = lambda value: isinstance(value, Shape)  # noqa: E731
        if _is_spec(spec):
            return jax.tree.map(lambda leaf: self.array(leaf, spec), tree, is_leaf=leaves)
        return jax.tree.map(lambda one, below: self._one(below, one), spec, tree, is_leaf=_is_spec)

    def array(self, leaf: Any, spec: Any) -> Any:
        import jax
        import jax.numpy as jnp
        from jax.sharding import NamedSharding, SingleDeviceSharding
        if not (hasattr(leaf, "dtype") or isinstance(leaf, Shape)):
            return leaf
        given = leaf if isinstance(leaf, Shape) else shape_of(leaf)
        dtype = jax.dtypes.canonicalize_dtype(jnp.dtype(leaf.dtype)) if not _is_extended(leaf.dtype) else leaf.dtype
        said = tries.parts_of(given.axes if spec is None else _spec_of(spec), len(given.sizes))
        self._check(said)
        sizes, parts = tries.place(self._change, given.sizes, str(dtype), said)
        kind = {"memory_kind": given.memory} if given.memory else {}
        placed: Any = SingleDeviceSharding(self._devices[0], **kind)
        if self.mesh is not None:
            placed = NamedSharding(self.mesh, _spec_of([tuple(part) or None for part in parts]), **kind)
        return jax.ShapeDtypeStruct(sizes, dtype, sharding=placed)

    def _check(self, parts: List[List[str]]) -> None:
        """Raises a TpusightError where an argument is split along what is no axis of the mesh."""
        axes = [axis for part in parts for axis in part]
        if axes and self.mesh is None:
            raise _program.TpusightError(f"arguments are split along {axes[0]}, and there is no mesh (mesh={{\"{axes[0]}\": -1}}, "
                                         f"--mesh {axes[0]}=-1)")
        for axis in axes:
            if axis not in self.mesh.shape:
                raise _program.TpusightError(f"arguments are split along {axis}, which is no axis of the mesh {mesh_text(self.mesh.shape)}")


def _is_extended(dtype: Any) -> bool:
    """Keys of jax.random are of a dtype of jax's own."""
    return "key<" in str(dtype)


def _wants_mesh(function: Any) -> bool:
    import inspect
    try:
        return "mesh" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _jitted(program: Program, mesh: Any) -> Any:
    """The function as jax.jit has it; a parameter `mesh` gets the mesh."""
    import functools

    import jax
    function = program.function
    if _wants_mesh(function) and "mesh" not in program.keywords:
        if mesh is None:
            raise _program.TpusightError("the function has a parameter mesh, and there is no mesh (mesh={\"data\": -1}, --mesh data=-1)")
        function = functools.wraps(function)(functools.partial(getattr(function, "__wrapped__", function), mesh=mesh))
        del function.__wrapped__
    return function if hasattr(function, "lower") and not program.jit else jax.jit(function, **program.jit)


def _in_mesh(mesh: Any) -> Any:
    """Names of axes in the program mean MESH."""
    import contextlib

    import jax
    if mesh is None:
        return contextlib.nullcontext()
    return jax.set_mesh(mesh) if hasattr(jax, "set_mesh") else mesh


def _versions_and(topology: chips.Topology, devices: List[Any], mesh: Any) -> Dict[str, Any]:
    return {"versions": _versions(devices), "topology": topology.name, "chip": topology.chip, "device_kind": devices[0].device_kind,
            "device_count": len(devices) if mesh is not None else 1, "topology_device_count": len(devices),
            "mesh": {str(name): int(size) for name, size in mesh.shape.items()} if mesh is not None else None}


def _lowered(program: Program, topology: chips.Topology, change: Optional[Dict[str, Any]], facts: Dict[str, Any]) -> Any:
    """The program as the compiler takes it."""
    devices = devices_of(topology)
    sizes = (change or {}).get("mesh") or program.mesh
    mesh = _mesh_of(sizes, devices) if sizes else None
    facts.update(_versions_and(topology, devices, mesh))
    if program.kind == files.MLIR:
        module = files.Module(program.file, devices)
        facts["device_count"] = len(module.devices)
        return module
    placed = Placed(program, change, devices, mesh)
    begin = time.monotonic()
    with _in_mesh(mesh), tries.tracing(change):
        whole = Placed(program, None, devices, mesh)
        function, args, keywords = tries.rearranged(change, _jitted(program, mesh), placed.arguments, (whole.arguments, whole.keywords),
                                                    placed.keywords)
        lowered = function.lower(*args, **keywords)
    facts["lower_seconds"] = round(time.monotonic() - begin, 3)
    if mesh is not None:
        facts["unsplit_axes"] = shardings.unsplit(mesh, lowered.as_text())
    return lowered


def _planned(program: Program, wanted: job.Compilation) -> List[job.Compilation]:
    """What can be changed in the program, each with a folder in that of WANTED."""
    if program.kind:
        return []  # nothing of a file is traced
    devices = devices_of(chips.parse(wanted.topology))
    mesh = _mesh_of(program.mesh, devices) if program.mesh else None
    placed = Placed(program, None, devices, mesh)
    with _in_mesh(mesh), tries.tracing(None):
        traced = _jitted(program, mesh).trace(*placed.arguments, **placed.keywords)
    sizes = {str(name): int(size) for name, size in mesh.shape.items()} if mesh is not None else None
    found = []
    kinds = (wanted.change or {}).get("kinds") or tries.KINDS
    changes = [change for change in tries.plan(traced, program.arguments, placed, sizes) if change["kind"] in kinds]
    for number, change in enumerate(changes):
        folder = os.path.join(wanted.folder, str(number))
        os.makedirs(folder, exist_ok=True)
        found.append(job.Compilation(folder, wanted.topology, change))
    return found


def _keep(wanted: job.Compilation, proto: bytes, facts: Dict[str, Any]) -> None:
    facts["proto"] = job.PROTO
    with open(os.path.join(wanted.folder, job.PROTO), "wb") as file:
        file.write(proto)


def _take(program: Program, wanted: job.Compilation, facts: Dict[str, Any]) -> None:
    """A module that is compiled already."""
    if wanted.topology:  # `tpusight hlo` knows it, where it is known
        topology = chips.parse(wanted.topology)
        facts.update(topology=topology.name, chip=topology.chip)
    _keep(wanted, files.proto_of_text(program.file) if program.kind == files.TEXT else _read(program.file), facts)


def _compile(program: Program, wanted: job.Compilation, facts: Dict[str, Any]) -> None:
    """Writes the module into the compilation's folder, and fills FACTS."""
    if program.kind in (files.TEXT, files.PROTO):
        _take(program, wanted, facts)
        return
    lowered = _lowered(program, chips.parse(wanted.topology), wanted.change, facts)
    options = (wanted.change or {}).get("options", {})
    with tempfile.TemporaryDirectory(prefix="dump-", dir=wanted.folder) as dump:
        begin = time.monotonic()
        try:
            compiled = lowered.compile(compiler_options={"xla_dump_to": dump, "xla_dump_hlo_as_proto": True,
                                                         "xla_dump_hlo_pass_re": f".*{job.PARTITIONER_PASS}.*", **options})
            facts["compile_seconds"] = round(time.monotonic() - begin, 3)
            facts.update(_facts_of(compiled))
            if wanted.keeps_text:
                with open(os.path.join(wanted.folder, job.TEXT), "w", encoding="utf-8") as file:
                    file.write(compiled.as_text())
        finally:
            proto = _proto_of(dump)
            if proto:
                _keep(wanted, proto, facts)
            _keep_partitioning(dump, wanted.folder)


def _kind(error: BaseException) -> str:
    if isinstance(error, _program.TpusightError):
        return "usage"
    return "memory" if "RESOURCE_EXHAUSTED" in str(error) or "Ran out of memory" in str(error) else "compile"


def _done(program: Program, wanted: job.Compilation, tell: Callable[..., None]) -> None:
    facts: Dict[str, Any] = {}
    trouble = None
    try:
        _compile(program, wanted, facts)
    except Busy:
        raise
    except Exception as e:  # the user's program, and the compiler, may raise anything
        text = str(e) if isinstance(e, _program.TpusightError) else shortened(e)
        trouble = {"kind": _kind(e), "text": text, "source": source_of(e)}
    with open(os.path.join(wanted.folder, job.FACTS), "w", encoding="utf-8") as file:
        json.dump({**facts, **({"trouble": trouble} if trouble else {})}, file, indent=1)
    tell("done", facts=facts, trouble=trouble)


def _end_with(asking: int, folder: str) -> None:
    """Ends this process, and what the user's program started in it, when nobody holds the other end of ASKING: who asked is gone, however
    that came, and with libtpu in this process nobody else could have it. What was made in FOLDER is nobody's then."""
    def watch() -> None:
        while os.read(asking, 1):
            pass
        shutil.rmtree(folder, ignore_errors=True)
        os.killpg(os.getpgrp(), signal.SIGKILL)  # a group of its own: job.py
    threading.Thread(target=watch, daemon=True).start()


def _take_input() -> int:
    """Standard input under another number: the user's program, which may read, finds nothing in its place."""
    asking = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return asking


def _wanted(asking: int) -> List[job.Compilation]:
    """The line that says what is wanted. It is read to its end and no further."""
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(asking, 1 << 16)
        if not piece:
            sys.exit(1)
        line += piece
    return [job.Compilation(**fields) for fields in json.loads(line)]


def _work(program: Program, wanted: List[job.Compilation], tell: Callable[..., None]) -> None:
    while wanted:
        one = wanted.pop(0)
        if one.change and one.change["kind"] == job.PLAN:
            more = _planned(program, one)
            tell("plan", more=[asked._asdict() for asked in more])
            wanted[:0] = more
        else:
            _done(program, one, tell)


def main(fd: str, packed: str) -> int:
    tell = Teller(int(fd))
    asking = _take_input()
    wanted = _wanted(asking)
    _end_with(asking, os.path.dirname(packed))
    lock = take_lock(tell)
    try:
        tries.install()
        program = Program(pickle.loads(_read(packed)))
    except _program.TpusightError as e:
        tell("broken", text=str(e))
        return 1
    except Exception as e:  # the user's script may raise anything
        where = source_of(e)
        tell("broken", text=shortened(e) + (f"\n  at {where}" if where else ""))
        return 1
    try:
        _work(program, wanted, tell)
    except Busy:
        tell("busy")
    return 0 if lock is None or lock >= 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
