#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Single views of the page, their pictures and what a click in them does, in real Chromium: views_test.py [NAME...]

Each view is looked at on three widths and in both themes (views.mjs), and what it must say is worked out here from the report.
$TPUSIGHT names the program, $TS_SHOTS a folder for screenshots. Exit 77: a tool is missing.
"""
import copy
import json
import os
import subprocess
import sys
import tarfile
import tempfile

import doors
import expect

PLANTED = os.path.join(doors.HERE, "..", "data", "planted")
OPENING = 'id="tpusight-report">'
HOSTS, CHIPS, LATE = 256, 4, (77, 2)  # a large pod, and the chip in it that comes late


def planted(name, folder):
    """The profiles of a planted scenario."""
    with tarfile.open(os.path.join(PLANTED, f"{name}.tar.gz")) as tar:
        tar.extractall(folder, filter="data")
    return os.path.join(folder, name)


def page_of(path):
    """The HTML file of a report, in two: before its data and behind it; and the data."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begin = text.index(OPENING) + len(OPENING)
    end = text.index("</script>", begin)
    return text[:begin], json.loads(text[begin:end]), text[end:]


def with_report(path, out, change):
    """The same page with another report."""
    before, report, behind = page_of(path)
    with open(out, "w", encoding="utf-8") as file:
        file.write(before + json.dumps(change(report)).replace("<", "\\u003c") + behind)
    return out


def pod(report):
    """A run of two hosts as one of many: each chip as the first one, one of them late."""
    report = copy.deepcopy(report)
    hosts = [f"t1v-n-8f3a-w-{i}.us-east5-b.c.project.internal" for i in range(HOSTS)]
    first = {"device": report["run"]["devices"][0], "core": report["time"]["per_core"][0],
             "matrix": report["systolic"]["devices"][0]}
    devices, cores, late, matrix = [], [], [], []
    for i, host in enumerate(hosts):
        for k in range(CHIPS):
            ident, name, slow = i * CHIPS + k, f"/device:TPU:{k}", (i, k) == LATE
            devices.append(dict(first["device"], id=ident, host=host, name=name))
            cores.append(dict(first["core"], device=name, device_id=ident, host=host))
            cores[-1]["compute_ps"] += 10**9 * slow
            late.append({"device": name, "host": host, "device_id": ident, "matched_count": 100, "last_count": 98 * slow,
                         "last_pct": 98 * slow, "cost_ps": 2 * 10**12 * slow, "excess_ps": 10**12 * slow,
                         "waited_ps": 10**9 * (1 if slow else 20 + ident % 7)})
            matrix.append(dict(first["matrix"], device=name, host=host))
    report["run"].update(hosts=[dict(report["run"]["hosts"][0], name=host) for host in hosts], devices=devices)
    report["time"]["per_core"], report["collective_cores"], report["systolic"]["devices"] = cores, late, matrix
    return report


def pod_jobs(folder):
    two = doors.html(planted("two_hosts", folder), os.path.join(folder, "two.html"))
    many = with_report(two, os.path.join(folder, "many.html"), pod)
    measures = ["work_ps", "waited_ps", "communication_ps", "duty_cycle_pct", "mxu_utilization_pct"]
    yield {"name": "two", "url": f"file://{two}", "views": ["pod"],
           "want": {"pod": {"late": "host-1 TPU:1 comes last in 100 % of 6", "chips": "4 chips of 2 hosts", "measures": measures,
                            "rows": 2}}}
    yield {"name": "many", "url": f"file://{many}", "views": ["pod"],
           "want": {"pod": {"late": f"w-{LATE[0]} TPU:{LATE[1]} comes last in 98 % of 100", "chips": "1024 chips of 256 hosts",
                            "measures": measures, "rows": 12}}}


def way(row, reached):
    """The steps from the peak, as the page writes them."""
    losses = [f"\u2212{expect.share(row[loss])}" for loss in ("loss_shape_pct", "loss_memory_pct", "loss_other_pct")]
    return ["100 %", *losses, expect.share(row[reached])]


def sample_page(folder):
    path = os.path.join(folder, "sample.html")
    return path if os.path.exists(path) else doors.html(doors.SAMPLE, path)


def systolic_jobs(folder):
    path = sample_page(folder)
    view = page_of(path)[1]["systolic"]
    ops = {op["op"]: op for op in view["ops"]}
    first, even = ops["fusion.337"], ops["fusion.302"]
    yield {"name": "sample", "url": f"file://{path}", "views": ["systolic"], "want": {"systolic": {
        "run": way(view, "matrix_op_utilization_pct"), "op": way(first, "mxu_utilization_pct"),
        "tiles": ["N 500 of 512", "K 64 of 256", "2 tiles of 256 \u00d7 256 in each of 256 products: 0 full, 2 at the edge",
                  "192 rows and 12 columns are idle, 76 % of it"],
        "chosen": {"key": f"{even['module']}/fusion.302", "text": "32 full, 0 at the edge", "picks": f"{first['module']}/fusion.337",
                   "dot": [first["fill_pct"] / 100, first["mxu_utilization_pct"] / 100]}}}}


def placed(rows):
    return [r for r in rows if (r["bottleneck_operational_intensity"] or 0) > 0 and (r["flops_per_s"] or 0) > 0]


def idle(rows):
    """What the page says of ops without arithmetic."""
    all_idle = [r for r in rows if r["flops_per_s"] == 0]
    share = expect.share(sum(r["self_time_pct"] for r in all_idle))
    return f"{len(all_idle)} ops have no place here, {expect.core_time(sum(r['self_time_ps'] for r in all_idle))} or {share} of the program"


BOUNDS = {"Compute": "the matrix units", "HBM": "HBM", "Host link": "the host link", "Interconnect": "the interconnect",
          "Waiting": "a copy that it waits for"}


def roofline_jobs(folder):
    pages = {"sample": sample_page(folder)}
    if "v6e" in (found := doors.profiles()):
        pages["v6e"] = doors.html(found["v6e"], os.path.join(folder, "v6e.html"))
    for name, path in pages.items():
        rows = [r for r in page_of(path)[1]["roofline"] if r["kind"] == "op"]
        bounds = [f"bound by {text}" for bound, text in BOUNDS.items() if any(r["bound_by"] == bound for r in placed(rows))]
        yield {"name": name, "url": f"file://{path}", "views": ["roofline"],
               "want": {"roofline": {"beside": [idle(rows)], "bounds": bounds, "button": len(placed(rows)) > 20,
                                     "roofs": ["MXU 918 TFLOP/s (bf16)", "HBM 1.64 TB/s", "VMEM read 23.3 TB/s"]}}}


def total(rows, column):
    return sum(r[column] for r in rows)


def padding_jobs(folder):
    path = sample_page(folder)
    shapes = {}
    for array in page_of(path)[1]["padding"]["arrays"]:
        shapes.setdefault(array["shape"], []).append(array)
    wasted = {shape: total(rows, "allocated_bytes") - total(rows, "logical_bytes") for shape, rows in shapes.items()}
    order = sorted(wasted, key=lambda shape: -wasted[shape])[:3]
    names = [shape.split("{")[0] + (f" \u00d7 {len(shapes[shape])}" if len(shapes[shape]) > 1 else "") for shape in order]
    other = next(shape for shape in wasted if shape.startswith("f32[16,16,500]{2,1,0:T(8,128)"))  # 500 of 512, and 16 of 16
    yield {"name": "sample", "url": f"file://{path}", "views": ["padding"], "want": {"padding": {
        "rows": [f"{name} {expect.size(wasted[shape])} lost" for name, shape in zip(names, order)],
        "says": ["500 of 512", "500 of 504", "Tiles of 8 \u00d7 128: dimension 2 in columns of 128, dimension 3 in rows of 8",
                 "256 such planes."],
        "other": {"shape": other, "says": "98 % of what is stored is used"}}}}


def fusion_jobs(folder):
    path = sample_page(folder)
    pairs = sorted(page_of(path)[1]["fusion"]["unfused"], key=lambda p: (-(p["impact_ps"] or 0), -(p["total_bytes"] or 0)))
    ops = {(p["module"], p[end]) for p in pairs[:12] for end in ("producer", "consumer")}
    yield {"name": "sample", "url": f"file://{path}", "views": ["fusion"], "want": {"fusion": {
        "nodes": len(ops), "edges": 12, "first": pairs[0]["producer"], "more": 48}}}


def held(report):
    """The largest buffer and the largest line of the program with the largest peak."""
    capacity = report["capacity"]
    buffers = [b for b in capacity["buffers"] if b["module"] == capacity["peak_module"]]
    lines = {}
    for b in buffers:
        lines[b["source"] or "not named"] = lines.get(b["source"] or "not named", 0) + b["bytes"]
    line = max(lines, key=lines.get)
    return {"buffer": f"{buffers[0]['op']} {expect.size(buffers[0]['bytes'])}", "line": f"{line} {expect.size(lines[line])}"}


def memory_jobs(folder):
    sample = page_of(sample_page(folder))[1]
    share = expect.share(sample["capacity"]["peak_pct"])
    yield {"name": "sample", "url": f"file://{sample_page(folder)}", "views": ["memory"], "want": {"memory": {
        "held": held(sample), "charts": 0, "peaks": [], "hbm": expect.share(sample["overview"]["hbm_utilization_pct"]), "lines": {
            "HBM bandwidth (GB/s)": "peak of the chip", "what a program holds": f"peak {expect.size(sample['capacity']['peak_bytes'])} at "
            f"{sample['capacity']['peak_op']}"}, "room": f"The device has 32.0 GiB; the most that is held is {share} of it"}}}
    torch = doors.html(doors.MEMORY, os.path.join(folder, "torch.html"))
    view = page_of(torch)[1]["memory_timeline"]
    phases = {}
    for row in view["holders"]:
        phases[row["phase"]] = phases.get(row["phase"], 0) + row["bytes"]
    yield {"name": "torch", "url": f"file://{torch}", "views": ["memory"], "want": {"memory": {
        "charts": 1, "peaks": [f"peak {expect.size(view['peak_bytes'])} at {expect.time(view['peak_time_ps'])}"], "legend": "allocated",
        "holders": expect.size(max(phases.values()))}}}
    if "v6e" in (found := doors.profiles()):
        path = doors.html(found["v6e"], os.path.join(folder, "v6e-memory.html"))
        rows = {a["device"]: a for a in page_of(path)[1]["allocators"]["allocators"]}
        yield {"name": "v6e", "url": f"file://{path}", "views": ["memory"], "want": {"memory": {
            "charts": 4, "legend": "allocated",
            "lines": {"memory of tpu_v6e_host_offload /device:TPU:0": "the allocator may take 31.2 GiB"},
            "peaks": [f"peak {expect.size(rows[d]['peak_bytes'])} at {expect.time(rows[d]['peak_time_ps'])}" for d in sorted(rows)]}}}


JOBS = {"pod": pod_jobs, "systolic": systolic_jobs, "roofline": roofline_jobs, "padding": padding_jobs, "fusion": fusion_jobs,
        "memory": memory_jobs}


def main():
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder:
        jobs = [job for name in sys.argv[1:] or JOBS for job in JOBS[name](folder)]
        path = os.path.join(folder, "jobs.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(jobs, file)
        return subprocess.call(["node", os.path.join(doors.HERE, "views.mjs"), path, *filter(None, [os.environ.get("TS_SHOTS")])])


if __name__ == "__main__":
    sys.exit(main())
