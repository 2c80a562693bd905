#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A job on GPUs that is simulated, and written as PyTorch's profiler writes it: threads call, streams run. Times are in us."""
import json

LAUNCH_US = 5
LATENCY_US = 4


class Rank:
    def __init__(self, number=0, world=1):
        self.number = number
        self.world = world
        self.events = []
        self.at = 1000.0
        self.free = {}  # by stream: when it is done with all that was launched
        self.starts = {}
        self.nr_calls = 0
        self.step = None
        self.first = None

    def event(self, category, name, start, dur, tid=1, pid=1, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": dur, "args": args})

    def begin(self, number):
        """A step, which ends when the next one begins."""
        self.end()
        self.step = (number, self.at)
        self.first = self.at if self.first is None else self.first

    def end(self):
        if self.step:
            self.event("user_annotation", f"ProfilerStep#{self.step[0]}", self.step[1], self.at - self.step[1])
        self.step = None

    def host(self, name, dur, category="user_annotation"):
        self.event(category, name, self.at, dur)
        self.at += dur

    def pause(self, dur):
        """Of which no event says anything."""
        self.at += dur

    def call(self, name, dur):
        self.nr_calls += 1
        self.event("cuda_runtime", name, self.at, dur, correlation=self.nr_calls)
        self.at += dur
        return self.nr_calls

    def ready(self, stream, after=()):
        """When what is launched now would begin."""
        return max([self.at + LAUNCH_US + LATENCY_US] + [self.free.get(of, 0) + 1 for of in (stream, *after)])

    def full_until(self, stream, depth):
        waiting = sorted(start for start in self.starts.get(stream, []) if start > self.at)
        return waiting[-depth] if depth and len(waiting) >= depth else 0

    def launch(self, name, dur, stream=7, after=(), depth=None, category="kernel", **args):
        """AFTER: streams that it waits for; DEPTH: of the queue, behind which the call waits. Gives the kernel's end."""
        cost = max(LAUNCH_US, self.full_until(stream, depth) - self.at + 1)
        start = max(self.ready(stream, after), self.at + cost + LATENCY_US)
        link = self.call("cudaMemcpyAsync" if category == "gpu_memcpy" else "cudaLaunchKernel", cost)
        self.event(category, name, start, dur, tid=stream, pid=0, device=0, stream=stream, correlation=link, **args)
        self.free[stream] = start + dur
        self.starts.setdefault(stream, []).append(start)
        return start + dur

    def wait(self, stream=7):
        self.call("cudaStreamSynchronize", max(self.free[stream] + 3 - self.at, 2))

    def write(self, folder):
        """Gives how long the run took."""
        self.end()
        gpu = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85 * 10**9, "computeMajor": 9, "computeMinor": 0, "numSms": 132}
        trace = {"schemaVersion": 1, "deviceProperties": [gpu]}
        if self.world > 1:
            trace["distributedInfo"] = {"rank": self.number, "world_size": self.world, "backend": "nccl"}
        trace["traceEvents"] = self.events
        (folder / f"host{self.number}_{100 + self.number}.1700000000000.pt.trace.json").write_text(json.dumps(trace), encoding="utf-8")
        return max(self.at, *self.free.values()) - self.first


def all_reduce(ranks, dur):
    """The kernels begin when their ranks are there, and end together, DUR after the last one came."""
    group = {"Collective name": "allreduce", "Process Group Name": "0", "Process Group Ranks": "[0, 1]", "Group size": len(ranks)}
    end = max(rank.ready(20, (7,)) for rank in ranks) + dur
    for rank in ranks:
        name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
        rank.launch(name, end - rank.ready(20, (7,)), stream=20, after=(7,), **group)
