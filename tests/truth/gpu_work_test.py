#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What operators and kernels of GPU traces have to do, against TraceLens' own reports and against planted traces.

$TS_CORPUS names the folder of traces (default: ../shared/corpus beside the sources), $TS_REVIEW that of the planted ones (default:
../shared/review/gpu); what is not there is left out, and without any of it this skips. tracelens/*.expect.json has TraceLens' rows of
operators and shapes: FLOPs of products, convolutions and attention (whole, as it was not causal there) and bytes of what is compared
here agree within 2 %, but for what the corpus' README says of TraceLens.
"""
import json
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("srcdir", ".")).resolve()
CORPUS = pathlib.Path(os.environ.get("TS_CORPUS", TOP / "../shared/corpus"))
PLANTED = pathlib.Path(os.environ.get("TS_REVIEW", TOP / "../shared/review/gpu"))
PROGRAM = os.environ.get("TPUSIGHT", "bin/tpusight")

MATRIX = {"GEMM", "CONV_fwd", "CONV_bwd", "SDPA_fwd", "SDPA_bwd"}
SIZED = MATRIX | {"RMSNorm_fwd", "RoPE_fwd", "BinaryElementwise", "Normalization"}
WITHIN = 0.02
# Mean and variance are by row, and TraceLens counts them by channel; small norms differ. A gradient that nobody wants is not computed.
NOT_COMPARED = {
    "aten::native_layer_norm", "aten::layer_norm", "aten::native_layer_norm_backward", "aten::instance_norm",
    "aten::miopen_batch_norm_backward",
}
NO_GRADIENT_OF_INPUT = [10, 3, 224, 224]
# Of the time in which a device runs, what neither work nor name explains.
UNEXPLAINED = {"mi300_vllm_decode": 0.5, "mi300_sglang_prefill": 0.5}
RUNNING = ("compute", "below_roofline", "memory_wait", "communication", "host_transfer", "rematerialization", "unexplained")
failures = []


def fail(*what):
    failures.append(" ".join(map(str, what)))
    print("FAIL:", *what)


def report(path, *words):
    run = subprocess.run([PROGRAM, "report", "-q", "--json", *words, str(path)], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"FAIL: {path}: {run.stderr}")
    return json.loads(run.stdout)


def rows_of(tree):
    return {(row["name"], json.dumps(json.loads(row["input_shapes"]))): row for row in tree["operators"]["by_shape"]
            if row["input_shapes"] != "others"}


def same(ours, theirs, within):
    return ours is not None and abs(ours - theirs) <= within * abs(theirs)


def trace_of(name):
    for path in (CORPUS / f"tracelens/{name}.json.gz", CORPUS / f"kineto/tracelens_{name}.json.gz"):
        if path.exists():
            return path
    return None


def check_row(name, row, ours):
    where = (name, row["operator"], row["input_dims"])
    shapes = json.loads(row["input_dims"])
    if row["family"] in MATRIX and NO_GRADIENT_OF_INPUT not in shapes[1:2]:
        if not same(ours["flops_dense"] and ours["flops_dense"] / ours["calls"], row["gflop_per_call"] * 1e9, WITHIN):
            fail(*where, "FLOPs", ours["flops_dense"], "of", ours["calls"], "calls; TraceLens:", row["gflop_per_call"])
    if row["family"] in SIZED and row["operator"] not in NOT_COMPARED and NO_GRADIENT_OF_INPUT not in shapes[1:2]:
        if not same(ours["bytes"] and ours["bytes"] / ours["calls"], row["mib_per_call"] * 2**20, WITHIN):
            fail(*where, "bytes", ours["bytes"], "of", ours["calls"], "calls; TraceLens MiB:", row["mib_per_call"])


def check_classes(name, tree):
    buckets = tree["time"]["buckets"]
    running = {part: buckets[f"{part}_ps"] or 0 for part in RUNNING}
    share = running["unexplained"] / max(sum(running.values()), 1)
    if share > UNEXPLAINED.get(name, 0.3):
        fail(name, f"{100 * share:.1f} % of the running time is unexplained")
    total = sum(value for value in buckets.values() if isinstance(value, int)) if isinstance(buckets, dict) else 0
    if not total:
        fail(name, "has no time classes")


def check_traces():
    nr = 0
    for expected in sorted((CORPUS / "tracelens").glob("*.expect.json")):
        name = expected.name[:-len(".expect.json")]
        path = trace_of(name)
        if not path:
            continue
        tree = report(path)
        check_classes(name, tree)
        rows = rows_of(tree) if (tree.get("operators") or {}).get("by_shape") else {}
        for row in json.loads(expected.read_text()).get("operators", []):
            ours = rows.get((row["operator"], json.dumps(json.loads(row["input_dims"]))))
            # a row of two types is one of ours
            if ours and ours["dtype"] != "mixed" and row["family"] in SIZED:
                check_row(name, row, ours)
                nr += 1
        if name == "mi300_resnet_act_checkpoint" and not same(tree["remat"]["time_ps"], 4122223000, 0.001):
            fail(name, "recomputes", tree["remat"]["time_ps"], "ps")
    return nr


def check_planted():
    nr = 0
    families = PLANTED / "inputs/op_families.pt.trace.json"
    if families.exists():
        rows = rows_of(report(families))
        for row in json.loads((PLANTED / "inputs/op_families.expect.json").read_text()):
            ours = rows[row["operator"], json.dumps(json.loads(row["input_dims"]))]
            if row["flops"] and not same(ours["flops"], row["flops"], WITHIN):
                fail("op_families", row["operator"], "FLOPs", ours["flops"], "not", row["flops"])
            if not same(ours["bytes"], row["bytes"], 0.15):
                fail("op_families", row["operator"], "bytes", ours["bytes"], "not", row["bytes"])
            nr += 1
    again = PLANTED / "inputs/recompute_checkpoint.pt.trace.json"
    if again.exists():
        tree = report(again)
        if not same(tree["remat"]["time_ps"], 920000000, 0.01):
            fail("recompute_checkpoint: computed again", tree["remat"]["time_ps"])
        if not same(tree["time"]["buckets"]["rematerialization_ps"], 920000000, 0.01):
            fail("recompute_checkpoint: class", tree["time"]["buckets"]["rematerialization_ps"])
        nr += 1
    return nr


def main():
    nr = check_traces() + check_planted()
    if nr == 0:
        print("SKIP: neither the corpus nor the planted traces are here (TS_CORPUS, TS_REVIEW)")
        return 77
    print(f"{nr} rows were compared, {len(failures)} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
