#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What holds for the figures of every run there is: figures_test.py

The bundled runs, the sample without its host, and the files of $TS_CORPUS (xplane, kineto, runs) where it is there: no share is above
100 % and no rate above its peak, and what would be is null and stands in impossible[]; the buckets sum to the core time; the
gains of all findings fit into the run; a finding says core-s where a time is longer than that; the console, JSON, CSV and the page
have the same figure, wherever it stands; what is unknown is null and not 0. Run in the build folder; $TPUSIGHT names the program
(default bin/tpusight).
"""
import csv
import glob
import io
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import DATA, PROGRAM

# Percent of something that is not a whole: of a median, of one of several links.
LIMITS = {"excess_pct": float("inf"), "collectives.link_pct": 600, "bias_pct": float("inf"), "prediction.measured.error_pct": float("inf")}
LEAST = {"bias_pct": -100}  # what was predicted may be too short
OF_HOSTS = ["time.buckets.compilation_ps", "time.buckets.input_ps", "time.buckets.launch_ps", "time.compilation_count",
            "time.compilation_host_ps", "gaps.explained_ps", "capture.call_count"]
SAME = [("overview.hbm_utilization_pct", "memory.hbm_pct"), ("overview.mxu_utilization_pct", "systolic.mxu_utilization_pct"),
        ("overview.padding_waste_pct", "padding.waste_pct"), ("overview.duty_cycle_pct", "time.duty_cycle_pct"),
        ("overview.health_score", "doctor.health_score")]
# Where the key figures stand, and how many of its units are one of theirs.
OF_KPIS = {"device_utilization": ("overview.duty_cycle_pct", 1), "memory_bandwidth": ("overview.hbm_utilization_pct", 1),
           "mxu_utilization": ("overview.mxu_utilization_pct", 1), "padding_waste": ("overview.padding_waste_pct", 1),
           "step_time": ("overview.step_time_ps.median", 1e9)}
# What the console calls a field.
LABELS = {
    "overview": {"wall time": "run.duration_ps", "health": "overview.health_score", "duty cycle": "overview.duty_cycle_pct",
                 "MXU utilization": "overview.mxu_utilization_pct",
                 "HBM utilization": "overview.hbm_utilization_pct", "padding waste": "overview.padding_waste_pct",
                 "steps": "overview.step_count", "step time, mean": "overview.step_time_ps.mean",
                 "median": "overview.step_time_ps.median", "min": "overview.step_time_ps.min", "max": "overview.step_time_ps.max"},
    "hta": {"GPU idle, of the capture": "hta.gpu_idle_pct", "GPU idle, from the first kernel to the last": "hta.gpu_idle_time_pct",
            "computing": "hta.compute_time_pct", "other work alone": "hta.non_compute_time_pct",
            "communicating": "hta.communication_time_pct", "copying": "hta.memory_time_pct",
            "communication under compute": "hta.comm_comp_overlap_pct", "kernels": "hta.kernel_count"},
    "time": {"wall time": "run.duration_ps", "duty cycle": "time.duty_cycle_pct", "median step": "time.steps_median_ps"},
}
# Of the first place of a finding, and of its links, which JSON has as objects.
OF_PLACES = {"op", "module", "source", "xprof", "xprof_trace", "perfetto", "perfetto_sql"}
OF_SCREEN = {"device busy": "overview.duty_cycle_pct", "MXU": "overview.mxu_utilization_pct",
             "HBM": "overview.hbm_utilization_pct", "padding": "overview.padding_waste_pct"}
SIZES = {"s": 1e12, "ms": 1e9, "µs": 1e6, "ns": 1e3, "ps": 1}
EPSILON = 1e-6


def program(*arguments):
    got = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    if got.returncode not in (0, 4):
        raise SystemExit(f"{' '.join(arguments)}: {got.stderr}")
    return got.stdout


def walk(node, place=""):
    """Each number of a report: (its path without indexes, its name, the number)."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for name, value in items:
        path = place if isinstance(node, list) else f"{place}.{name}".lstrip(".")
        if isinstance(value, (dict, list)):
            yield from walk(value, path)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield path, path.rsplit(".", 1)[-1], value


def at(doc, path):
    for part in path.split("."):
        doc = doc.get(part) if isinstance(doc, dict) else None
    return doc


def shares(doc):
    for path, name, value in walk(doc):
        if not name.endswith("_pct") or path.startswith("impossible"):
            continue
        limit = LIMITS.get(name, LIMITS.get(path, 100))
        if not LEAST.get(name, 0) - EPSILON <= value <= limit + EPSILON:
            yield f"{path} is {value}"
    for kpi in doc["doctor"]["kpis"]:
        if kpi["unit"] == "%" and kpi["value"] is not None and not 0 <= kpi["value"] <= 100 + EPSILON:
            yield f"the key figure {kpi['name']} is {kpi['value']} %"


def rates(doc):
    peaks = {}
    for name in ("hbm_bytes_per_s", "peak_flops_per_s"):
        known = [d[name] for d in (doc["run"] or {}).get("devices", []) if d[name] is not None]
        peaks[name] = max(known) if known else float("inf")
    for path, name, value in walk(doc):
        if path.startswith(("run.", "impossible", "roofline_ridges", "memory.spaces")):
            continue
        if name == "hbm_bytes_per_s" and value > peaks["hbm_bytes_per_s"] * (1 + EPSILON):
            yield f"{path} is {value}, the peak {peaks['hbm_bytes_per_s']}"
        if path == "roofline.flops_per_s" and value > peaks["peak_flops_per_s"] * (1 + EPSILON):
            yield f"{path} is {value}, the peak {peaks['peak_flops_per_s']}"


def table_of(doc, view, table):
    """Tables of top-level results stand in the report itself."""
    found = at(doc, f"{view}.{table}")
    return doc.get(table) if found is None else found


def impossible(doc):
    listed = doc.get("impossible", [])
    if bool(listed) != bool(doc.get("impossible_count")) or len(listed) > doc.get("impossible_count", 0):
        yield "impossible[] and impossible_count do not fit"
    for one in listed:
        if one["table"]:
            stands = table_of(doc, one["view"], one["table"])[one["row"]][one["field"]]
        else:
            stands = at(doc, one["field"]) if one["field"] in FLAT else at(doc, f"{one['view']}.{one['field']}")
        if stands is not None or not one["cause"] or not one["value"] > 0:
            yield f"{one['view']}.{one['field']} of {one['item']} is listed as impossible, and is {stands}"


FLAT = {"overview.mxu_utilization_pct", "overview.hbm_utilization_pct"}


def adds_up(row, total, what):
    known = sum(v for k, v in row.items() if k.endswith("_ps") and v is not None)
    if total is not None and known != total:
        yield f"{what}: the buckets are {known} ps, not {total}"


def buckets(doc):
    time = doc.get("time") or {}
    yield from adds_up(time.get("buckets") or {}, time.get("total_ps"), "time")
    names = list(time.get("buckets") or {})
    for table in ("per_step", "per_core", "per_host"):
        for row in time.get(table, []):
            if time["total_ps"] is not None:
                yield from adds_up({n: row[n] for n in names}, row["total_ps"], f"time.{table}")


def gains(doc):
    findings = doc["doctor"]["findings"]
    known = [f["gain_ps"] for f in findings if f.get("gain_ps") is not None]
    duration = (doc["run"] or {}).get("duration_ps")
    if known and duration is not None and sum(known) > duration:
        yield f"the findings give back {sum(known)} ps of {duration}"


def unknowns(doc):
    if doc["capture"].get("host_event_count") == 0:
        for path in OF_HOSTS:
            if at(doc, path) is not None:
                yield f"without host events {path} is {at(doc, path)}"
    overhead = [k for k in doc["doctor"]["kpis"] if k["name"] == "host_overhead"]
    if doc["capture"].get("host_event_count") == 0 and overhead and overhead[0]["band"] != "unknown":
        yield f"without host events the host overhead is {overhead[0]}"
    listed = {one["field"] for one in doc.get("impossible", [])}
    for name, origin in doc["provenance"].items():
        value = at(doc, name)
        if name.startswith("overview.") and value is None and origin != "unknown" and name not in listed:
            yield f"{name} is null and {origin}"
    by_work = any(step.get("source") == "launched" for step in doc.get("steps") or [])
    name = f"overview.{'host_' if by_work else ''}step_time_ps.median"  # time's steps are those that were marked
    median = at(doc, "time.steps_median_ps")
    if median is not None and median != at(doc, name):
        yield f"the median step is {median}, {name} {at(doc, name)}"
    inferred = any(step.get("source") == "inferred" for step in doc.get("steps") or [])
    if inferred != (doc["provenance"].get("overview.step_count") == "inferred"):
        yield "steps are inferred, and their count is not, or the other way round"


def one_figure(doc):
    """What stands in several places is one number."""
    for first, second in SAME:
        if at(doc, first) != at(doc, second):
            yield f"{first} is {at(doc, first)}, and {second} {at(doc, second)}"
    kpis = {kpi["name"]: kpi["value"] for kpi in doc["doctor"]["kpis"]}
    on_host = any(step.get("source") == "host" for step in doc.get("steps") or [])  # of a run without devices
    for name, (path, scale) in OF_KPIS.items():
        value = None if on_host and name == "step_time" else at(doc, path)
        if (value is None) != (kpis[name] is None) or (value is not None and abs(value / scale - kpis[name]) > 1e-6 * kpis[name]):
            yield f"the key figure {name} is {kpis[name]}, {path} {value}"


GUARDED = re.compile("([;\\t\\r\\n])(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])")  # what a spreadsheet could take for a formula


def as_csv(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return GUARDED.sub("\\1'", value) if isinstance(value, str) else json.dumps(value)


def same_cell(text, value):
    if isinstance(value, float):
        return text != "" and abs(float(text) - value) <= 1e-9 * abs(value)
    return isinstance(value, (list, dict)) or text == as_csv(value)


def same_csv(doc, path):
    views = {"overview": [doc], "ops": doc["ops"], "time.per_core": at(doc, "time.per_core"), "time.per_step": at(doc, "time.per_step"),
             "hta.ranks": at(doc, "hta.ranks"), "doctor": doc["doctor"]["findings"], "doctor.kpis": doc["doctor"]["kpis"]}
    for view, rows in views.items():
        if not rows:
            continue
        got = list(csv.DictReader(io.StringIO(program("report", "-q", "--format", "csv", "--view", view, path))))
        if len(got) != len(rows):
            yield f"{view}: {len(got)} rows in CSV, {len(rows)} in JSON"
        for row, expected in zip(got, rows):
            for name, text in row.items():
                name = re.sub(r" \[.*", "", name)
                value = at(expected, name)
                if not (view == "doctor" and name in OF_PLACES) and not same_cell(text, value):
                    yield f"{view}: {name} is {text!r} in CSV, {value!r} in JSON"


def same_page(doc, path):
    got = subprocess.run([PROGRAM, "report", "-q", "--format", "html", path], capture_output=True, text=True)
    found = re.search(r'<script type="application/json" id="tpusight-report">(.*?)</script>', got.stdout, re.S)
    if not found:
        return  # built without its page
    page = json.loads(found[1])
    for key, value in doc.items():
        if page.get(key) != value:
            yield f"{key} differs in the page"


def shown_figures(text):
    """{label: what stands behind it} of the lines "  label:  figure" of a view."""
    return dict(re.findall(r"^  (\S[^:\n]*): +(\S.*)$", text, re.M))


def is_shown(text, value):
    """Whether the console's figure, of three digits or one behind the point, is VALUE in JSON."""
    if value is None or text in ("-", "impossible"):
        return value is None and text in ("-", "impossible")
    found = re.match(r"(-?[\d.]+)(?: (\S+))?", text)
    number, size = float(found[1]), SIZES.get(found[2], 1)
    digits = len(found[1].partition(".")[2])
    return abs(number * size - value) <= (0.5001 * 10 ** -digits) * size


def same_fields(doc, path):
    for view, labels in LABELS.items():
        if view != "overview" and not doc.get(view):
            continue
        shown = shown_figures(program("report", "-q", "--view", view, path))
        for label, name in labels.items():
            if label in shown and not is_shown(shown[label], at(doc, name)):
                yield f"{name} is {shown[label]} on the console, {at(doc, name)} in JSON"
        if view == "overview" and not {"wall time", "health"} & set(shown):
            yield "the console has no overview"


def same_screen(doc, path):
    """The line of shares on the first screen, and the classes of time below it."""
    text = program("report", "-q", path)
    for label, name in OF_SCREEN.items():
        found = re.search(rf"(?:^|  ){label} ([\d.]+ %|-|impossible)", text, re.M)
        if found and not is_shown(found[1], at(doc, name)):
            yield f"{name} is {found[1]} on the screen, {at(doc, name)} in JSON"
    classes = re.search(r"^device time: (.*\n(?:[a-z].*\n)*)", text, re.M)
    for name, pct in re.findall(r"([a-z ]+?) ([\d.]+) %", re.sub(r"device time: |·", "\n", classes[0])) if classes else ():
        share = 100 * doc["time"]["buckets"][name.strip().replace(" ", "_") + "_ps"] / doc["time"]["total_ps"]
        if abs(share - float(pct)) > 0.0501:
            yield f"{name.strip()} is {pct} % on the screen, {share} in JSON"


def same_gains(doc, path):
    shown = re.findall(r"^ +could save (\S+ \S+) \(([\d.]+) % of the run\)", program("report", "-q", "--view", "doctor", path), re.M)
    known = [f for f in doc["doctor"]["findings"] if f.get("gain_ps")]
    if len(shown) != len(known):
        yield f"{len(shown)} gains on the console, {len(known)} in JSON"
    for (time, pct), finding in zip(shown, known):
        if not is_shown(time, finding["gain_ps"]) or not is_shown(pct, finding["gain_pct"]):
            yield f"{finding['id']} gives back {time}, {pct} % on the console, {finding['gain_ps']} ps, {finding['gain_pct']} % in JSON"


def same_kpis(doc, path):
    text = program("report", "-q", "--format", "text", "--view", "doctor.kpis", path)
    has_values = "value" in text.splitlines()[0].split()  # a column without any value is not shown
    shown = {line.split()[0]: line.split()[1] if has_values else "-" for line in text.splitlines()[1:] if len(line.split()) > 2}
    for kpi in doc["doctor"]["kpis"]:
        is_text = shown.get(kpi["name"])
        expected = "-" if kpi["value"] is None else f"{kpi['value']:.4g}"
        if is_text != expected:
            yield f"the key figure {kpi['name']} is {is_text} on the console, {expected} in JSON"


def core_time(doc):
    """Devices have no more time than the run: what is longer is a sum over cores, and says so."""
    sizes = {"s": 10**12, "ms": 10**9, "µs": 10**6}
    run = doc["run"]["duration_ps"] if doc["run"] else None
    for finding in doc["doctor"]["findings"] if run and doc["run"]["devices"] else ():
        for number, unit in re.findall(r"(?<![\w.])(\d+(?:\.\d+)?) (s|ms|µs)\b", finding["title"] + ". " + finding["evidence"]):
            if float(number) * sizes[unit] > 1.01 * max(run, doc["run"]["capture_ps"] or 0):
                yield f"{finding['rule']}: {number} {unit} in a run of {run} ps"


CHECKS = (shares, rates, impossible, buckets, gains, unknowns, one_figure, core_time)
FORMS = (same_csv, same_page, same_fields, same_screen, same_gains, same_kpis)


def check(path, name):
    doc = json.loads(program("report", "-q", "--format", "json", path))
    wrong = [line for rule in CHECKS for line in rule(doc)]
    wrong += [line for rule in FORMS for line in rule(doc, path)]
    for line in sorted(set(wrong))[:20]:
        print(f"{name}: {line}")
    return len(wrong)


def without_host(folder):
    """The sample's devices alone, as with host_tracer_level=0."""
    sample = sorted(glob.glob(os.path.join(DATA, "sample", "**", "*.xplane.pb"), recursive=True))[0]
    out = os.path.join(folder, "devices_alone.xplane.pb")
    program("trim", "-q", "--plane", "/device:TPU:*", sample, "-o", out)
    return out


def runs():
    yield os.path.join(DATA, "sample")
    for pattern in ("planted/*.tar.gz", "*.xplane.pb", "torch/*.pt.trace.json.gz", "*.pt.trace.json*"):
        yield from sorted(glob.glob(os.path.join(DATA, pattern)))
    corpus = os.environ.get("TS_CORPUS", "")
    for pattern in ("xplane/*.pb", "kineto/*.json.gz", "runs/*.pb", "runs/*.json.gz"):
        yield from sorted(glob.glob(os.path.join(corpus, pattern))) if corpus else ()


def main():
    nr_wrong = nr_runs = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in [*runs(), without_host(folder)]:
            nr_wrong += check(path, os.path.basename(path))
            nr_runs += 1
    print(f"{nr_runs} runs, {nr_wrong} figures that cannot be")
    return nr_wrong > 0 or nr_runs < 30


if __name__ == "__main__":
    sys.exit(main())
