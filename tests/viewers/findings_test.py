#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every finding of the report stands in every trace that is written for Perfetto: findings_test.py [NAME...]

Of each planted run, the profiles and traces of tests/data, the sample, and the corpus where it is there: `annotate` writes
perfetto_trace.json.gz and .pftrace, or the annotated copy of a trace, and then
  - the process "TPUsight" has a row and a slice for each finding of the report, in its order, that
    lies within the file's own time, and whose args are the report's figures as numbers: integers and reals
  - each slice of the rows of findings beside a device names a finding of the report
  - keys of our args are names that SQL takes; the two forms have the same args of the same types
$TPUSIGHT names the program (default bin/tpusight); $TS_TRACE_PROCESSOR, where it is set, a trace processor, which must read
the files without an error and find the same findings. Bytes are read with Python's own json and tests/fixtures/wire.py.
"""
import glob
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import DATA, PROGRAM, TRACE_PROCESSOR, query
from wire import fields, signed

CORPUS = os.environ.get("TS_CORPUS", "")
PROCESS = "TPUsight"
OF_DEVICES = ("TPUsight: Findings", "TPUsight: Gaps and slow steps")
TEXTS = ("rule", "severity", "title", "evidence", "advice", "confidence", "code")


def expected(findings):
    """The args that the slices of the run's own rows must have, in the order of the rows."""
    out = []
    for rank, finding in enumerate(findings, 1):
        args = {"finding": finding["id"], "rank": rank} | {key: finding[key] for key in TEXTS}
        for key in ("impact", "gain"):
            ps, pct = finding[key + "_ps"], finding[key + "_pct"]
            args |= {key + "_ns": None if ps is None else ps // 1000, key + "_pct": None if pct is None else float(pct)}
        out.append({key: value for key, value in args.items() if value is not None})
    return out


def typed(args):
    """Equal for equal values of equal types only; without what each slice says of itself."""
    return sorted((k, type(v).__name__, v) for k, v in args.items() if k not in ("own_ns", "events"))


# JSON

def load_json(path):
    with gzip.open(path) as f:
        trace = json.load(f)
    return trace if isinstance(trace, list) else trace["traceEvents"]


def check_json(path, findings, is_profile):
    events = load_json(path)
    names = {what: {e["pid"] if what == "process_name" else e["tid"]: e["args"]["name"] for e in events
                    if e.get("name") == what and "args" in e} for what in ("process_name", "thread_name")}
    ours = [e for e in events if e.get("ph") == "X" and e.get("cat") == "tpusight"]
    theirs = [e for e in events if e.get("ph") == "X" and e.get("cat") != "tpusight" and "ts" in e and "dur" in e]
    rows = sorted((e for e in ours if names["process_name"][e["pid"]] == PROCESS and "finding" in e["args"]), key=lambda e: e["tid"])
    assert [typed(e["args"]) for e in rows] == [typed(args) for args in expected(findings)], "the rows are not the report"
    assert [names["thread_name"][e["tid"]] for e in rows] == [
        f"TPUsight: {rank} {finding['severity']}" for rank, finding in enumerate(findings, 1)]
    last = max([float(e["ts"]) + float(e["dur"]) for e in theirs], default=0)
    first = 0 if is_profile else min([float(e["ts"]) for e in theirs], default=0)
    for e in rows:
        assert e["args"]["events"] == 1
        grain = 1.5 + e["ts"] * 1000 * 2 ** -51  # ends are cut to ns, and to what a double holds of a late clock
        assert abs(e["args"]["own_ns"] - e["dur"] * 1000) < grain, f"{e} is not all its own"
        assert first - 1 <= e["ts"] and e["ts"] + e["dur"] <= last + 1, f"{e['name']} is outside the file's time"
    ids = {finding["id"] for finding in findings}
    for e in ours:
        assert all(re.fullmatch("[a-z][a-z0-9_]*", key) for key in e["args"]), f"keys {list(e['args'])}"
        if re.sub(r" \(\d+\)$", "", names["thread_name"][e["tid"]]) in OF_DEVICES:
            assert e["args"]["finding"] in ids, f"{e['name']} names no finding"
    return sorted(typed(e["args"]) for e in ours if "finding" in e["args"])


# Perfetto's own form: the fields of TracePacket that we write, google/perfetto, protos/perfetto/trace/

def one(message, number, default=None):
    return next((value for field, _, value in fields(message) if field == number), default)


class Sequence:
    def __init__(self):
        self.keys, self.texts = {}, {}

    def intern(self, data):
        for field, _, entry in fields(data):
            if field in (3, 29):
                (self.keys if field == 3 else self.texts)[one(entry, 1)] = one(entry, 2, b"").decode()

    def args(self, event):
        out = {}
        for field, _, note in fields(event):
            if field == 4:
                values = {f: v for f, _, v in fields(note)}
                key = self.keys[values.pop(1)]
                (kind, value), = values.items()
                out[key] = {3: lambda v: v, 4: signed, 6: bytes.decode, 17: self.texts.get,
                            5: lambda v: struct.unpack("<d", struct.pack("<Q", v))[0]}[kind](value)
        return out


def check_pftrace(path):
    """The args of every slice that names a finding."""
    with gzip.open(path) as f:
        data = f.read()
    sequences, found = {}, []
    for _, _, packet in fields(data):
        sequence = sequences.setdefault(one(packet, 10, 0), Sequence())
        sequence.intern(one(packet, 12, b""))
        args = sequence.args(one(packet, 11, b""))
        if "finding" in args:
            found.append(typed(args))
    return sorted(found)


# All of it

def ask_referee(path, findings, is_ours):
    errors = query(path, "select name, value from stats where value > 0 and severity in ('error', 'data_loss')")
    assert not (errors and is_ours), errors  # a trace of others may have errors of its own
    ids = query(path, "select distinct string_value from args where key in ('args.finding', 'debug.finding') order by 1")
    assert [row[0] for row in ids] == sorted({finding["id"] for finding in findings}), f"{path}: {ids}"


def report_of(path):
    done = subprocess.run([PROGRAM, "report", "-q", "--format=json", path], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["doctor"]["findings"]


def check_profile(session):
    findings = report_of(session)
    subprocess.run([PROGRAM, "annotate", "-q", "--perfetto=both", session], check=True)
    paths = [os.path.join(session, "perfetto_trace" + end) for end in (".json.gz", ".pftrace")]
    assert check_json(paths[0], findings, True) == check_pftrace(paths[1]), "the two forms have other args"
    for path in paths if TRACE_PROCESSOR else []:
        ask_referee(path, findings, True)
    return findings


def check_trace(path):
    findings = report_of(path)
    subprocess.run([PROGRAM, "annotate", "-q", path], check=True)
    copy, = glob.glob(os.path.join(os.path.dirname(path), "*.tpusight.json.gz"))
    check_json(copy, findings, False)
    if TRACE_PROCESSOR:
        ask_referee(copy, findings, False)
    return findings


def put_profile(path, folder):
    session = os.path.join(folder, "plugins", "profile", "s")
    os.makedirs(session)
    shutil.copyfile(path, os.path.join(session, os.path.basename(path)))
    return session


def put_archive(path, folder):
    with tarfile.open(path) as tar:
        tar.extractall(folder)
    return glob.glob(os.path.join(folder, "*", "plugins", "profile", "*"))[0]


def put_folder(path, folder):
    shutil.copytree(path, folder, copy_function=shutil.copyfile)
    return glob.glob(os.path.join(folder, "plugins", "profile", "*"))[0]


def put_trace(path, folder):
    os.makedirs(folder)
    return shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))


SOURCES = (
    (put_profile, check_profile, os.path.join(DATA, "*.xplane.pb")),
    (put_archive, check_profile, os.path.join(DATA, "planted", "*.tar.gz")),
    (put_folder, check_profile, os.path.join(DATA, "sample", "*")),
    (put_trace, check_trace, os.path.join(DATA, "*.pt.trace.json*")),
    (put_profile, check_profile, os.path.join(CORPUS, "xplane", "*.xplane.pb")),
    (put_trace, check_trace, os.path.join(CORPUS, "kineto", "*.json.gz")),
)


def main():
    wanted, bad, nr = sys.argv[1:], 0, 0
    if not CORPUS:
        print("TS_CORPUS is not set: the runs of tests/data alone are looked at")
    with tempfile.TemporaryDirectory() as top:
        for put, check, pattern in SOURCES if CORPUS else SOURCES[:4]:
            for path in sorted(glob.glob(pattern)):
                name = os.path.basename(path).split(".")[0]
                if wanted and name not in wanted:
                    continue
                folder = os.path.join(top, str(nr))
                nr += 1
                try:
                    findings = check(put(path, folder))
                    print(f"{name}: {len(findings)} findings, each in its place")
                except AssertionError as e:
                    bad += 1
                    print(f"{name}: {str(e)[:2000]}")
                shutil.rmtree(folder)
    print(f"{nr} runs, {bad} wrong")
    return bad > 0 or nr == 0


if __name__ == "__main__":
    sys.exit(main())
