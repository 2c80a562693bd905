# SPDX-License-Identifier: MIT
"""What the page must say of a report, worked out from its JSON. Numbers are written for people by rules of their own here."""
import decimal

UNKNOWN = "Unknown:"  # all that is unknown stands in one sentence


def digits(x):
    """Halves are rounded up, as browsers do."""
    a = abs(x)
    places = "1" if a >= 100 else "0.1" if a >= 10 else "0.01"
    return str(decimal.Decimal(x).quantize(decimal.Decimal(places), decimal.ROUND_HALF_UP))


def digits10(ps):
    """Seconds with a decimal, where there is one."""
    text = str(decimal.Decimal(ps).scaleb(-12).quantize(decimal.Decimal("0.1"), decimal.ROUND_HALF_UP))
    return text.removesuffix(".0")


def time(ps):
    if ps is None:
        return UNKNOWN
    if ps >= 100 * 10**12:
        return f"{digits10(ps)} s"
    for unit, size in (("s", 10**12), ("ms", 10**9), ("\u00b5s", 10**6), ("ns", 10**3)):
        if ps >= size:
            return f"{digits(ps / size)} {unit}"
    return f"{ps} ps" if ps else "0"


def share(pct):
    return f"{pct:.1f} %" if abs(pct) < 10 else f"{pct:.0f} %"


def size(n):
    """Bytes, as people have them."""
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= factor:
            return f"{digits(n / factor)} {unit}"
    return f"{n} B"


def core_time(ps, of="core"):
    """Summed over cores, or over threads; the page has it without minutes."""
    if ps is None:
        return UNKNOWN
    for unit, size in (("s", 10**12), ("ms", 10**9), ("\u00b5s", 10**6), ("ns", 10**3), ("ps", 1)):
        if ps >= size:
            return f"{digits(ps / size)} {of}-{unit}"
    return "0"


def number(n):
    return UNKNOWN if n is None else f"{n:,}"


def rows(report, view, table):
    """None where the view has nothing to say."""
    return report[view].get(table) or []


def top(rows, column):
    known = [r for r in rows if r[column] is not None]
    return max(known, key=lambda r: r[column]) if known else None


def tracks(report, name, least=1):
    return any(t["name"] == name and len(t.get("slices", t.get("points"))) >= least for t in report.get("tracks", []))


def first_of(rows, column, name, written=time):
    """The row that a table sorted by COLUMN begins with: its name, and the number as it is written."""
    row = top(rows, column)
    return [row[name][:40], written(row[column])] if row and row[name] and row[name].isprintable() else []


def strip(r):
    """Whether there is a picture of the whole run above each view that has something over time."""
    return len(r["time"]["per_step"]) > 1 or tracks(r, "Time classes") or bool(r["steps"])


def overview(r):
    steps = r["overview"]["step_time_ps"]
    wall = [time(r["run"]["duration_ps"])] * (r["run"]["duration_ps"] is not None)
    findings = r["doctor"]["findings"][:8]
    moments = any(f["time_ranges"] for f in findings)
    return {"texts": wall + ([time(steps["median"])] if steps else ["fewer than two steps"]),
            "counts": {".findings li": len(findings)}, "canvases": strip(r) + moments + (len(r["steps"]) > 1)}


def systolic(r):
    heat = (r.get("heatmap") or {}).get("ops")
    known = [o for o in rows(r, "systolic", "ops") if o["fill_pct"] is not None and o["mxu_utilization_pct"] is not None]
    ops = rows(r, "systolic", "ops")
    return {"texts": first_of(ops, "lost_ps", "op", core_time) if ops else ["No matrix product with a known shape ran"],
            "canvases": tracks(r, "MXU utilization (%)", 5) + tracks(r, "Time classes") + bool(heat) + bool(known)}


def padding(r):
    return {"texts": first_of(rows(r, "padding", "ops"), "waste_ps", "op", core_time) or ["No op spends time on padding."]}


def fusion(r):
    return {"texts": [number(r["fusion"]["unfused_count"])] + first_of(rows(r, "fusion", "unfused"), "impact_ps", "producer", core_time)}


def cache(r):
    return {"texts": [number(r["cache"]["compilation_count"])] + first_of(rows(r, "cache", "compilations"), "duration_ps", "module"),
            "canvases": strip(r) + tracks(r, "Host compiles")}


def memory(r):
    view = r.get("memory_timeline") or {}
    of = [(point["device"], point["host"]) for point in view.get("timeline") or []]
    heading = "Memory over time" if len(of) > 1 else "Memory at the peak"
    capacity = (r.get("capacity") or {}).get("modules") or []
    programs = [m["module"] for m in capacity if m["peak_bytes"] is not None and m["positions"]]
    return {"texts": [heading] if view.get("peak_bytes") else [],
            "canvases": strip(r) + tracks(r, "HBM bandwidth (GB/s)", 5) + min(sum(of.count(key) > 1 for key in set(of)), 8) +
            (programs.count(programs[0]) == 1 if programs else 0)}


def time_view(r):
    t = r["time"]
    if not r["ops"]:
        return {"texts": ["No op ran while the profile was taken."], "canvases": strip(r)}
    first = r["ops"][0]
    name = [first["name"][:40]] if first["name"].isprintable() else []
    buckets = [core_time(ps) for ps in t["buckets"].values()]
    return {"texts": [t["bottleneck"], core_time(t["total_ps"]), core_time(first["self_time_ps"])] + name + buckets,
            "canvases": strip(r) + (len(t["per_step"]) > 1)}


def roofline(r):
    placed = [o for o in r["roofline"] if o["kind"] == "op" and (o["flops_per_s"] or 0) > 0
              and (o["bottleneck_operational_intensity"] or o["operational_intensity"] or 0) > 0]
    return {"texts": first_of([o for o in r["roofline"] if o["kind"] == "op"], "self_time_ps", "name", core_time),
            "canvases": bool(placed)}


def pod(r):
    return {"texts": [f"{len(r['run']['devices'])} chips of {len(r['run']['hosts'])} hosts"], "canvases": strip(r) + 1}


def slices(r):
    """What is drawn there comes later (timeline_test.py)."""
    return {"texts": ["Whole run"], "canvases": strip(r)}


def doctor(r):
    command = r["doctor"].get("what_if")
    return {"texts": [f["title"] for f in r["doctor"]["findings"]][:1] + [command] * bool(command),
            "counts": {"section[aria-label='what would help']": int(bool(command)), "details.finding": len(r["doctor"]["findings"]),
                       ".kpi": sum(k["value"] is not None for k in r["doctor"]["kpis"])}}


def flame(r):
    f = r["flame"]
    first = (f["hottest"] or [{"name": ""}])[0]["name"]
    sums = [core_time(f[c], of) for c, of in (("cpu_time_ps", "thread"), ("device_time_ps", "core")) if f[c]]
    return {"texts": sums + ([first[:40]] if first.isprintable() else []),
            "counts": {".flame": 1}, "canvases": 1}


def hta(r):
    h = r["hta"]
    waits = any(row["idle_ps"] > 0 for row in h.get("idle") or [])
    return {"texts": [number(h["kernel_count"])] + first_of(h["top_kernels"], "sum_ps", "name"),
            "counts": {".shares": 1 + bool(h["kernel_types"]) + waits}}


def hta_critical_path(r):
    view = r["hta_critical_path"]
    steps = [s for s in view.get("each_step") or [] if not s.get("is_others") and s["rank"] == view["each_step"][0]["rank"]]
    return {"texts": [time(s["path_ps"]) for s in view["steps"]] + [time(view["rows"][0]["path_ps"])],
            "counts": {".shares": len(view["steps"])}, "canvases": strip(r) + (len(steps) > 1)}


def kernels(r):
    return {"texts": first_of(r["kernels"], "total_ps", "name")}


def operators(r):
    view = r["operators"]
    return {"texts": first_of(view["by_name"], "self_cpu_ps" if view["gpu_ps"] is None else "self_gpu_ps", "name")[:1]}


def timeline(r):
    t = r["timeline"]
    return {"texts": [time(t["total_time_ps"]), time(t["cpu_active_ps"])], "canvases": strip(r) + bool(t["steps"])}


def compile_view(r):
    regions = [row for row in rows(r, "compile", "regions") if row["function"]]
    whole = r["compile"]["compiler"] == "XLA"  # a region is a program then, on all cores
    return {"texts": first_of(regions, "time_ps", "function", core_time if whole else time)}


def ops(r):
    return {"texts": first_of(r["ops"], "self_time_ps", "name", core_time)}


def has(r, view, *tables):
    return isinstance(r.get(view), dict) and any(r[view].get(table) for table in tables)


# Of the profiling suite: shown where the report has them.
SUITE = {"hta": (hta, lambda r: (r.get("hta") or {}).get("kernel_count")),
         "hta_critical_path": (hta_critical_path, lambda r: has(r, "hta_critical_path", "steps")),
         "kernels": (kernels, lambda r: r.get("kernels")),
         "operators": (operators, lambda r: has(r, "operators", "by_name")),
         "timeline": (timeline, lambda r: (r.get("timeline") or {}).get("total_time_ps")),
         "flame": (flame, lambda r: has(r, "flame", "stacks", "modules", "scopes")),
         "compile": (compile_view, lambda r: has(r, "compile", "regions", "phases", "fused_kernels", "graph_break_places"))}
VIEWS = {"overview": overview, "ops": ops, "systolic": systolic, "roofline": roofline, "padding": padding, "fusion": fusion, "cache": cache,
         "memory": memory, "time": time_view, "slices": slices, "pod": pod, "doctor": doctor}


def lacking(r):
    """A GPU without matrix ops has no view of matrix units, without modules none of padding and fusion; a report without rates no
    roofline, one host is not a pod."""
    no_matrix = is_gpu(r) and all(o["mxu_utilization_pct"] is None for o in rows(r, "systolic", "ops"))
    no_roofline = not any(o["kind"] == "op" for o in r.get("roofline") or [])
    if is_gpu(r):
        no_roofline = not any(o["kind"] == "op" and o["flops_per_s"] is not None for o in r.get("roofline") or [])
    no_tiles = is_gpu(r) and r["padding"]["allocated_bytes"] is None
    no_fusion = is_gpu(r) and r["fusion"]["fused_count"] is None and not r["fusion"].get("unfused")
    one_host = len(r["run"]["hosts"]) < 2 or not r["run"]["devices"]
    return {name for name, lacks in {"systolic": no_matrix, "roofline": no_roofline, "padding": no_tiles, "fusion": no_fusion,
                                       "pod": one_host, "ops": not r["ops"]}.items() if lacks}


def is_gpu(report):
    devices = report["run"]["devices"]
    return bool(devices) and not any(d["mxu_dim"] or "TPU" in f"{d['chip'] or ''} {d['name']}".upper() for d in devices)


def views(report):
    """What each view must show, by their names."""
    suite = {name: view(report) for name, (view, there) in SUITE.items() if there(report)}
    return {name: view(report) for name, view in VIEWS.items() if name not in lacking(report)} | suite
