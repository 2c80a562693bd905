# SPDX-License-Identifier: MIT
"""What torch_tb_profiler 0.4.3 says of the steps of traces: time by class, in microseconds.

    python3 -m venv V && V/bin/pip install torch-tb-profiler==0.4.3
    V/bin/python tests/truth/torch_steps.py $TS_CORPUS/kineto/*.json.gz > tests/data/torch_steps.json

tests/analysis/gpu/timeline_test.c holds our steps against the answer.

The tool was last changed when traces had other words, and does not know today's: it takes no call of
the runtime for one, and so no kernel for launched by a step; ranges on devices count as steps once
more. So each trace is put into the words it knows, and not otherwise changed:
  - categories cuda_runtime and cuda_driver are Runtime;
  - ranges on devices (gpu_user_annotation) are left out;
  - DataLoader's ranges are operators, as they were;
  - kernels of NCCL have the id of an operator that is a collective (today's have none, or the
    launch's); nccl:all_to_all is one more collective;
  - times count from the trace's first event: as doubles since the epoch they are coarse.
"""
import gzip
import json
import logging
import os
import sys
from decimal import Decimal

from torch_tb_profiler.profiler import event_parser, trace
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.overall_parser import OverallParser

LATER_COLLECTIVES = ["nccl:all_to_all"]


def read(path):
    with gzip.open(path) as file:
        text = file.read().decode("utf-8", "replace")
    return json.loads(text, strict=False, parse_float=Decimal)


def collective_id(events):
    for event in events:
        if event.get("cat") == "user_annotation" and event["name"] in trace.NcclOpNameSet:
            return event["args"].get("External id")
    return None


def adapt(event, first, collective):
    event = dict(event, ts=float(event["ts"] - first), dur=float(event.get("dur", 0)))
    if event["cat"] in ("cuda_runtime", "cuda_driver"):
        event["cat"] = "Runtime"
    if event["name"].startswith("enumerate(DataLoader)#"):
        event["cat"] = "cpu_op"
    is_nccl = event["name"].startswith(("nccl", "rccl"))
    if event["cat"] == "kernel" and is_nccl and collective is not None:
        event["args"] = dict(event["args"], **{"External id": collective})
    return event


def steps_of(path):
    document = read(path)
    events = [event for event in document["traceEvents"]
              if event.get("ph") == "X" and event.get("cat") != "gpu_user_annotation"]
    first = min(event["ts"] for event in events if event["cat"] != "Trace")
    collective = collective_id(events)
    document["traceEvents"] = [adapt(event, first, collective) for event in events]
    run = RunProfileData("worker", "span", document)
    parser = event_parser.EventParser()
    parser.parse(run.events, run.forward_backward_events)
    overall = OverallParser()
    overall.aggregate(parser.steps, parser.role_ranges)
    names = [role.name for role in event_parser.ProfileRole]
    return [{"step": int(name), **{role: round(cost, 3) for role, cost in zip(names, step.costs)}}
            for name, step in zip(parser.steps_names, overall.steps_costs)]


def main():
    logging.disable(logging.CRITICAL)
    trace.NcclOpNameSet.extend(LATER_COLLECTIVES)
    answer = {os.path.basename(path): steps_of(path) for path in sys.argv[1:]}
    lines = []
    for name, steps in answer.items():
        rows = ",\n".join("    " + json.dumps(step) for step in steps)
        lines.append(f"  {json.dumps(name)}: [\n{rows}\n  ]")
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
