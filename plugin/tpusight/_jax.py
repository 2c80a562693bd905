# SPDX-License-Identifier: MIT
"""JAX, where it is needed: imported late, and one clear error where it is not there."""
import importlib
import warnings

from ._program import TpusightError


class NoJaxError(TpusightError):
    """JAX cannot be imported: nothing can ever be captured in this process."""


def jax():
    """The module jax. Raises NoJaxError where it cannot be imported."""
    try:
        found = importlib.import_module("jax")
        importlib.import_module("jax.profiler")
    except ImportError as e:
        raise NoJaxError(f"JAX cannot be imported ({e}): pip install jax, or pip install 'jax[tpu]' on a TPU") from e
    return found


def wait_for(result):
    """Waits until the arrays in RESULT (any nesting of containers) are computed; gives RESULT."""
    return jax().block_until_ready(result)


def wait_for_all():
    """Waits until every array of this process is computed. A computation that fails is reported to the code that uses its array."""
    j = jax()
    if hasattr(j, "effects_barrier"):
        j.effects_barrier()
    for array in j.live_arrays():
        try:
            array.block_until_ready()
        except Exception:  # donated meanwhile, or its computation failed: JAX reports that to its user
            continue


def is_tracing(*values):
    """Whether JAX is tracing what is called with these values: it is not run then, only written down."""
    j = jax()
    tracer = getattr(getattr(j, "core", None), "Tracer", ())
    return any(isinstance(leaf, tracer) for leaf in j.tree_util.tree_leaves(values))


def options(given=None, **fields):
    """JAX's ProfileOptions as GIVEN, but for those of FIELDS that there are. None where this version of JAX has none."""
    kind = getattr(jax().profiler, "ProfileOptions", None)
    if kind is None:
        if given is not None:
            raise TpusightError(f"profiler_options need a newer JAX than {jax().__version__}")
        return None
    made = kind()
    for name in [name for name in dir(given) if not name.startswith("_")] if given is not None else []:
        setattr(made, name, getattr(given, name))
    for name, value in fields.items():
        if hasattr(made, name):
            setattr(made, name, value)
    return made


def reset_profiler():
    """After a capture that could not be ended JAX takes it for running still, and refuses every later one."""
    try:
        state = importlib.import_module("jax._src.profiler")._profile_state
        with state.lock:
            state.reset()
    except Exception as e:  # no public way; a later version may keep it elsewhere
        warnings.warn(f"JAX's profiler cannot be made ready again: {e}", RuntimeWarning, stacklevel=2)
