# SPDX-License-Identifier: MIT
"""What HolisticTraceAnalysis 0.5.0 says of the critical path of each step, in microseconds.

    python3 -m venv V && V/bin/pip install HolisticTraceAnalysis==0.5.0 'pandas==2.1.4' 'numpy<2'
    V/bin/python tests/truth/hta_critical_path.py $TS_CORPUS/kineto/X.json.gz ... > tests/data/hta_critical_path.json

tests/analysis/gpu/hta_critical_path_test.c holds ours against the answer. Without pandas 2.1 the tool does
not run. Recorded are four traces in which no call that waits is on our path (without synchronization events in the
trace the tool has no edge behind a wait: docs/analyses/gpu/hta_critical_path.md), and of
tests/data/hand_made_sync.pt.trace.json, which has such events.
"""
import json
import logging
import os
import shutil
import sys
import tempfile

from hta.trace_analysis import TraceAnalysis


def answers(path):
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        analysis = TraceAnalysis(trace_files={0: copy}, trace_dir=folder)
        names = analysis.t.symbol_table.get_sym_table()
        steps = sorted({names[n] for n in analysis.t.get_trace(0).name if names[n].startswith("ProfilerStep")})
        found = {}
        for step in steps:
            graph, good = analysis.critical_path_analysis(rank=0, annotation=step, instance_id=0)
            if not good:
                continue
            edges = graph.critical_path_edges_set
            found[step.split("#")[1]] = {
                "total": float(sum(e.weight for e in edges)),
                "queue_delay": float(sum(e.weight for e in edges if e.type.name == "KERNEL_KERNEL_DELAY")),
            }
        return found


def main():
    logging.disable(logging.CRITICAL)
    said = {os.path.basename(path): answers(path) for path in sys.argv[1:]}
    json.dump(said, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
