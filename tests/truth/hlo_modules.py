#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `tpusight hlo` against what libtpu itself reports of the same modules.

hlo_modules.py TPUSIGHT HLO_DIR LIBTPU_MODULES.json: parameter_bytes = argument_size and output_bytes =
output_size (less the tuple's pointer table, which the profile's layout does not have) exactly; FLOPs within
1 % for all but two.
"""
import json
import os
import subprocess
import sys

POINTER_TABLE = {"v3": 1024, "v5e": 512, "v5p": 32, "v6e": 32, "v7x": 32, "tpu7x": 32}


def report(tpusight, path):
    run = subprocess.run([tpusight, "hlo", "--format=json", path], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["modules"][0]


def main(tpusight, folder, truth_path):
    truth = json.load(open(truth_path))
    bytes_exact, flops_close = 0, 0
    for name, theirs in sorted(truth.items()):
        ours = report(tpusight, os.path.join(folder, name + ".hlo_proto.pb"))
        table = POINTER_TABLE[theirs["chip"].split(":")[0]]
        output_fits = ours["output_bytes"] in (theirs["output_size"], theirs["output_size"] - table)
        exact = ours["parameter_bytes"] == theirs["argument_size"] and output_fits
        bytes_exact += exact
        if theirs["flops"]:
            ratio = (ours["flops"] or 0) / theirs["flops"]
            flops_close += abs(ratio - 1) <= 0.01
        print(f"{name:12} bytes {'exact' if exact else 'DIFFER'}  flops {ratio:8.5f}  "
              f"bytes accessed {ours['bytes_accessed'] / theirs['bytes_accessed']:8.5f}")
    print(f"bytes exact {bytes_exact} of {len(truth)}, flops within 1 % {flops_close} of {len(truth)}")
    return not (bytes_exact == len(truth) and flops_close >= len(truth) - 2)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
