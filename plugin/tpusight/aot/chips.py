# SPDX-License-Identifier: MIT
"""Slices of TPUs by name, as libtpu writes them ("v5e:2x4"): which there are, and which was meant. In front of one stands how many of them
the data centre's network joins ("2xv5e:4x4")."""
import difflib
import re
from typing import Dict, List, NamedTuple, Tuple

from .._program import TpusightError

_FLAT = ("1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
_SOLID = ("2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "8x8x8", "8x8x16", "8x16x16")
#: The slices that Google Cloud rents, by chip. libtpu takes others too; these are what a mistake is answered with.
KNOWN: Dict[str, Tuple[str, ...]] = {
    "v2": ("2x2", "4x4", "4x8", "8x8", "8x16", "16x16"),
    "v3": ("2x2", "4x4", "4x8", "8x8", "8x16", "16x16", "16x32", "32x32"),
    "v4": _SOLID, "v5e": _FLAT, "v5p": _SOLID, "v6e": _FLAT, "tpu7x": _SOLID,
}
#: Other names that people give the chips.
_NAMES = {"v7x": "tpu7x", "7x": "tpu7x", "ironwood": "tpu7x", "v5litepod": "v5e", "v5lite": "v5e", "v6lite": "v6e", "trillium": "v6e"}
_PER_HOST = 2  # chips along an edge of a host, in each of the first two directions


class Topology(NamedTuple):
    """NAME is as it is written, with libtpu's name of the chip; CHIP is the one of the table of chips (`tpusight hlo --chip`); SIZES are of
    one of its SLICES."""
    name: str
    chip: str
    sizes: Tuple[int, ...]
    slices: int = 1

    @property
    def chips(self) -> int:
        count = self.slices
        for size in self.sizes:
            count *= size
        return count

    @property
    def devices(self) -> int:
        """As jax counts them: v2, v3 and v7x have two a chip."""
        return self.chips * (2 if self.chip in ("v2", "v3", "v7x") else 1)

    @property
    def slice_name(self) -> str:
        """libtpu's name of one slice."""
        return self.name[self.name.index("x") + 1:] if self.slices > 1 else self.name

    @property
    def options(self) -> Dict[str, object]:
        """What libtpu must be told beside the name: a slice that is smaller than a host's four chips has its own bounds; the two cores of
        a v4 are one device, as they are where jax runs."""
        found: Dict[str, object] = {}
        if 1 in self.sizes[:2]:
            found["chips_per_host_bounds"] = [*(min(size, _PER_HOST) for size in self.sizes[:2]), 1]
        if self.slices > 1:
            found["num_slices"] = self.slices
        if self.chip == "v4":
            found["chip_config_name"] = "megacore"
        return found


def names() -> List[str]:
    """All that KNOWN has."""
    return [f"{chip}:{size}" for chip, sizes in KNOWN.items() for size in sizes]


def unknown(text: str, why: str = "") -> TpusightError:
    """The error for a slice that does not exist: those that do, the nearest first."""
    chip = re.sub(r"^\d+x", "", text.lower().partition(":")[0])
    chip = _NAMES.get(chip, chip)
    near = difflib.get_close_matches(text.lower(), names(), 1, 0.7)
    if chip in KNOWN:
        hint = f"{chip} has {', '.join(KNOWN[chip])}"
    else:
        hint = f"the chips are {', '.join(KNOWN)} (also v7x), each with sizes as {chip_example()}"
    meant = f"did you mean {near[0]}? " if near else ""
    return TpusightError(f"{text} is not a TPU topology{': ' + why if why else ''} ({meant}{hint})")


def chip_example() -> str:
    return "v5e:2x4 and v5p:2x2x1"


def parse(text: str) -> Topology:
    """The Topology of "v5e:2x4"; TpusightError says what is meant instead. Whether libtpu has the size, it says itself."""
    found = re.fullmatch(r"(?:([1-9]\d{0,3})x)?([a-z0-9]+):(\d+(?:x\d+){1,2})", text.strip().lower())
    if not found:
        raise unknown(text, "" if ":" in text else "it needs a size")
    chip = _NAMES.get(found.group(2), found.group(2))
    if chip not in KNOWN:
        raise unknown(text)
    slices, sizes = int(found.group(1) or 1), tuple(map(int, found.group(3).split("x")))
    wanted = KNOWN[chip][0].count("x") + 1
    if len(sizes) != wanted:
        raise unknown(text, f"{chip} has {wanted} directions")
    name = f"{chip}:{found.group(3)}"
    return Topology(f"{slices}x{name}" if slices > 1 else name, "v7x" if chip == "tpu7x" else chip, sizes, slices)
