# SPDX-License-Identifier: MIT
"""Profiles for the page's tests, made with the fixtures' writer: one whose names attack a page, one with long tables."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from wire import Plane, space

US = 1_000_000
START_NS = 1_700_000_000 * 10**9
PROGRAM = 4711

# A name, and what people must read of it on the page (None: the bytes are not a text that can be compared).
NAMES = [
    ("<script>window.hacked=1</script>",) * 2,
    ("</script><script>window.hacked=1</script>",) * 2,
    ("<img src=x onerror=window.hacked=1>",) * 2,
    ("<!--<script>",) * 2,
    ("\"'><svg onload=window.hacked=1>",) * 2,
    ("javascript:window.hacked=1",) * 2,
    ("&lt;b&gt; &amp; &#60;",) * 2,
    ("]]>{{hacked}}${hacked}`",) * 2,
    ("tab\there, bell\x07, escape\x1b[31m", None),
    ("right to left \u202egnp.exe", None),
    ("\U0001f525 emoji \U0001f469\u200d\U0001f52c", None),
    (b"not UTF-8 \xff\xfe\xc0\x80 here", None),
    ("=HYPERLINK(\"http://example.invalid\")",) * 2,
    ("long " + "x" * (1 << 20), "long xxxxxxxx"),
    ("__proto__",) * 2,
    ("constructor",) * 2,
]


def device(index=0, name=None):
    plane = Plane(name or f"/device:TPU:{index}", 2 + 8 * index)
    plane.add_stats({"device_type_string": ("str", "TPU v5 lite"), "peak_teraflops_per_second": ("double", 197.0),
                     "peak_hbm_bw_gigabytes_per_second": ("double", 819.0)})
    return plane


def op(plane, id, name, symbol, source, category="loop fusion"):
    full = name if isinstance(name, bytes) else name.encode()
    plane.event_metadata(id, b"%" + full + b" = f32[8,128]{1,0:T(8,128)} fusion()", name, {
        "hlo_category": ("str", category), "program_id": ("uint", PROGRAM), "symbol_id": ("uint", symbol),
        "flops": ("int", 1000 + id), "bytes_accessed": ("int", 4096), "source": ("str", source), "tf_op": ("str", name)}.items())


def task(ns):
    plane = Plane("Task Environment")
    plane.add_stats({"profile_start_time": ("uint", START_NS), "profile_stop_time": ("uint", START_NS + ns)})
    return plane


def filled(plane, names, nr_steps, ops_per_step, op_us=2, module=f"jit_f({PROGRAM})"):
    """A device on which NR_STEPS steps run the ops in turn, each OP_US long, with idle time behind every step."""
    step_ps = (ops_per_step * op_us + 5) * US
    for i, name in enumerate(names):
        op(plane, i + 1, name, i + 1, name)
    plane.event_metadata(1 << 20, module)
    steps, modules, ops = [], [], []
    for n in range(nr_steps):
        at, id = n * step_ps, (1 << 21) + n
        plane.event_metadata(id, str(n))
        run_ps = ops_per_step * op_us * US
        steps.append(plane.event(id, at, run_ps, {"step_num": ("int", n)}.items()))
        modules.append(plane.event(1 << 20, at, run_ps, {"run_id": ("uint", n + 1)}.items()))
        ops += [plane.event((n * ops_per_step + k) % len(names) + 1, at + k * op_us * US, op_us * US) for k in range(ops_per_step)]
    plane.line(1, "Steps", steps)
    plane.line(2, "XLA Modules", modules)
    plane.line(3, "XLA Ops", ops)
    return nr_steps * step_ps


def hostile():
    names = [n for n, _ in NAMES]
    planes = [device(0), device(1, "/device:TPU:1 <img src=x onerror=window.hacked=1>")]
    for plane in planes:
        ps = filled(plane, names, 6, len(names), module=f"jit_<script>window.hacked=1</script>({PROGRAM})")
    host = Plane("/host:CPU")
    host.event_metadata(1, "<img src=x onerror=window.hacked=1>")
    host.line(1, "</script><b>thread", [host.event(1, 0, ps)], START_NS)
    return space(planes + [host, task(ps // 1000)], ["<b>host</b>"])


def big(nr_ops=5000, nr_steps=10000):
    plane = device()
    ps = filled(plane, [f"fusion.{i}" for i in range(nr_ops)], nr_steps, 5)
    return space([plane, task(ps // 1000)], ["big"])


def many_calls():
    """A trace of 60,000 calls whose paths all differ, 20 deep."""
    events = [{"ph": "X", "cat": "cpu_op", "name": "main", "pid": 1, "tid": 1 + call, "ts": 0, "dur": 600000} for call in range(15)]
    at = 0
    for tree in range(200):
        for level in range(20):
            for call in range(15 if level else 1):
                width = 20000 - 1000 * level
                events.append({"ph": "X", "cat": "cpu_op", "name": f"aten::call_{tree}_{level}_{call}", "pid": 1, "tid": 1 + call,
                               "ts": at + level, "dur": width / 10})
        at += 3000
    return json.dumps({"schemaVersion": 1, "traceEvents": events})
