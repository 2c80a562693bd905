#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Jobs on GPUs with a planted cause: the first finding names it, and its gain is the difference to the job without it.

Each scene is a function of whether the cause is there. It says the rule, what the finding must say, and how many findings may
have a gain: one cause is one finding.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from gpu_job import Rank, all_reduce

PROGRAM = os.environ.get("TPUSIGHT", "bin/tpusight")
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
GAIN = 0.15  # of the planted gain
LEAST = 0.005  # of the run: less is not told


def forward(rank, nr=20, dur=100, **launch):
    for i in range(nr):
        rank.launch(f"ampere_bf16_gemm_{i % 4}", dur, **launch)


def job(nr_steps, step):
    """A job of one rank: STEP(rank, number)."""
    rank = Rank()
    for number in range(1, nr_steps + 1):
        rank.begin(number)
        step(rank, number)
    return [rank]


def waits_for_input(on):
    def step(rank, _):
        rank.host(LOADER, 800 if on else 20, "cpu_op")
        forward(rank)
        rank.wait()

    return job(10, step)


def asks_for_a_result(on):
    def step(rank, _):
        forward(rank, 10, 30)
        if on:
            rank.wait()
            rank.host("metrics.update", 300)
        forward(rank, 10, 30)
        rank.wait()

    return job(10, step)


def saves(on):
    def step(rank, number):
        forward(rank)
        rank.wait()
        if on and number % 10 == 0:
            rank.host("save_checkpoint", 9000)

    return job(20, step)


def one_slow_kernel(on):
    def step(rank, number):
        for i in range(20):
            rank.launch(f"ampere_bf16_gemm_{i % 4}", 5000 if on and (number, i) == (8, 5) else 100)
        rank.wait()

    return job(20, step)


def collects_garbage(on):
    def step(rank, number):
        forward(rank)
        rank.wait()
        if on and number % 5 == 0:
            rank.pause(3000)

    return job(20, step)


def reduces_in_the_open(on):
    def step(rank, _):
        forward(rank)
        if on:
            rank.launch("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 900, stream=20, after=(7,))
        rank.launch("multi_tensor_apply_kernel", 200, after=(20,) if on else ())
        rank.wait()

    return job(10, step)


def copies_back(on):
    def step(rank, _):
        forward(rank)
        if on:
            rank.launch("Memcpy DtoH (Device -> Pageable)", 1200, category="gpu_memcpy")
        rank.wait()

    return job(10, step)


def copies_aside(on):
    def step(rank, _):
        if on:
            rank.launch("Memcpy HtoD (Pinned -> Device)", 900, stream=21, category="gpu_memcpy")
        forward(rank)
        rank.wait()

    return job(10, step)


def allocates_in_time(on):
    def step(rank, _):
        forward(rank, 10)
        if on:
            rank.call("cudaMalloc", 800)
        forward(rank, 10)
        rank.wait()

    return job(20, step)


def fills_the_queue(on):
    def step(rank, number):
        forward(rank, 60, depth=20)
        if on:
            rank.launch("void at::native::vectorized_elementwise_kernel<4, at::native::relu>", 2000, depth=20)
        if number == 10:
            rank.wait()

    return job(10, step)


def gets_slower(on):
    def step(rank, number):
        forward(rank, 20, 135 if on and number > 20 else 100)
        rank.wait()

    return job(40, step)


def prefetches_beside(on):
    """Another thread works all the time and holds nothing up."""

    def step(rank, _):
        begin = rank.at
        forward(rank)
        rank.wait()
        if on:
            rank.host("write_metrics", 1500)
        rank.event("cpu_op", "prefetch_worker::load", begin, rank.at - begin - 1, tid=9)

    return job(20, step)


def two_ranks(kernel_us, input_us):
    ranks = [Rank(number, 2) for number in range(2)]
    for number in range(1, 11):
        for rank in ranks:
            rank.begin(number)
            if rank.number == 1 and input_us:
                rank.host(LOADER, input_us, "cpu_op")
            forward(rank)
            if rank.number == 1 and kernel_us:
                rank.launch("late_kernel", kernel_us)
        all_reduce(ranks, 200)
        for rank in ranks:
            rank.launch("multi_tensor_apply_kernel", 100, after=(20,))
            rank.wait()
    return ranks


def a_rank_has_more_to_run(on):
    return two_ranks(600 if on else 0, 0)


def a_rank_has_to_load(on):
    return two_ranks(0, 700 if on else 0)


# The scene; what leads, and what it says. None: nothing is to be had.
SCENES = [
    (waits_for_input, "input_bound", r"DataLoader"),
    (asks_for_a_result, "idle", r"metrics\.update"),
    (saves, "idle", r"save_checkpoint"),
    (one_slow_kernel, "slow_steps", r"Step 8 .*ampere_bf16_gemm_1 takes"),
    (collects_garbage, "idle", r"are idle 24 % of the time .* no host event finer than ProfilerStep#"),
    (reduces_in_the_open, "exposed_collectives", r"AllReduce"),
    (copies_back, "host_copies", r"DtoH"),
    (copies_aside, None, None),
    (allocates_in_time, None, None),
    (fills_the_queue, "torch_unfused", r"vectorized_elementwise"),
    (gets_slower, "slowdown", r"35 % longer from step 21"),
    (prefetches_beside, "idle", r"write_metrics"),
    (a_rank_has_more_to_run, "straggler", r"late_kernel"),
    (a_rank_has_to_load, "input_bound", r"DataLoader"),
]


def run(scene, on, folder):
    return max(rank.write(folder) for rank in scene(on))


def findings_of(folder):
    ran = subprocess.run([PROGRAM, "report", "--json", str(folder)], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)["doctor"]["findings"]


def check(scene, rule, says):
    with tempfile.TemporaryDirectory(prefix="with") as with_it, tempfile.TemporaryDirectory(prefix="without") as without:
        length = run(scene, True, pathlib.Path(with_it))
        gain = length - run(scene, False, pathlib.Path(without))
        findings = [found for found in findings_of(with_it) if (found["gain_ps"] or 0) > LEAST * length * 1e6]
    total = sum(found["gain_ps"] for found in findings) / 1e6
    if total > length:
        return f"gains add up to {total:.0f} us of {length:.0f}"
    if rule is None:
        return f"{findings[0]['rule']} where nothing is to be had" if findings else None
    if not findings:
        return "no finding"
    told = findings[0]["title"] + " " + findings[0]["evidence"]
    if findings[0]["rule"] != rule or not re.search(says, told):
        return f"{findings[0]['rule']}: {told}"
    if abs(findings[0]["gain_ps"] / 1e6 - gain) > GAIN * gain:
        return f"gain {findings[0]['gain_ps'] / 1e6:.0f} us, planted {gain:.0f}"
    return None


def main():
    wrong = {scene.__name__: said for scene, rule, says in SCENES if (said := check(scene, rule, says))}
    for name, said in wrong.items():
        print(f"{name}: {said}")
    print(f"{len(SCENES) - len(wrong)} of {len(SCENES)} jobs are told as planted")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
