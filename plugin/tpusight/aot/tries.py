# SPDX-License-Identifier: MIT
"""Changes of a program that need no hand: which there are (plan), and how they are made. Runs in the compiler's process.

The arguments' shapes and types, their places on the mesh, the options of jax.jit and of the compiler are changed, and what jax.grad,
jax.checkpoint and jax.lax.scan do while the function is traced. The user's source is not touched. A change is a dict: `kind`, `what`
(a sentence), and what the kind needs.
"""
import contextlib
import functools
import itertools
import operator
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from .shapes import Shape, mesh_text, shape_of

_LANES = 128
_MOST_GROWTH = 1.25  # of a dimension that is rounded up
KINDS = ("donate", "size", "split", "bf16", "remat", "mesh", "axis", "batch", "unroll", "option")
_MOST_SIZES = _MOST_SPLITS = _MOST_AXES = 2  # of each of these kinds
_ROWS = 8  # of a tile
#: Options of the compiler that are worth a try. Each libtpu refuses those that it does not know, and that is told.
OPTIONS: Tuple[Tuple[str, str], ...] = (
    ("xla_tpu_scoped_vmem_limit_kib", "65536"),
    ("xla_tpu_enable_latency_hiding_scheduler", "true"),
    ("xla_tpu_enable_async_collective_fusion", "true"),
)
_active: Dict[str, Any] = {}  # the change in whose trace we are
_seen: Dict[str, int] = {}  # what the last trace called


def _hooked(module: Any, name: str, change: Callable[..., Any]) -> None:
    """Puts CHANGE(the original, *args) in the place of a function of jax's."""
    original = getattr(module, name)

    @functools.wraps(original)
    def instead(*args: Any, **kwargs: Any) -> Any:
        return change(original, *args, **kwargs)
    setattr(module, name, instead)


def _policy(name: str) -> Any:
    import jax
    return getattr(jax.checkpoint_policies, name)


def _grad(original: Any, fun: Any, *args: Any, **kwargs: Any) -> Any:
    """Of a function that is differentiated, what the backward pass needs may be computed again. It is decided when that is called."""
    import jax

    @functools.wraps(fun)
    def chosen(*given: Any, **named: Any) -> Any:
        _seen["grad"] = _seen.get("grad", 0) + 1
        if _active.get("remat_added"):
            return jax.checkpoint(fun, policy=_policy(_active["remat_added"]))(*given, **named)
        return fun(*given, **named)
    return original(chosen, *args, **kwargs)


def _scan(original: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
    import jax
    _seen["scan"] = _seen.get("scan", 0) + 1
    if _active.get("unroll"):
        kwargs["unroll"] = _active["unroll"]
    if _active.get("remat_body"):
        f = jax.checkpoint(f, policy=_policy(_active["remat_body"]))
    return original(f, *args, **kwargs)


def install() -> None:
    """Before the user's script is imported: it may take jax.grad by its name. Our own lines are not the source of what it computes."""
    import jax
    from jax._src import ad_checkpoint, source_info_util
    source_info_util.register_exclusion(__file__)
    _hooked(jax, "grad", _grad)
    _hooked(jax, "value_and_grad", _grad)
    _hooked(jax.lax, "scan", _scan)
    primitive: Any = ad_checkpoint.remat_p
    bind = primitive.bind

    def bound(*args: Any, **params: Any) -> Any:
        if not params.get("differentiated"):
            _seen["remat"] = _seen.get("remat", 0) + 1
            if _active.get("remat_policy"):
                params["policy"] = _policy(_active["remat_policy"])
        return bind(*args, **params)
    primitive.bind = bound


@contextlib.contextmanager
def tracing(change: Optional[Dict[str, Any]]) -> Iterator[None]:
    """Traces within it do what CHANGE says. Traces that were kept would not."""
    import jax
    _seen.clear()
    jax.clear_caches()
    _active.update(change or {})
    try:
        yield
    finally:
        _active.clear()


def _up(size: int) -> int:
    return -(-size // _LANES) * _LANES


def _mapped(tree: Any, change: Callable[[Tuple[int, ...], str], Tuple[Tuple[int, ...], str]]) -> Any:
    """TREE, whose arrays have the sizes and types that CHANGE gives."""
    import jax

    def one(leaf: Any) -> Any:
        if isinstance(leaf, Shape):
            sizes, dtype = change(leaf.sizes, leaf.dtype)
            return leaf._replace(sizes=sizes, dtype=dtype)
        if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
            whole = shape_of(leaf)
            sizes, dtype = change(whole.sizes, whole.dtype)
            return whole._replace(sizes=sizes, dtype=dtype) if (sizes, dtype) != (whole.sizes, whole.dtype) else leaf
        return leaf
    return jax.tree.map(one, tree, is_leaf=lambda value: isinstance(value, Shape))


def arguments(change: Optional[Dict[str, Any]], given: Any) -> Any:
    """The function's positional arguments with the change."""
    kind = change["kind"] if change else ""
    if change and kind == "size":
        return _mapped(given, lambda sizes, dtype: (tuple(change["to"] if size == change["from"] else size for size in sizes), dtype))
    if change and kind == "bf16":
        return _mapped(given, lambda sizes, dtype: (sizes, "bfloat16" if dtype == "float32" else dtype))
    if change and kind == "batch":
        first, then = change["from"], change["to"]
        larger = _mapped(given[1:], lambda sizes, dtype: ((then, *sizes[1:]) if sizes[:1] == (first,) else sizes, dtype))
        return (*given[:1], *larger)
    return given


def _leaves(tree: Any) -> List[Tuple[Tuple[int, ...], str]]:
    import jax
    found = []
    for leaf in jax.tree.leaves(tree, is_leaf=lambda value: isinstance(value, Shape)):
        if isinstance(leaf, Shape):
            found.append((leaf.sizes, leaf.dtype))
        elif hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
            found.append((tuple(leaf.shape), str(leaf.dtype)))
    return found


def _sizes(leaves: List[Tuple[Tuple[int, ...], str]]) -> Iterator[Dict[str, Any]]:
    """Dimensions that do not fill the lanes, those of the largest arrays first."""
    weight: Dict[int, int] = {}
    for sizes, _ in leaves:
        elements = 1
        for size in sizes:
            elements *= size
        for size in set(sizes[-2:]):
            if size > _LANES // 2 and size % _LANES and _up(size) <= size * _MOST_GROWTH:
                weight[size] = weight.get(size, 0) + elements
    for size in sorted(weight, key=lambda size: -weight[size])[:_MOST_SIZES]:
        yield {"kind": "size", "what": f"each {size} of the arguments as {_up(size)}", "from": size, "to": _up(size)}


def _arrays(args: Tuple[Any, ...]) -> List[Any]:
    """The arrays of arguments that are placed, the largest first, one of each shape, type and place."""
    import jax
    found = {(array.shape, str(array.dtype), str(array.sharding)): array for array in jax.tree.leaves(args)
             if isinstance(array, jax.ShapeDtypeStruct)}
    return sorted(found.values(), key=lambda array: -array.size)


def _text(array: Any) -> str:
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"


def parts_of(spec: Any, rank: int) -> List[List[str]]:
    """The axes that split each dimension."""
    parts = [list(part) if isinstance(part, (tuple, list)) else [part] if part else [] for part in spec or ()]
    return parts + [[]] * (rank - len(parts))


def _spec_text(parts: List[List[str]]) -> str:
    return "P(" + ", ".join("+".join(part) if part else "None" for part in parts) + ")"


def _axes(args: Tuple[Any, ...]) -> Iterator[Dict[str, Any]]:
    """What splits one dimension of an argument splits another one, and the other way round."""
    for array in _arrays(args):
        mesh: Any = getattr(array.sharding, "mesh", None)  # there is none without a split
        rank = len(array.shape)
        parts = parts_of(getattr(array.sharding, "spec", None), rank)
        for first, second in itertools.combinations(range(rank - 1, -1, -1), 2):
            swapped = list(parts)
            swapped[first], swapped[second] = parts[second], parts[first]
            if swapped != parts and all(size % _product(mesh.shape[axis] for axis in part) == 0
                                        for size, part in zip(array.shape, swapped)):
                yield {"kind": "axis", "what": f"each {_text(array)} split as {_spec_text(swapped)} in place of {_spec_text(parts)}",
                       "sizes": list(array.shape), "parts": parts, "to": swapped}


def _product(sizes: Iterable[int]) -> int:
    return functools.reduce(operator.mul, sizes, 1)


def _split_by(sizes: Tuple[int, ...], new: Tuple[int, ...]) -> Optional[Tuple[int, Tuple[int, ...]]]:
    """(which dimension, its parts) where a reshape splits one dimension and does nothing else."""
    if len(new) <= len(sizes):
        return None
    more = len(new) - len(sizes) + 1
    for at, size in enumerate(sizes):
        parts = new[at:at + more]
        if new[:at] == sizes[:at] and new[at + more:] == sizes[at + 1:] and min(parts) > 1 and _product(parts) == size:
            return at, parts
    return None


def _reshaped(jaxpr: Any, known: Dict[Any, int]) -> Iterator[Tuple[int, Tuple[int, ...]]]:
    """(which argument, to which sizes) for each reshape of an argument itself. KNOWN: the variables that are arguments."""
    for equation in jaxpr.eqns:
        given = [known.get(one) if not hasattr(one, "val") else None for one in equation.invars]
        if equation.primitive.name == "reshape" and given[0] is not None:
            yield given[0], tuple(equation.params["new_sizes"])
        if equation.primitive.name == "convert_element_type" and given[0] is not None:
            known[equation.outvars[0]] = given[0]
        for inner in (equation.params.get(name) for name in ("jaxpr", "call_jaxpr")):
            inner = getattr(inner, "jaxpr", inner)  # closed, or not
            if inner is not None and len(inner.invars) == len(given):
                yield from _reshaped(inner, {own: number for own, outer, number in zip(inner.invars, equation.invars, given)
                                             if number is not None and own.aval.shape == outer.aval.shape})


def _programs_splits(traced: Any) -> Iterator[Tuple[Any, int, Tuple[int, ...]]]:
    """(array, dimension, parts) for each argument that the program itself reshapes so."""
    jaxpr = traced.jaxpr.jaxpr
    for number, sizes in _reshaped(jaxpr, {variable: n for n, variable in enumerate(jaxpr.invars)}):
        aval = jaxpr.invars[number].aval
        found = _split_by(aval.shape, sizes)
        if found:
            yield (aval, *found)


def _row_splits(args: Tuple[Any, ...]) -> Iterator[Tuple[Any, int, Tuple[int, ...]]]:
    """Small dimensions whose rows do not fill a tile, and whose parts would: there are tiles of 2 and 4 rows for what has no more."""
    for array in _arrays(args):
        at = len(array.shape) - 2
        if at < 0 or array.shape[at] % _ROWS == 0 or array.shape[at] > _LANES // 2:
            continue
        part = next((part for part in (4, 2) if array.shape[at] % part == 0 and array.shape[at] > part), None)
        if part:
            yield array, at, (array.shape[at] // part, part)


def _splits(traced: Any, args: Tuple[Any, ...]) -> Iterator[Dict[str, Any]]:
    """A dimension of arguments as two or more, with the results that are like them."""
    donated = [bool(one.donated) for one in _array_infos(traced, args)]
    seen = []
    for array, at, parts in sorted([*_programs_splits(traced), *_row_splits(args)], key=lambda found: -_product(found[0].shape)):
        change = {"kind": "split", "what": f"each {_text(array)} with its {array.shape[at]} as {' x '.join(map(str, parts))}",
                  "sizes": list(array.shape), "dtype": str(array.dtype), "at": at, "parts": list(parts),
                  "leaves": [number for number, one in enumerate(donated) if one]}
        if change not in seen:
            seen.append(change)
            yield change


def _array_infos(lowered: Any, args: Tuple[Any, ...]) -> List[Any]:
    """What the program says of each array of its arguments; numbers among them are left out."""
    import jax
    infos, leaves = jax.tree.leaves(lowered.args_info), jax.tree.leaves(args)
    if len(infos) == len(leaves):
        return [info for info, leaf in zip(infos, leaves) if isinstance(leaf, jax.ShapeDtypeStruct)]
    return infos


def _batch(arguments_: Tuple[Any, ...]) -> Iterator[Dict[str, Any]]:
    """The first size of the last argument that is an array is taken for the batch, where the function has weights before it."""
    last = _leaves(arguments_[1:])
    if last and last[-1][0]:
        size = last[-1][0][0]
        if size > 1:
            yield {"kind": "batch", "what": f"a batch of {2 * size} in place of {size}", "from": size, "to": 2 * size, "scale": 2}


def _remat() -> Iterator[Dict[str, Any]]:
    """By what the trace called."""
    if _seen.get("remat"):
        for policy, words in (("nothing_saveable", "saves nothing"), ("dots_saveable", "saves matrix products"),
                              ("everything_saveable", "saves everything (no rematerialization)")):
            yield {"kind": "remat", "what": f"each jax.checkpoint {words}", "remat_policy": policy}
    elif _seen.get("grad"):
        yield {"kind": "remat", "what": "jax.checkpoint round what is differentiated, which saves matrix products",
               "remat_added": "dots_saveable"}
        if _seen.get("scan"):
            yield {"kind": "remat", "what": "jax.checkpoint round the body of each scan", "remat_body": "nothing_saveable"}


def _meshes(sizes: Any) -> Iterator[Dict[str, Any]]:
    """The axes of the mesh with each other's sizes, and all devices on one axis."""
    if not isinstance(sizes, dict) or len(sizes) < 2:
        return
    names, counts = list(sizes), list(sizes.values())
    seen = [counts]
    whole = 1
    for count in counts:
        whole *= count
    for other in (counts[::-1], [whole] + [1] * (len(counts) - 1), [1] * (len(counts) - 1) + [whole]):
        if other not in seen:
            seen.append(other)
            mesh = dict(zip(names, other))
            yield {"kind": "mesh", "what": f"a mesh of {mesh_text(mesh)}", "mesh": mesh}


def _donation(lowered: Any, args: Tuple[Any, ...]) -> Iterator[Dict[str, Any]]:
    """Arguments that a result could lie in: of the same shape and type, each result once."""
    import jax
    given = _array_infos(lowered, args)
    if any(one.donated for one in given):
        return
    free = [(tuple(one.shape), str(one.dtype)) for one in jax.tree.leaves(lowered.out_info)]
    chosen = []
    for index, one in enumerate(given):
        key = (tuple(one.shape), str(one.dtype))
        if key in free and one.shape:
            free.remove(key)
            chosen.append(index)
    if chosen:
        yield {"kind": "donate", "what": f"{len(chosen)} of {len(given)} arrays donated (their results have the same shapes)",
               "leaves": chosen}


def plan(traced: Any, given: Tuple[Any, ...], placed: Any, mesh: Optional[Dict[str, int]]) -> List[Dict[str, Any]]:
    """The changes to try, of a program that was just traced. GIVEN are its arguments as they came, PLACED (child.py) on the devices."""
    leaves, arrays = _leaves(given), (placed.arguments, placed.keywords)
    changes = [*_donation(traced, arrays), *_sizes(leaves), *itertools.islice(_splits(traced, arrays), _MOST_SPLITS)]
    if any(dtype == "float32" and len(sizes) > 1 for sizes, dtype in leaves):
        changes.append({"kind": "bf16", "what": "arguments of float32 as bfloat16"})
    changes += [*_remat(), *_meshes(mesh), *itertools.islice(_axes(arrays), _MOST_AXES), *_batch(given)]
    if _seen.get("scan"):
        changes += [{"kind": "unroll", "what": f"each scan unrolled by {times}", "unroll": times} for times in (2, 4)]
    return changes + [{"kind": "option", "what": f"--{name}={value}", "options": {name: value}} for name, value in OPTIONS]


def place(change: Optional[Dict[str, Any]], sizes: Tuple[int, ...], dtype: str,
          parts: List[List[str]]) -> Tuple[Tuple[int, ...], List[List[str]]]:
    """The sizes of an array and what splits each of them (parts_of), with the change."""
    if not change or list(sizes) != change.get("sizes"):
        return sizes, parts
    if change["kind"] == "axis" and parts == change["parts"]:
        return sizes, change["to"]
    if change["kind"] == "split" and dtype == change["dtype"]:
        at = change["at"]
        new = change["parts"]
        return (*sizes[:at], *new, *sizes[at + 1:]), [*parts[:at + 1], *[[]] * (len(new) - 1), *parts[at + 1:]]
    return sizes, parts


def rearranged(change: Optional[Dict[str, Any]], function: Any, args: Tuple[Any, ...], whole: Tuple[Any, ...],
               keywords: Dict[str, Any]) -> Tuple[Any, Tuple[Any, ...], Dict[str, Any]]:
    """(function, arguments, keywords) of a program whose arrays go in by themselves, where the change wants that. WHOLE are its arguments
    and keywords without the change."""
    if not change or change["kind"] not in ("donate", "split"):
        return function, args, keywords
    called = flat(_joined(change, function, whole) if change["kind"] == "split" else function, args, keywords, change["leaves"])
    return (*called, {})


def _joined(change: Dict[str, Any], function: Any, whole: Tuple[Any, ...]) -> Any:
    """FUNCTION of arguments of which some come with a dimension split; results that are like these go out so."""
    import jax
    sizes, dtype = tuple(change["sizes"]), change["dtype"]
    split, _ = place(change, sizes, dtype, [[]] * len(sizes))

    def is_like(array: Any, wanted: Tuple[int, ...]) -> bool:
        return tuple(getattr(array, "shape", ())) == wanted and str(array.dtype) == dtype

    def joined(*args: Any, **keywords: Any) -> Any:
        args, keywords = jax.tree.map(lambda one, was: one.reshape(sizes) if is_like(was, sizes) else one, (args, keywords), whole)
        return jax.tree.map(lambda one: one.reshape(split) if is_like(one, sizes) else one, function(*args, **keywords))
    return joined


def flat(function: Any, args: Tuple[Any, ...], keywords: Dict[str, Any], donated: List[int]) -> Tuple[Any, Tuple[Any, ...]]:
    """(the function of the arrays in the arguments, one by one, some of them donated; these arrays)"""
    import jax
    leaves, tree = jax.tree.flatten((args, keywords))
    arrays = [index for index, leaf in enumerate(leaves) if isinstance(leaf, jax.ShapeDtypeStruct)]

    def of_arrays(*given: Any) -> Any:
        whole = list(leaves)
        for index, array in zip(arrays, given):
            whole[index] = array
        positional, named = jax.tree.unflatten(tree, whole)
        return function(*positional, **named)
    return jax.jit(of_arrays, donate_argnums=tuple(donated)), tuple(leaves[index] for index in arrays)
