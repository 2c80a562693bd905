#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What queries of our traces answer, held against the report: perfetto_sql_test.py

  - the questions of docs/perfetto.md, each with an answer here that says what of the report it must be
  - each finding's own query (links.perfetto_sql): as many rows as its ops were executed, all of its own program, when it happens,
    and the columns by which Perfetto's page makes rows clickable
  - the figures of the summary for CI
The views are those that stand beside the trace. On the bundled sample, planted runs, and real profiles of $TS_CORPUS. The SQL runs
in SQLite, on tables made of the JSON as Perfetto's importer makes them; where $TS_TRACE_PROCESSOR names a trace processor, there
too, on both forms, and the answers must be the same.
Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import collections
import glob
import gzip
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

from perfetto_tables import Tables
from pftrace_tables import PbTables

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import PROGRAM, must, need, skip, wrong

ROOT = os.path.join(HERE, "..", "..")
REFEREE = os.environ.get("TS_TRACE_PROCESSOR", "")
PLANTED = ("waits", "collectives", "padding", "recompiles", "two_hosts")
FIGURES = {"self_ns", "own_ns", "executions", "waits", "copies", "wait_ns", "total_ns", "impact_ns", "time_lost_ns", "step_ns", "rank",
           "path_ns", "spans", "slow_by_ns"}
CLICKABLE = ["id", "ts", "dur", "track_id"]
GAPS = ("compilation", "input", "launch", "idle")
CLASSES = {"compute": "Compute", "below_roofline": "Below roofline", "memory_wait": "Memory wait", "communication": "Communication",
           "host_transfer": "Host transfer", "rematerialization": "Rematerialization", "unexplained": "Unexplained"}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def questions():
    """(number, SQL) of the page."""
    return re.findall(r"^### (\d+)\..*?```sql\n(.*?)```", read(ROOT, "docs", "perfetto.md"), re.S | re.M)


class Referee:
    """The same of a trace processor, on a file of either form. It prints texts as they are, so they are asked for in hex."""

    def __init__(self, path):
        self.path, self.sql = path, ""

    def include(self, sql):
        self.sql = sql

    def ask(self, sql, columns):
        coded = ", ".join(f"typeof({c}) || ':' || CASE typeof({c}) WHEN 'text' THEN hex({c}) ELSE {c} END AS {c}" for c in columns)
        done = subprocess.run([REFEREE, "query", "-f", "-", self.path], input=f"{self.sql}SELECT {coded} FROM ({sql})", text=True,
                              capture_output=True)
        if done.returncode:
            raise RuntimeError(f"{self.path}: {done.stderr[-400:]}")
        rows = [line for line in done.stdout.splitlines() if line.startswith('"')]
        return [dict(zip(columns, map(self.value, line[1:-1].split('","')))) for line in rows[1:]]

    def ask_finding(self, sql):
        return self.ask(sql, [*CLICKABLE, "name"])

    @staticmethod
    def value(text):
        kind, _, value = text.partition(":")
        return {"integer": int, "real": float, "text": lambda x: bytes.fromhex(x).decode()}.get(kind, lambda x: None)(value)


# The answers

def near(found, ps, nr=1):
    """Nanoseconds found against picoseconds told; each of NR times was cut to a nanosecond."""
    return abs((found or 0) - ps / 1000) <= 1 + nr


def by(rows, *keys):
    """Rows summed by their keys: {key: {column: sum}}."""
    sums = collections.defaultdict(collections.Counter)
    for row in rows:
        for column, value in row.items():
            if column not in keys and isinstance(value, (int, float)):
                sums[tuple(str(row[k]) for k in keys)][column] += value
    return sums


def is_of_gpus(report):
    """Gaps of what works in several streams or threads have no slices of their own."""
    return any("GPU" in core["device"] or "CPU" in core["device"] for core in report["time"]["per_core"])


def time_ps(op):
    """Moments of the timeline, as slices have them; self_time_ps is by the device's own clock."""
    return op["self_time_ps"] if op["exclusive_ps"] is None else op["exclusive_ps"]


def check_ops(rows, report, tables):
    """1: executions and self time of each op."""
    told = by([{**op, "time_ps": time_ps(op)} for op in report["ops"]], "module", "program_id", "name")
    found = by(rows, "module", "program_id", "name")
    for key, op in told.items():
        row = found[key]
        if op["occurrences"] > 0:
            # an execution of an op may be several kernels
            is_of_kernels = is_of_gpus(report) and row["executions"] > op["occurrences"]
            must(row["executions"] == op["occurrences"] or is_of_kernels,
                 f"{key}: {row['executions']} executions, {op['occurrences']} told")
            must(near(row["self_ns"], op["time_ps"], row["executions"]), f"{key}: {row['self_ns']} ns, {op['time_ps']} ps told")
            must((row["flops"] or 0) == (op["flops"] or 0) * op["occurrences"] or not op["flops"] or is_of_kernels,
                 f"{key}: {row['flops']} FLOPs")
    times = [row["self_ns"] for row in rows]
    must(times == sorted(times, reverse=True), "ops are not in the order of their time")


def check_lines(rows, report, tables):
    """2: time of each line of source."""
    told = by([{**op, "source": op["source"] or None, "time_ps": time_ps(op)} for op in report["ops"] if op["occurrences"] > 0], "source")
    found = by(rows, "source")
    for key, op in told.items():
        if key[0] != "None":  # what runs without a compiled form has no place in ops[]
            good = near(found[key]["self_ns"], op["time_ps"], op["occurrences"])
            must(good, f"{key}: {found[key]} of {op['time_ps']} ps")


def check_classes(rows, report, tables):
    """3: the buckets; gaps as a whole, as a gap has one class in the trace, and none before a core's first op and after its last."""
    found = {row["name"]: row["own_ns"] for row in rows}
    buckets = collections.Counter({name: ps or 0 for name, ps in (report["time"]["buckets"] or {}).items()})
    total = report["time"]["total_ps"] or 0
    for bucket, name in CLASSES.items():
        told = buckets[bucket + "_ps"]
        must(abs(found.get(name, 0) * 1000 - told) <= 1e-4 * total, f"{name}: {found.get(name)} ns, {told} ps told")
    gaps = sum(found.get(name.title(), 0) for name in GAPS) * 1000
    told = sum(buckets[name + "_ps"] for name in GAPS)
    hulls = tables.ask("select max(ts + dur) - min(ts) as ns from tpusight_classes group by device")
    edges = len(hulls) * (report["time"]["wall_ps"] or 0) - sum(row["ns"] for row in hulls) * 1000
    must(is_of_gpus(report) or abs(gaps + edges - told) <= 1e-4 * total, f"gaps: {gaps} ps and {edges} ps at the ends, {told} told")
    must(not rows or abs(sum(row["pct"] for row in rows) - 100) < 1e-6, "the classes are not all of the time")


def check_steps(rows, report, tables):
    """4: the steps that the report lists, each with its duration, its classes, and whether it is slow."""
    told = [s for s in report["steps"] if s["start_ps"] is not None]
    must(len(rows) == len(told), f"{len(rows)} steps, {len(told)} told")
    must([row["step_ns"] for row in rows] == sorted((row["step_ns"] for row in rows), reverse=True), "steps are not in their order")
    durations = collections.defaultdict(list)
    for step in told:
        durations[step["step"], step["source"]].append(step["duration_ps"])
    for row in rows:
        known = durations[row["step"], row["source"]]
        must(any(near(row["step_ns"], ps, 2) for ps in known), f"step {row['step']}: {row['step_ns']} ns, {known} ps told")
    slow = {s["step"]: s for s in report["time"].get("steps_outliers") or []}
    found = {row["step"]: row for row in rows if row["slow_by_ns"] is not None}
    listed = {s["step"] for s in told}
    must(found.keys() == slow.keys() & listed, f"slow steps {sorted(found)} are {sorted(slow)} in the report")
    for number in found:
        must(near(found[number]["slow_by_ns"], slow[number]["excess_ps"]) and found[number]["cause"] == slow[number]["cause"],
             f"slow step {number}: {found[number]}")
    check_step_classes(report, tables)


def check_step_classes(report, tables):
    """Of steps whose numbers are their own, the classes of the table are those of the report."""
    classes = [key[:-3] for key in (report["time"]["buckets"] or {})]
    numbers = collections.Counter(s["step"] for s in report["time"].get("per_step") or [])
    told = {s["step"]: s for s in report["time"].get("per_step") or [] if numbers[s["step"]] == 1}
    for row in tables.ask("select * from tpusight_steps"):
        step = told.get(row["step"], {})
        odd = [c for c in classes if step and not near(row[c + "_ns"], step[c + "_ps"] or 0)]
        must(not odd, f"step {row['step']}: {[(c, row[c + '_ns'], step[c + '_ps']) for c in odd]}")


def check_findings(rows, report, tables):
    """5: all of them, in their order, with their figures."""
    told = report["doctor"]["findings"]
    must([row["title"] for row in rows] == [f["title"] for f in told], f"{len(rows)} findings, {len(told)} told")
    for row, finding in zip(rows, told):
        same = [row[key] == finding[key] for key in ("severity", "rule", "evidence", "advice")]
        must(all(same) and row["dur"] > 0, f"{finding['id']}: {row}")
        impact = finding["impact_ps"]
        good = row["impact_ns"] is None if impact is None else near(row["impact_ns"], impact)
        must(good, f"{finding['id']}: {row['impact_ns']} ns of {impact} ps")


def check_padding(rows, report, tables):
    """6: only ops of the report's table, with its figures."""
    told = {(p["module"], p["op"]): p for p in report.get("padding", {}).get("ops", [])}
    for row in rows:
        op = told.get((row["module"], row["name"]))
        must(op, f"padding of {row['name']} is not told")
        if op and op["waste_ps"] is not None:
            must(near(row["time_lost_ns"], op["waste_ps"]), f"padding of {row['name']}: {row['time_lost_ns']} ns of {op['waste_ps']} ps")


def check_waits(rows, report, tables):
    """7: the self time of each wait."""
    waits = [op for op in report["ops"] if "-done" in op["name"] and op["occurrences"] > 0]
    told = by([{**op, "time_ps": time_ps(op)} for op in waits], "module", "name")
    found = by(rows, "module", "name")
    must(set(found) == set(told), f"waits {sorted(set(found) ^ set(told))[:4]}")
    for key, op in told.items():
        good = found[key]["waits"] == op["occurrences"] and near(found[key]["wait_ns"], op["time_ps"], op["occurrences"])
        must(good, f"{key}: {found[key]}")


def check_collectives(rows, report, tables):
    """8: how many, and how long."""
    told = by(report.get("collectives", []), "module", "name")
    found = by(rows, "module", "name")
    for key, one in told.items():
        if key in found:
            must(found[key]["executions"] == one["occurrences"], f"{key}: {found[key]['executions']} of {one['occurrences']}")
            good = near(found[key]["total_ns"], one["total_time_ps"], one["occurrences"])
            must(good, f"{key}: {found[key]['total_ns']} ns of {one['total_time_ps']} ps")
    must(set(found) <= set(told) and (found or not told), f"collectives {sorted(found)} are {sorted(told)} in the report")


def check_transfers(rows, report, tables):
    """9: the row of asynchronous ops."""
    told, nr = report.get("async", {}).get("async_line_ps"), sum(row["copies"] for row in rows)
    if told:
        must(near(sum(row["total_ns"] for row in rows), told, nr), f"transfers take {sum(row['total_ns'] for row in rows)} ns of {told} ps")


def check_gaps(rows, report, tables):
    """10: the gaps that the report lists, the longest first, with what the hosts did."""
    told = report["time"].get("idle_gaps") or []
    times = [row["dur"] for row in rows]
    must(times == sorted(times, reverse=True), f"gaps are not in their order: {times[:3]}")
    must(len(rows) == len(told), f"{len(rows)} gaps, {len(told)} told")
    names = device_names(report)
    keys = ("cause", "host_event", "host_thread", "ended_by")
    left = collections.defaultdict(list)
    for gap in told:
        left[(names[gap["device_id"]], *(gap[key] for key in keys))].append(gap["duration_ps"])
    for row in rows:
        place = (row["device"], *(row[key] for key in keys))
        hit = next((ps for ps in left[place] if near(row["dur"], ps)), None)
        must(hit is not None, f"gap {place} of {row['dur']} ns")
        if hit is not None:
            left[place].remove(hit)


def device_names(report):
    """By id, as traces name devices: where there are several hosts, behind their machine's name."""
    run = report["run"]
    return {d["id"]: d["name"] if len(run["hosts"]) < 2 else f"{d['host']} {d['name']}" for d in run["devices"]}


def check_path(rows, report, tables):
    """11: the spans of the critical path, by what they are, where and in which step."""
    steps = [s for s in (report.get("critical_path") or {}).get("steps") or [] if s["step"] is not None]
    names = device_names(report)
    told = by([{"step": s["step"], "kind": p["kind"], "name": p["op"] or p["kind"], "device": names[p["device_id"]],
                "path_ps": p["dur_ps"], "spans": 1} for s in steps for p in s["spans"] or []], "step", "kind", "name", "device")
    found = by(rows, "step", "kind", "name", "device")
    must(found.keys() == told.keys(), f"path: {sorted(found.keys() ^ told.keys())[:3]} in one alone")
    for key in found.keys() & told.keys():
        must(found[key]["spans"] == told[key]["spans"] and near(found[key]["path_ns"], told[key]["path_ps"], told[key]["spans"]),
             f"path {key}: {found[key]}, {told[key]} told")
    made = tables.ask("select * from tpusight_path_steps order by ts, id")
    must(len(made) == len(steps), f"paths of {len(made)} steps, {len(steps)} told")
    for row, step in zip(made, sorted(steps, key=lambda s: s["start_ps"])):
        odd = [k for k in row if k.endswith("_ns") and not near(row[k], step[k[:-3] + "_ps"])]
        must(row["step"] == step["step"] and near(row["dur"], step["duration_ps"]) and not odd, f"path of step {row}: {step}")


CHECKS = dict(zip(range(1, 12), (check_ops, check_lines, check_classes, check_steps, check_findings, check_padding, check_waits,
                                 check_collectives, check_transfers, check_gaps, check_path)))


def executions(report, finding):
    """Of the ops that it names, in the programs that its query names; None: it names none, or one that is not in ops[]."""
    names = {(where["module"], where["op"]) for where in finding["where"]}
    sql = finding["links"]["perfetto_sql"]
    ops = [op for op in report["ops"] if (op["module"], op["name"]) in names]
    if "name in (" not in sql or {(op["module"], op["name"]) for op in ops} != names:
        return None
    programs = set(re.findall(r"'debug\.program_id'\)\) = '(\d+)'", sql))
    must(programs or all(op["module"] is None for op in ops), f"{finding['id']}: the query names no program")
    return sum(max(op["occurrences"] or 0, 0) for op in ops if not programs or op["program_id"] in programs)


def check_finding(ask, report, finding, has_times=True):
    """Its own query, as it stands in the report. A copy of a trace has the trace's own clock, and not the report's."""
    rows = ask(finding["links"]["perfetto_sql"])
    must(rows, f"{finding['id']}: the query gives nothing")
    if not rows:
        return
    must(list(rows[0])[:4] == CLICKABLE, f"{finding['id']}: columns {list(rows[0])}")
    must(len({row["id"] for row in rows}) == len(rows), f"{finding['id']}: slices stand twice")
    told = executions(report, finding)
    must(told is None or len(rows) == told or is_of_gpus(report) and len(rows) > told,
         f"{finding['id']}: {len(rows)} slices of {told} executions")
    times = finding["time_ranges"] if has_times else []
    hit = [r for r in rows for t in times if r["ts"] * 1000 < t["end_ps"] and (r["ts"] + r["dur"]) * 1000 > t["start_ps"]]
    must(hit or not times, f"{finding['id']}: no slice when it happens")


def check_marks(tables, report):
    """Beside the devices each finding has each execution of its ops: several findings of one op, and streams that overlap, too."""
    rows = tables.ask("""select f.finding,
        sum(coalesce(extract_arg(s.arg_set_id, 'debug.events'), extract_arg(s.arg_set_id, 'args.events'))) as events
        from tpusight_findings as f join slice as s on s.id = f.id where f.row_name = 'Findings' group by 1""")
    found = {row["finding"]: row["events"] for row in rows}
    specks = collections.Counter(row["op"] for row in tables.ask("select name as op from tpusight_ops where dur = 0"))  # are not drawn
    for finding in report["doctor"]["findings"]:
        names = {(where["module"], where["op"]) for where in finding["where"]}
        ops = [op for op in report["ops"] if (op["module"], op["name"]) in names and op["program_id"] is not None]
        told = sum(op["occurrences"] or 0 for op in ops) if len(ops) == len(names) else 0
        told -= sum(specks[op["name"]] for op in ops) if told else 0
        must(found.get(finding["id"], 0) >= told, f"{finding['id']}: {found.get(finding['id'], 0)} of {told} executions have a slice")


def summary():
    """{metric: SQL} of the summary for CI."""
    spec = read(ROOT, "src", "trace", "perfetto", "sql", "tpusight.textproto")
    return dict(re.findall(r'metric_spec: \{\n  id: "(\w+)".*?\n      sql: "(.*?)"\n', spec, re.S))


def check_summary(tables, report):
    """Its figures are the report's."""
    found = {name: tables.ask(sql) for name, sql in summary().items()}
    impacts = {f["id"]: f["impact_ps"] for f in report["doctor"]["findings"]}
    for row in found["tpusight_finding_impact"]:
        impact = impacts.pop(row["finding"], "")
        must(row["impact_ns"] is None if impact is None else near(row["impact_ns"], impact or 0), f"summary: {row} of {impact} ps")
    must(not impacts, f"summary: {list(impacts)} are missing")
    classes = sum(row["own_ns"] for row in found["tpusight_time_by_class"])
    must(classes * 1000 <= (report["time"]["total_ps"] or 0) * 1.0001, f"summary: {classes} ns of classes")
    mxu = report["overview"].get("mxu_utilization_pct")
    cores = [row["percent"] for row in found["tpusight_mxu_utilization"] if row["percent"] is not None]
    if mxu is not None and cores and not is_of_gpus(report):  # whose counters begin with their first kernel
        must(abs(sum(cores) / len(cores) - mxu) <= 0.05 * mxu + 0.01, f"summary: MXU {cores}, {mxu} told")
    mean = (report["overview"].get("step_time_ps") or {}).get("mean")
    step_ns = found["tpusight_step_time"][0]["mean_ns"]
    listed = [s for s in report["steps"] if s["start_ps"] is not None]
    good = step_ns is None if mean is None else near(step_ns, mean, 2)
    must(good or len(listed) < len(report["steps"]), f"summary: {step_ns} ns a step, {mean} ps told")


def ask_summary(path, report):
    """The trace processor takes the file as it is, and names each finding."""
    sql = os.path.join(ROOT, "src", "trace", "perfetto", "sql")
    done = subprocess.run([REFEREE, "summarize", "--add-sql-package", sql + "@tpusight", "--metrics-v2", "all", path,
                           os.path.join(sql, "tpusight.textproto")], text=True, capture_output=True)
    must(done.returncode == 0, f"{path}: {done.stderr[-300:]}")
    told = [f["id"] for f in report["doctor"]["findings"] if f["impact_ps"] is not None]
    must(all(f'"{name}"' in done.stdout for name in told), f"{path}: the summary names not all of {told}")


# The sessions

def unpack(to, source):
    """A copy of SOURCE's log directory, or a session with this one profile."""
    if source.endswith(".tar.gz"):
        with tarfile.open(source) as tar:
            tar.extractall(to, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(to)
    elif os.path.isdir(source):
        shutil.copytree(source, to, dirs_exist_ok=True)
    else:
        folder = os.path.join(to, "plugins", "profile", "s")
        os.makedirs(folder)
        shutil.copy(source, folder)
    subprocess.run(["chmod", "-R", "u+w", to], check=True)


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return a is not None and b is not None and abs(a - b) <= 1e-6 * max(1, abs(a))
    return a == b or (a is None and b is None)


def check_referees(session, sql, answers, report, tables):
    """Both forms, in a real trace processor: the answers are those of SQLite, but for ids and the order of equals."""
    for path in sorted(glob.glob(os.path.join(session, "perfetto_trace.*"))):
        referee = Referee(path)
        referee.include(sql)
        for number, query in questions():
            mine = answers[int(number)]
            rows = referee.ask(query, list(mine[0])) if mine else []
            CHECKS[int(number)](rows, report, tables)
            must(len(rows) == len(mine), f"{path}: question {number} has {len(rows)} rows, SQLite {len(mine)}")
            for x, y in zip(rows, mine):
                odd = [(k, x[k], y[k]) for k in y if k in FIGURES and not same(x[k], y[k])]
                must(not odd, f"{path}: question {number}: {odd}")
        for finding in report["doctor"]["findings"]:
            check_finding(referee.ask_finding, report, finding)
        ask_summary(path, report)


def check_other_form(session, sql, answers, report):
    """Perfetto's own form: every answer again, and the same."""
    tables = PbTables(os.path.join(session, "perfetto_trace.pftrace"))
    tables.include(sql)
    ends = {(number, 47 if kind == 48 else 48): nr for (number, kind), nr in tables.flows.items()}
    must(ends == dict(tables.flows), "an arrow has one end")
    check_marks(tables, report)
    for number, query in questions():
        rows, mine = tables.ask(query), answers[int(number)]
        CHECKS[int(number)](rows, report, tables)
        must(len(rows) == len(mine), f"pftrace: question {number} has {len(rows)} rows, JSON {len(mine)}")
        for x, y in zip(rows, mine):
            odd = [(k, x[k], y[k]) for k in y if k in FIGURES and not same(x[k], y[k])]
            must(not odd, f"pftrace: question {number}: {odd}")
    for finding in report["doctor"]["findings"]:
        check_finding(tables.ask, report, finding)


def check(session):
    report = json.loads(read(session, "ALL_HOSTS.tpusight.json"))
    tables, sql = Tables(os.path.join(session, "perfetto_trace.json.gz")), read(session, "tpusight.sql")
    tables.include(sql)
    answers = {}
    for number, query in questions():
        answers[int(number)] = tables.ask(query)
        CHECKS[int(number)](answers[int(number)], report, tables)
    for finding in report["doctor"]["findings"]:
        check_finding(tables.ask, report, finding)
    check_summary(tables, report)
    check_marks(tables, report)
    check_other_form(session, sql, answers, report)
    if REFEREE:
        check_referees(session, sql, answers, report, tables)


def check_trace(folder, source):
    """An annotated copy of a trace: what stands in it is counted, under the names that the report has."""
    trace = shutil.copy(source, folder)
    stem = trace[:-len(".json")]
    subprocess.run([PROGRAM, "annotate", "-q", "--perfetto=json", trace], check=True)
    report, events = json.loads(read(stem + ".tpusight.report.json")), json.loads(read(source))["traceEvents"]
    tables = Tables(stem + ".tpusight.json.gz")
    tables.include(read(stem + ".tpusight.sql"))
    answers = {int(number): tables.ask(query) for number, query in questions()}
    of_gpus = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    must(of_gpus and sum(row["executions"] for row in answers[1]) == len(of_gpus), f"{len(of_gpus)} events of GPUs: {answers[1][:2]}")
    must(near(sum(row["self_ns"] for row in answers[1]), sum(e["dur"] for e in of_gpus) * 1e6, len(of_gpus)), "their time")
    cores = {core["device"] for core in report["time"]["per_core"]}
    must({row["device"] for row in tables.ask("select device from tpusight_ops")} == cores, f"the devices are not {cores}")
    check_steps(answers[4], report, tables)
    check_gaps(answers[10], report, tables)
    check_path(answers[11], report, tables)
    must({row["device"] for row in tables.ask("select device from tpusight_classes")} == cores, "classes have other devices than ops")
    check_findings(answers[5], report, tables)
    for finding in report["doctor"]["findings"]:
        check_finding(tables.ask, report, finding, has_times=False)


def annotated_steps():
    """Two steps of 480 us on the host; the GPU's copy of the first mark is 20 us long, and its work ends 567 us after the mark's start."""
    def event(cat, name, tid, ts, dur, **args):
        pid = 0 if cat in ("kernel", "gpu_user_annotation") else 9
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
    events = []
    for i, (at, kernel) in enumerate(((1000, 1507), (1600, 2010))):
        events += [event("user_annotation", f"ProfilerStep#{i}", 9, at, 480),
                   event("cuda_runtime", "cudaLaunchKernel", 9, at + 10, 5, correlation=i + 1),
                   event("kernel", "gemm", 7, kernel, 60, correlation=i + 1, device=0, stream=7)]
    events.append(event("gpu_user_annotation", "ProfilerStep#0", 7, 1507, 20))
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "traceEvents": events}


def check_annotations(folder):
    """A step is as long as the report says, not as the mark on the host or its copy on the GPU."""
    trace = os.path.join(folder, "steps.pt.trace.json")
    with open(trace, "w", encoding="utf-8") as f:
        json.dump(annotated_steps(), f)
    subprocess.run([PROGRAM, "annotate", "-q", "--perfetto=json", trace], check=True)
    tables = Tables(os.path.join(folder, "steps.pt.trace.tpusight.json.gz"))
    tables.include(read(folder, "steps.pt.trace.tpusight.sql"))
    found = {row["step"]: row["dur"] for row in tables.ask("select * from tpusight_steps")}
    must(found.get(0) == 567000, f"the step is 567 us long: {found}")


def check_late_stamps(folder, source):
    """Stamps since the epoch, which doubles of microseconds hold to 256 ns: that is said, and our slices do not nest in one another."""
    trace, late = os.path.join(folder, "late.pt.trace.json"), 1_700_000_000_000_000
    events = json.loads(read(source))
    for e in events["traceEvents"]:
        if "ts" in e:
            e["ts"] += late
    with open(trace, "w", encoding="utf-8") as f:
        json.dump(events, f)
    said = subprocess.run([PROGRAM, "annotate", trace], check=True, capture_output=True, text=True).stdout
    must("--perfetto=pftrace" in said, f"late stamps are not named: {said[-300:]}")
    with gzip.open(os.path.join(folder, "late.pt.trace.tpusight.json.gz")) as f:
        ours = [e for e in json.load(f)["traceEvents"] if e.get("cat") == "tpusight" and e["ph"] in "XB"]
    rows = collections.defaultdict(list)
    for e in ours:
        rows[e["tid"]].append((round(e["ts"] * 1000), round((e["ts"] + e.get("dur", 0)) * 1000), e["ph"]))
    for tid, slices in rows.items():
        for before, after in zip(slices, slices[1:]):
            # of one time the importer takes the longest X first, and what is B behind all X
            inside = before[0] == before[1] == after[0] and after[2] == "X" and after[1] > after[0]
            must(before[1] <= after[0] and not inside, f"row {tid}: {before} and {after} do not nest")
    must(len(ours) > 10, "there are no slices of ours")


def main():
    need()
    if sqlite3.sqlite_version_info < (3, 25):
        skip("this SQLite has no window functions")
    assert [int(n) for n, _ in questions()] == list(CHECKS), "the page has other questions"
    data = os.path.join(ROOT, "tests", "data")
    sources = [os.path.join(data, "sample", "train_step_simulated")]
    sources += [os.path.join(data, "planted", name + ".tar.gz") for name in PLANTED]
    sources += sorted(glob.glob(os.path.join(data, "cpu_recompile.xplane.pb")))
    sources += sorted(glob.glob(os.path.join(os.environ.get("TS_CORPUS", ""), "xplane", "*.xplane.pb")))
    sources += sys.argv[1:]
    for source in sources:
        before = len(wrong)
        with tempfile.TemporaryDirectory() as logdir:
            unpack(logdir, source)
            subprocess.run([PROGRAM, "annotate", "-q", "--perfetto=both", "--max-trace-events=0", logdir], check=True)
            for report in glob.glob(os.path.join(logdir, "**", "ALL_HOSTS.tpusight.json"), recursive=True):
                check(os.path.dirname(report))
        wrong[before:] = [f"{os.path.basename(source)}: {text}" for text in wrong[before:]]
    with tempfile.TemporaryDirectory() as folder:
        check_trace(folder, os.path.join(data, "hand_made.pt.trace.json"))
        check_annotations(folder)
        check_late_stamps(folder, os.path.join(data, "hand_made.pt.trace.json"))
    for text in wrong[:60]:
        print(text)
    print(f"{len(sources)} runs and a trace, {len(wrong)} wrong{'' if REFEREE else '; not asked: a trace processor (TS_TRACE_PROCESSOR)'}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
