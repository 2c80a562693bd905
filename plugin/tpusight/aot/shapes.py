# SPDX-License-Identifier: MIT
"""Arrays in words: "bf16[8192,4096]", "f32[1024@data,512@model]", and trees of them in JSON.

A size has behind it the axis of the mesh that it is split along, or several: "[1024@data+model,512]".
"""
import json
import re
from typing import Any, List, Mapping, NamedTuple, Tuple

from .._program import TpusightError
from . import shardings
from .shardings import Axes

_TYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "f64": "float64", "s8": "int8", "s16": "int16", "s32": "int32",
          "s64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "pred": "bool", "s4": "int4", "u4": "uint4",
          "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "c64": "complex64"}
_NAMES = {**_TYPES, **{name: name for name in _TYPES.values()}}


class Shape(NamedTuple):
    """An array that is not there. AXES: the axes of the mesh, for each dimension; None: it is not split. MEMORY: shardings.HOST, or ""."""
    sizes: Tuple[int, ...]
    dtype: str
    axes: Axes = None
    memory: str = ""


def shape_of(array: Any) -> Shape:
    """The Shape of an array of numpy or jax, or of a jax.ShapeDtypeStruct."""
    sharding = getattr(array, "sharding", None)
    return Shape(tuple(map(int, array.shape)), str(array.dtype), shardings.axes_of(sharding), shardings.memory_of(sharding))


def _wrong(text: str) -> TpusightError:
    return TpusightError(f"{text} is not a shape (as bf16[8192,4096], or f32[1024@data,512] where a mesh has the axis data)")


def shape(text: str) -> Shape:
    """The Shape of one such text."""
    found = re.fullmatch(r"\s*(\w+)\s*\[([^\]]*)\]\s*", text)
    dtype = _NAMES.get(found.group(1)) if found else None
    if not found or not dtype:
        raise _wrong(text)
    sizes, axes = [], []
    for part in filter(None, (part.strip() for part in found.group(2).split(","))):
        one = re.fullmatch(r"(\d+)(?:@(\w+(?:\+\w+)*))?", part)
        if not one:
            raise _wrong(text)
        sizes.append(int(one.group(1)))
        axes.append(tuple((one.group(2) or "").split("+")) if one.group(2) else ())
    return Shape(tuple(sizes), dtype, tuple(axes) if any(axes) else None)


def _tree(value: Any) -> Any:
    if isinstance(value, str):
        return shape(value)
    if isinstance(value, dict):
        return {key: _tree(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_tree(part) for part in value]
    return value


def argument(text: str) -> Any:
    """One argument of a function: a shape, or JSON with shapes in place of its arrays. Numbers stay what they are."""
    if text.lstrip()[:1] not in ("{", "["):
        return shape(text)
    try:
        return _tree(json.loads(text))
    except ValueError as e:
        raise TpusightError(f"{text} is neither a shape nor JSON with shapes in it: {e}") from e


def arguments(texts: List[str]) -> Tuple[Any, ...]:
    """Several; a text may have several of them with a semicolon between two."""
    return tuple(argument(part) for text in texts for part in text.split(";") if part.strip())


def specs(texts: List[str]) -> Tuple[Any, ...]:
    """How each argument is split: "data,-" has an axis of the mesh, several as "data+model", or none, for each size; a tree is JSON; ""
    is as the argument itself says. A text may have several of them with a semicolon between two."""
    found: List[Any] = []
    for part in (part.strip() for text in texts for part in text.split(";")):
        try:
            found.append(json.loads(part) if part[:1] in ("{", "[") else part or None)
        except ValueError as e:
            raise TpusightError(f"{part} is neither a split of an argument (as data,-) nor JSON with such in it: {e}") from e
    return tuple(found)


def mesh(text: str) -> "dict[str, int]":
    """{"data": 4, "model": 2} of "data=4,model=2"; -1 is what is left of the devices."""
    found = re.fullmatch(r"\s*\w+=-?\d+(\s*,\s*\w+=-?\d+)*\s*", text)
    if not found:
        raise TpusightError(f"{text} is not a mesh (as data=4,model=2; -1 is what is left of the devices)")
    return {name.strip(): int(size) for name, size in (part.split("=") for part in text.split(","))}


def mesh_text(sizes: Mapping[str, int]) -> str:
    """ "data=4, model=2", which mesh() takes."""
    return ", ".join(f"{name}={size}" for name, size in sizes.items())
