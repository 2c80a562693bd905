#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `tpusight hlo --view capacity` against what libtpu itself reports of the same modules.

capacity.py TPUSIGHT HLO_DIR LIBTPU_MODULES.json: argument_bytes = argument_size, output_bytes = output_size (less
the tuple's pointer table) and alias_bytes = alias_size exactly; and the peak.

libtpu's peak counts arguments, results and constants all the time and adds the larger of two heaps: the temporaries
in HBM, and what is in VMEM and its like. It is met to the byte but for the two modules with a loop, by one scalar of
512 bytes. temp_size differs from what is alive at once by the gaps and the alignment of the heap.
"""
import json
import os
import subprocess
import sys

POINTER_TABLE = {"v3": 1024, "v5e": 512, "v5p": 32, "v6e": 32, "v7x": 32, "tpu7x": 32}


def main(tpusight, folder, truth_path):
    truth = json.load(open(truth_path))
    sizes_exact, peaks_exact, worst, worst_temp = 0, 0, 0, 0
    for name, theirs in sorted(truth.items()):
        run = subprocess.run([tpusight, "hlo", "--format=json", "--view=capacity",
                              os.path.join(folder, name + ".hlo_proto.pb")], capture_output=True, text=True, check=True)
        ours = json.loads(run.stdout)["capacity"]["modules"][0]
        table = POINTER_TABLE[theirs["chip"].split(":")[0]]
        tables = theirs["output_size"] - ours["output_bytes"]
        sizes = (ours["argument_bytes"] == theirs["argument_size"] and tables in (0, table) and
                 ours["alias_bytes"] == theirs["alias_size"])
        always = ours["argument_bytes"] + ours["output_bytes"] - ours["alias_bytes"] + ours["constant_bytes"]
        peak = always + tables + max(ours["temp_bytes"], ours["onchip_peak_bytes"])
        error = peak - theirs["peak"]
        temp_error = abs(ours["temp_bytes"] - theirs["temp_size"]) / theirs["peak"]
        sizes_exact += sizes
        peaks_exact += error == 0
        worst = max(worst, abs(error) / theirs["peak"])
        worst_temp = max(worst_temp, temp_error)
        print(f"{name:12} sizes {'exact' if sizes else 'DIFFER'}  peak {error:+6d} of {theirs['peak']}  "
              f"temp {ours['temp_bytes']} ({theirs['temp_size']})")
    print(f"sizes exact {sizes_exact}, peaks exact {peaks_exact} of {len(truth)}, largest error {worst:.4%}; "
          f"of the temporaries {worst_temp:.3%} of the peak")
    return not (sizes_exact == len(truth) and peaks_exact >= len(truth) - 4 and worst < 0.001 and worst_temp < 0.01)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
