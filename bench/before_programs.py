#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judges the programs of before_models.py for three chips each, without a TPU, and holds the peak against libtpu's own.

before_programs.py [WORD...]: those whose names have a WORD; a line each, and at the end how many are within 1 %. It needs jax and
libtpu; $TPUSIGHT names the program. libtpu's own is peak_memory_in_bytes of memory_analysis(): what is there all the time, and the
largest of three heaps (docs/analyses/capacity/capacity.md). Ours is the same of the report, where the schedule is walked.
"""
import os
import sys
import time
from typing import List, NamedTuple, Tuple

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plugin")]

from tpusight import TpusightError  # noqa: E402
from tpusight.aot import Before, compiled, program_of  # noqa: E402

TOPOLOGIES = ("v5e:2x2", "v5p:2x2x1", "v6e:2x2")
WITHIN_PCT = 1.0


class Row(NamedTuple):
    name: str
    topology: str
    ours: int
    libtpu: int
    step_ps: float
    compile_s: float
    held: int  # of HBM, by the walk
    libtpu_held: int

    @property
    def off_pct(self) -> float:
        return 100 * (self.ours / self.libtpu - 1)


def held(result: Before) -> Tuple[int, int]:
    """Of HBM alone: the walk's, which knows no gaps between buffers, and libtpu's."""
    return result.report["capacity"]["peak_bytes"], result.peak_bytes or 0


def row(result: Before) -> Row:
    prediction = result.report.get("prediction") or {}
    assert result.walk
    return Row(result.name, result.topology, int(result.walk["peak_bytes"]), int(result.walk["libtpu_peak_bytes"]),
               prediction.get("step_ps") or float("nan"), result.facts["compile_seconds"], *held(result))


def judged(model: object, topologies=TOPOLOGIES) -> List[Row]:
    packed = program_of(model.function, model.arguments, {}, model.shardings, model.mesh, model.jit)
    return [row(result) for result in compiled(packed, model.name, topologies)]


def main(words: List[str]) -> int:
    import before_models
    rows, begin = [], time.monotonic()
    print("program\ttopology\tpeak\tlibtpu's\toff %\tstep us\tcompile s\tof HBM\tlibtpu's")
    for model in before_models.PROGRAMS:
        if words and not any(word in model.name for word in words):
            continue
        try:
            for one in judged(model):
                rows.append(one)
                print(one.name, one.topology, one.ours, one.libtpu, f"{one.off_pct:+.3f}", f"{one.step_ps / 1e6:.1f}",
                      f"{one.compile_s:.1f}", one.held, one.libtpu_held, sep="\t", flush=True)
        except TpusightError as e:
            print(f"{model.name}: {e}", file=sys.stderr, flush=True)
    near = sum(abs(one.off_pct) <= WITHIN_PCT for one in rows)
    print(f"{len({one.name for one in rows})} programs, {len(rows)} compiled in {time.monotonic() - begin:.0f} s, "
          f"peaks within {WITHIN_PCT:g} %: {near}")
    return int(near != len(rows) or not rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
