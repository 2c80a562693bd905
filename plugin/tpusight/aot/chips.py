# SPDX-License-Identifier: Apache-2.0
"""Slices of TPUs by name, as libtpu writes them ("v5e:2x4"): which there are, and which was meant."""
import difflib
import re
from typing import Dict, List, NamedTuple, Tuple

from .._program import TpusightError

_FLAT = ("1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
_SOLID = ("2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8", "8x8x16", "8x16x16")
#: The slices that Google Cloud rents, by chip. libtpu takes others too; these are what a mistake is answered with.
KNOWN: Dict[str, Tuple[str, ...]] = {
    "v3": ("2x2", "4x4", "4x8", "8x8", "8x16", "16x16", "16x32", "32x32"),
    "v4": _SOLID, "v5e": _FLAT, "v5p": _SOLID, "v6e": _FLAT, "tpu7x": _SOLID,
}
#: Other names that people give the chips.
_NAMES = {"v7x": "tpu7x", "7x": "tpu7x", "ironwood": "tpu7x", "v5litepod": "v5e", "v5lite": "v5e", "v6lite": "v6e", "trillium": "v6e"}
_PER_HOST = 2  # chips along an edge of a host, in each of the first two directions


class Topology(NamedTuple):
    """NAME is libtpu's; CHIP is the one of the table of chips (`tpusight hlo --chip`)."""
    name: str
    chip: str
    sizes: Tuple[int, ...]

    @property
    def chips(self) -> int:
        count = 1
        for size in self.sizes:
            count *= size
        return count

    @property
    def options(self) -> Dict[str, object]:
        """What libtpu must be told beside the name: a slice that is smaller than a host's four chips has its own bounds."""
        if 1 not in self.sizes[:2]:
            return {}
        return {"chips_per_host_bounds": [*(min(size, _PER_HOST) for size in self.sizes[:2]), 1]}


def names() -> List[str]:
    """All that KNOWN has."""
    return [f"{chip}:{size}" for chip, sizes in KNOWN.items() for size in sizes]


def unknown(text: str, why: str = "") -> TpusightError:
    """The error for a slice that does not exist: those that do, the nearest first."""
    chip = text.lower().partition(":")[0]
    chip = _NAMES.get(chip, chip)
    near = difflib.get_close_matches(text.lower(), names(), 1, 0.7)
    if chip in KNOWN:
        hint = f"{chip} has {', '.join(KNOWN[chip])}"
    else:
        hint = f"the chips are {', '.join(KNOWN)}, each with sizes as {chip_example()}"
    meant = f"did you mean {near[0]}? " if near else ""
    return TpusightError(f"{text} is not a TPU topology{': ' + why if why else ''} ({meant}{hint})")


def chip_example() -> str:
    return "v5e:2x4 and v5p:2x2x1"


def parse(text: str) -> Topology:
    """The Topology of "v5e:2x4"; TpusightError says what is meant instead. Whether libtpu has the size, it says itself."""
    found = re.fullmatch(r"([a-z0-9]+):(\d+(?:x\d+){1,2})", text.strip().lower())
    if not found:
        raise unknown(text, "" if ":" in text else "it needs a size")
    chip = _NAMES.get(found.group(1), found.group(1))
    if chip not in KNOWN:
        raise unknown(text)
    sizes = tuple(map(int, found.group(2).split("x")))
    wanted = KNOWN[chip][0].count("x") + 1
    if len(sizes) != wanted:
        raise unknown(text, f"{chip} has {wanted} directions")
    return Topology(f"{chip}:{found.group(2)}", "v7x" if chip == "tpu7x" else chip, sizes)
