#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the files of map and reduce hold: states.py FILE...

Prints a table for each file that `tpusight map` or `tpusight reduce` wrote (docs/map.md): its sections, and of the states of a file those
of each analysis, with their number, their saved bytes, and these packed by themselves. Together they pack a little better or worse.
"""
import gzip
import os
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "fixtures"))
from wire import fields

FIELD_KIND, FIELD_SECTION = 1, 3
SECTION_PACKED = 3
SECTIONS = {b"tpusight/outline/1": ("profile", "lines"), b"tpusight/run/1": ("options", "profile", "outline", "damage"),
            b"tpusight/states/1": ("first pass", "interleaved pass", "second pass", "damage"),
            b"tpusight/results/1": ("options", "profile", "outline", "damage", "results"),
            b"tpusight/tracks/1": ("overlay's pass", "tracks")}
FIELD_STATE, STATE_NAME, STATE_SAVED = 1, 1, 2


def named(message):
    """The value of each field by its number; of several the last."""
    return {number: value for number, _, value in fields(message)}


def states_of(section):
    """The saved bytes of each analysis' states."""
    states = {}
    for number, _, message in fields(section):
        state = named(message) if number == FIELD_STATE else {}
        if isinstance(state.get(STATE_NAME), bytes):
            states.setdefault(state[STATE_NAME].decode(), []).append(state.get(STATE_SAVED, b""))
    return sorted(states.items(), key=lambda item: -sum(map(len, item[1])))


def show(path):
    with open(path, "rb") as f:
        whole = f.read()
    kind = named(whole)[FIELD_KIND]
    if kind not in SECTIONS:
        sys.exit(f"{path}: not a file of map or reduce")
    print(f"{path}: {kind.decode()}, {len(whole)} bytes")
    print(f"  {'':24} {'states':>7} {'saved':>10} {'packed':>10}")
    for name, section in zip(SECTIONS[kind], (value for number, _, value in fields(whole) if number == FIELD_SECTION)):
        packed = named(section)[SECTION_PACKED]
        saved = gzip.decompress(packed)
        print(f"  {name:24} {'':>7} {len(saved):10} {len(packed):10}")
        for analysis, states in states_of(saved) if name.endswith("pass") else ():
            own = b"".join(states)
            print(f"    {analysis:22} {len(states):7} {len(own):10} {len(zlib.compress(own, 1)):10}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for path in sys.argv[1:]:
        show(path)


if __name__ == "__main__":
    main()
