# SPDX-License-Identifier: MIT
"""Compiles in a process of its own: what goes to it, what comes back.

libtpu can be loaded by one process at a time, and stays in it until it ends; its environment must be set before jax is imported; and
it ends the process on some of its own errors. So the compiler never runs in the process of whoever asks.
"""
import contextlib
import importlib.util
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

from .._program import TpusightError
from . import chips, libraries, shapes

_NEEDED = ("jax", "libtpu")
EXTRA = "pip install 'tpusight[before]'"
PROTO, FACTS, TEXT, PARTITIONER = "module.hlo_proto.pb", "facts.json", "module.txt", "partitioner"
PARTITIONER_PASS = "spmd-partition"
_MOST_WORDS = 4000
_BUSY_S = 1.0
PLAN = "plan"  # the kind of a change that stands for all that can be tried, or for its `kinds` of them


class Compilation(NamedTuple):
    """One thing to compile. CHANGE is what --try changes, a dict with a `kind`; FOLDER is where PROTO and FACTS go, TEXT where it is
    wanted (KEEPS_TEXT), and the folder PARTITIONER where the program is split."""
    folder: str
    topology: str
    change: Optional[Dict[str, Any]] = None
    keeps_text: bool = False


class Outcome(NamedTuple):
    """What became of it: facts when the compiler said something, and where it did not compile the trouble (`kind`, `text`, `source`).
    A program that does not fit has both."""
    asked: Compilation
    facts: Dict[str, Any]
    trouble: Optional[Dict[str, str]]


def _pickler() -> Any:
    try:
        import cloudpickle
        return cloudpickle
    except ImportError:
        return None


def _is_array(value: Any) -> bool:
    """Of numpy, jax, or jax.ShapeDtypeStruct: what is traced by its shape alone."""
    return (type(value).__module__.partition(".")[0] in ("numpy", "jax", "jaxlib") and hasattr(value, "shape") and hasattr(value, "dtype")
            and type(value).__name__ != "PartitionSpec")


def _packed_arguments(value: Any) -> bytes:
    """A pickle of arguments, in which arrays have become their shapes and how they are split, however deep they lie."""
    import io
    cloudpickle = _pickler()
    base = cloudpickle.Pickler if cloudpickle else pickle.Pickler

    class Pickler(base):  # type: ignore[misc, valid-type]
        def reducer_override(self, given: Any) -> Any:
            if _is_array(given):
                return shapes.Shape, tuple(shapes.shape_of(given))
            return super().reducer_override(given) if cloudpickle else NotImplemented
    file = io.BytesIO()
    Pickler(file).dump(value)
    return file.getvalue()


def pack(program: Dict[str, Any], parts: Dict[str, Any]) -> bytes:
    """PROGRAM as it goes to the other process; PARTS are what of it holds arrays. Raises TpusightError with what cannot go."""
    try:
        function = program.get("function")
        if callable(function):
            cloudpickle = _pickler()
            if not cloudpickle:
                raise TpusightError(f"a function goes to the compiler's process by cloudpickle, which is not installed ({EXTRA})")
            program = {**program, "function": None, "pickled": cloudpickle.dumps(function)}
        return pickle.dumps({**program, **{name: _packed_arguments(value) for name, value in parts.items()}})
    except TpusightError:
        raise
    except Exception as e:  # a pickler lets out whatever an object's own methods raise
        name = getattr(program.get("function"), "__name__", "the function")
        raise TpusightError(f"{name} cannot be sent to the compiler's process: {e} (it holds what only this process has; put it into a "
                            "file, and ask `tpusight before FILE.py:NAME`)") from e


def need_compiler() -> None:
    """Raises TpusightError where jax or libtpu is not installed."""
    missing = [name for name in _NEEDED if not importlib.util.find_spec(name)]
    if missing:
        raise TpusightError(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed with {sys.executable} "
                            f"({EXTRA}; no TPU is needed)")


def environment(library: str = "", devices: int = 1) -> Dict[str, str]:
    """libtpu is not to ask for a TPU's host, and jax is to compute on the processor, which is as many DEVICES: meshes that the user's
    script makes of them can be."""
    own = dict(os.environ)
    if library:
        own[libraries.VARIABLE] = library
    for name in ("JAX_PLATFORM_NAME", "JAX_COMPILATION_CACHE_DIR"):
        own.pop(name, None)
    own.update(XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}", TPU_SKIP_MDS_QUERY="1",
               TPU_ACCELERATOR_TYPE="v5litepod-4", TPU_WORKER_HOSTNAMES="localhost", JAX_PLATFORMS="cpu",
               PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    own.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    own["PYTHONPATH"] = os.pathsep.join([package, own["PYTHONPATH"]])
    return own


def _events(packed: str, left: List[Compilation], words: List[bytes], library: str) -> Iterator[Dict[str, Any]]:
    """What the child says while it works, a dict each. WORDS gets the end of what it printed; LIBRARY is the libtpu.so that it loads, ""
    the installed one."""
    given, told = os.pipe()
    spool = packed + ".words"
    wanted = json.dumps([asked._asdict() for asked in left]) + "\n"
    devices = chips.parse(left[0].topology).devices if left[0].topology else 1
    with open(spool, "wb") as said:
        try:
            process = subprocess.Popen([sys.executable, "-m", "tpusight.aot.child", str(told), packed], stdin=subprocess.PIPE, stdout=said,
                                       stderr=said, env=environment(library, devices), pass_fds=[told], start_new_session=True)
        finally:
            os.close(told)
    asking: Any = process.stdin  # open until the child has ended: it ends when nobody holds this
    try:
        with contextlib.suppress(BrokenPipeError):  # it is dead: its words say why
            asking.write(wanted.encode())
            asking.flush()
        with open(given, encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)
        process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        with contextlib.suppress(BrokenPipeError):
            asking.close()
        with open(spool, "rb") as said_then:
            words[:] = [said_then.read()[-_MOST_WORDS:]]


def _died(words: List[bytes]) -> Dict[str, str]:
    """The trouble of a compilation in whose midst the process ended. Of what it printed, libtpu's check is what says why."""
    lines = [line.strip() for line in b"".join(words).decode("utf-8", "replace").splitlines() if line.strip()]
    why = next((line for line in lines if "Check fail" in line), lines[-1] if lines else "it said nothing")
    return {"kind": "crash", "text": f"the compiler's process ended: {why[:300]}", "source": ""}


def outcomes(packed: str, wanted: List[Compilation], say: Optional[Callable[[str], None]] = None, library: str = "") -> Iterator[Outcome]:
    """Compiles all that is WANTED, in its order, with the libtpu.so LIBRARY ("": the installed one). Where the process dies in one, the
    others go on in another process."""
    need_compiler()
    left, is_told = list(wanted), False
    while left:
        words: List[bytes] = []
        before, is_busy = len(left), False
        for event in _events(packed, left, words, library):
            if event["event"] == "waiting" and say:
                say(event["text"])
            elif event["event"] == "done":
                yield Outcome(left.pop(0), event["facts"], event.get("trouble"))
            elif event["event"] == "busy":
                is_busy = True
            elif event["event"] == "plan":
                left[:1] = [Compilation(**fields) for fields in event["more"]]
            elif event["event"] == "broken":
                raise TpusightError(event["text"])
        if is_busy:
            if say and not is_told:
                say("libtpu is in use by another process, and one at a time can have it: waiting for it")
            is_told = True
            time.sleep(_BUSY_S)
        elif left and len(left) == before:  # it died in the first of them
            yield Outcome(left.pop(0), {}, _died(words))
