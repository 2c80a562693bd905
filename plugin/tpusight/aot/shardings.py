# SPDX-License-Identifier: MIT
"""How arrays say that they are split: jax.Array, jax.ShapeDtypeStruct, what a function that makes arguments says of its results; and
which axes of a mesh a program leaves unused."""
import re
from typing import Any, List, Optional, Tuple

from .._program import TpusightError

Axes = Optional[Tuple[Tuple[str, ...], ...]]

HOST = "pinned_host"  # the memory kind that is no device's, of what is kept beside a TPU


def axes_of(sharding: Any) -> Axes:
    """The axes of a mesh that split each dimension; None: it is not split. Raises TpusightError where a sharding is not told in axes."""
    spec = getattr(sharding, "spec", None)
    if spec is not None:
        named = [part if isinstance(part, (tuple, list)) else (part,) if isinstance(part, str) else () for part in spec]
        return tuple(tuple(map(str, part)) for part in named) if any(named) else None
    if getattr(sharding, "is_fully_replicated", True):
        return None
    raise TpusightError(f"an argument has the sharding {sharding}, which does not name axes of a mesh: give it a NamedSharding, or say how "
                        "it is split (shardings=, --shardings)")


def memory_of(sharding: Any) -> str:
    """HOST, or "" for a device's own."""
    return HOST if getattr(sharding, "memory_kind", None) == HOST else ""


def _of_variable(jaxpr: Any, variable: Any) -> Any:
    """The sharding that JAXPR gives one of its results, as far as it is the last that is done to it; else that of its type."""
    equation = next((one for one in jaxpr.eqns if any(made is variable for made in one.outvars)), None)
    if equation is None:
        return getattr(variable.aval, "sharding", None)
    at = next(n for n, made in enumerate(equation.outvars) if made is variable)
    params = equation.params
    if equation.primitive.name == "device_put":
        return params["devices"][at]
    if equation.primitive.name == "sharding_constraint":
        return params["sharding"]
    if "jaxpr" in params:  # of jax.jit
        said = (params.get("out_shardings") or [None] * (at + 1))[at]
        inner = getattr(params["jaxpr"], "jaxpr", params["jaxpr"])
        return said if hasattr(said, "spec") else _of_variable(inner, inner.outvars[at])
    return getattr(variable.aval, "sharding", None)


def traced(function: Any) -> Any:
    """What FUNCTION() gives, as jax.ShapeDtypeStructs with the shardings that it says; nothing of it is computed."""
    import jax
    given: List[Any] = []

    def kept() -> Any:  # of what it gives that is no array yet
        given[:] = [function()]
        return given[0]
    closed, results = jax.make_jaxpr(kept, return_shape=True)()
    leaves, tree = jax.tree.flatten(results)
    said = [_of_variable(closed.jaxpr, variable) for variable in closed.jaxpr.outvars]
    found = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=one if hasattr(one, "spec") else None)
             for leaf, one in zip(leaves, said)]
    return jax.tree.unflatten(tree, [own if isinstance(own, jax.ShapeDtypeStruct) else one
                                     for own, one in zip(jax.tree.leaves(given[0]), found)])


def unsplit(mesh: Any, text: str) -> List[str]:
    """The axes of MESH, each of several devices, along which the lowered program TEXT splits nothing: all devices of one do the same
    work. Shardings of a program that was lowered for XLA's older partitioner name no axes: any of them is all."""
    if "sdy.mesh" not in text and "devices=[" in text:
        return []
    said = re.sub(r"^ *sdy\.mesh .*$", "", text, flags=re.M)
    return [str(name) for name, size in mesh.shape.items() if size > 1 and f'"{name}"' not in said]
