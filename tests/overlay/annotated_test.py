#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real traces annotated, held against Python's own gzip and json: annotated_test.py

Every trace below $TS_CORPUS/kineto (without it: tests/data/hand_made.pt.trace.json alone) is annotated as it is, plain, as a
bare list of events, with traceEvents as the first member and cut in the middle. Then
 - the copy is JSON, and what is taken out of it is ours: the rest is the trace, byte for byte (of a cut one, its front);
 - its first events are the trace's, and their values equal; no pid or tid of ours is one of the trace's;
 - what parts a device's time begins and ends where events of the trace do, to the nanosecond; slices of a row never overlap,
   both in what Perfetto's importer makes of the numbers, for clocks that began long ago too;
 - annotating again changes nothing, and --strip leaves the trace alone in its folder, with the bytes and the time it had.
$TS_ANNOTATE: the program (default bin/tpusight-annotate).
"""
import bisect
import decimal
import gzip
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ANNOTATE = [os.path.abspath(os.environ.get("TS_ANNOTATE", "bin/tpusight-annotate"))]
TOP = pathlib.Path(os.environ.get("srcdir", "."))
CORPUS = pathlib.Path(os.environ.get("TS_CORPUS", TOP / "../shared/corpus")) / "kineto"
KEY = "tpusight_annotation"
MARK = re.compile(rb'(?:"tpusight_annotation":\{[^{}]*\},\n|\{"name":"tpusight_annotation","ph":"M"[^{}]*\{[^{}]*\}\},\n)')


def traces():
    found = [TOP / "tests/data/hand_made.pt.trace.json"]
    found += sorted(CORPUS.glob("*.json.gz")) if CORPUS.is_dir() else []
    for path in found:
        data = path.read_bytes()
        yield path.name.split(".")[0], gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


LATE = ("52 days after boot", 4500000000000), ("since the epoch", 1700000000000000)


def later(text, since_us):
    """The same events on a clock that began SINCE_US before."""
    events = parse(text)["traceEvents"][:20000]
    for e in events:
        e.update({key: f"@{e[key] + since_us}@" for key in ("ts",) if key in e})
    text = json.dumps(events, default=lambda number: f"@{number}@")
    return re.sub('"@([^@"]*)@"', r"\1", text).encode()


def forms(text):
    """(name, file name, content, whole?)"""
    trace = json.loads(text)
    events = trace["traceEvents"]
    yield "packed", "a.pt.trace.json.gz", gzip.compress(text, 1), text, True
    if len(text) > 30e6:  # the forms make no difference to size
        return
    yield "plain", "a.pt.trace.json", text, text, True
    listed = json.dumps(events[:20000]).encode()
    yield "list", "a.json", listed, listed, True
    for clock, since_us in LATE:
        late = later(text, since_us)
        yield clock, "a.pt.trace.json", late, late, True
    first = json.dumps({"traceEvents": events[:20000]} | {k: v for k, v in trace.items() if k != "traceEvents"}).encode()
    yield "first", "a.pt.trace.json", first, first, True
    at = text.index(b'"traceEvents"')
    cut = text[:at + (len(text) - at) * 2 // 3]
    yield "cut", "a.pt.trace.json", cut, cut, False
    packed = gzip.compress(text, 1)
    if len(text) > 100000:  # of a small one nothing comes out
        yield "cut when packed", "a.pt.trace.json.gz", packed[:len(packed) * 2 // 3], None, False


def run(*args):
    done = subprocess.run(ANNOTATE + [str(arg) for arg in args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{args}: status {done.returncode}\n{done.stdout}"


def look(folder):
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns, p.stat().st_ino) for p in folder.iterdir()}


def parse(text):
    """Numbers as they stand there: since the epoch, a double has no ns."""
    return json.loads(text, parse_float=decimal.Decimal)


def ns(value):
    """A time in us, cut to whole ns."""
    return math.floor(decimal.Decimal(value) * 1000)


def imported(value):
    """What Perfetto's importer (58) makes of a time: a whole number as it is, all else through a double."""
    us = float(value)
    ns = us * 1000
    return int(us) * 1000 if us == math.trunc(us) else math.floor(ns) + (ns - math.floor(ns) >= 0.5)


def grid(value):
    """How far apart two times are at least that it can tell, in ns."""
    return max(1, math.ceil(math.ulp(float(value)) * 1000))


def near(at, edges):
    """Does an event begin or end there, but for specks that have no slice?"""
    return any(at + ns in edges for ns in (0, 1, -1, 2, -2, 3, -3, 4, -4))


def edge(value):
    return imported(decimal.Decimal(ns(value)) / 1000)


def take_out(text, first_pid):
    """The copy's text without what is ours: all from our first event's comma to the last one's end."""
    text, nr = MARK.subn(b"", text, count=1)
    assert nr == 1, "no mark at the front"
    start = text.find(b'\n{"ph":"M","pid":%d,' % first_pid)
    if start < 0:
        return text, None
    start -= 1  # the comma, or the blank in its place
    assert text[start:start + 1] in (b",", b" ")
    end, decoder, at = start, json.JSONDecoder(), start + 2
    while True:
        line = text[at:text.find(b"\n", at) if text.find(b"\n", at) > 0 else len(text)].decode()
        event, n = decoder.raw_decode(line)
        if event["pid"] < first_pid:
            break
        end = at + len(line[:n].encode())
        if text[end:end + 3] != b",\n{":
            break
        at = end + 2
    return text[:start] + text[end:], text[start:end]


# Rows that part the time at the events' own edges; an event of which several classes are known is parted within them.
EXACT = ("TPUsight: Time classes", "TPUsight: Step classes")


def whole_slices(events):
    """A slice that begins where one of no length lies, in the importer's eyes, has its end apart: as one event again."""
    out, begun = [], {}
    for e in events:
        if e["ph"] == "B":
            begun[e["pid"], e["tid"]] = e = {**e, "ph": "X"}
        elif e["ph"] == "E":
            begin = begun.pop((e["pid"], e["tid"]))
            begin["dur"] = decimal.Decimal(imported(e["ts"]) - imported(begin["ts"])) / 1000
            continue
        out.append(e)
    assert not begun, "a slice without an end"
    return out


def check_arrows(theirs, ours, name):
    """Each arrow has two ends, an id that is not the trace's, and a slice of ours at either end: the importer drops what has none."""
    slices = {}
    for e in ours:
        if e["ph"] == "X":
            slices.setdefault((e["pid"], e["tid"]), []).append((imported(e["ts"]), imported(e["ts"]) + imported(e["dur"])))
    ends = {ph: {e["id"]: e for e in ours if e["ph"] == ph} for ph in "sf"}
    assert ends["s"].keys() == ends["f"].keys(), f"{name}: an arrow with one end"
    assert not ends["s"].keys() & {e.get("id") for e in theirs}, f"{name}: an arrow of ours has the id of one of the trace's"
    for e in [*ends["s"].values(), *ends["f"].values()]:
        row, at = slices[e["pid"], e["tid"]], imported(e["ts"])  # slices of a row do not overlap: the last that began
        last = bisect.bisect_right(row, (at, float("inf"))) - 1
        assert last >= 0 and row[last][0] <= at <= row[last][1], f"{name}: {e} points at nothing"


def check_ours(theirs, ours, name):
    ids = {str(e.get(k)) for e in theirs for k in ("pid", "tid")}
    assert not [e for e in ours if str(e["pid"]) in ids or str(e.get("tid")) in ids], f"{name}: an id of ours is the trace's"
    ours = whole_slices(ours)
    assert {e["ph"] for e in ours} <= {"M", "X", "C", "s", "f"}
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in ours if e["name"] == "thread_name"}
    processes = {e["pid"]: e["args"]["name"] for e in ours if e["name"] == "process_name"}
    assert all(row == "TPUsight" or row.startswith("TPUsight: ") for row in [*rows.values(), *processes.values()])
    edges = set()
    for e in theirs:
        if e.get("ph") == "X" and "ts" in e:
            start = decimal.Decimal(e["ts"])
            edges |= {edge(start), edge(start + decimal.Decimal(e.get("dur", 0)))}
    ends = {}
    for e in ours:
        assert e["pid"] in processes
        if e["ph"] != "X":
            continue
        place, start, dur = (e["pid"], e["tid"]), imported(e["ts"]), imported(e["dur"])
        before = ends.get(place)
        assert dur >= 0 and (before is None or start >= before), f"{name}: slices of {rows[place]} overlap: {e} {before} {start}"
        ends[place] = start + dur
        # what is shorter than the importer can tell is told by another slice of its class, and leaves that much room
        if rows[place] in EXACT and not (before is not None and start - before <= 4 * grid(e["ts"])):
            assert near(start, edges) and (before is None or near(before, edges)), \
                f"{name}: {e}, or what is before it ({before}), is of no event's time"
    assert all(near(end, edges) for place, end in ends.items() if rows[place] in EXACT), f"{name}: a row ends with no event"
    check_arrows(theirs, ours, name)
    return sum(e["ph"] == "X" for e in ours), len(rows), sum(e["ph"] == "C" for e in ours)


def check(name, file, content, text, whole, folder):
    trace = folder / file
    trace.write_bytes(content)
    os.utime(trace, ns=(1600000000_000000000, 1600000000_123456789))
    before = look(folder)
    run(trace)
    stem = file[:-len(".json.gz")] if file.endswith(".gz") else file[:-len(".json")]
    ours = [stem + end for end in (".tpusight.json.gz", ".tpusight.report.json", ".tpusight.sql")]
    assert sorted(look(folder)) == sorted([file, *ours]), look(folder)
    after = look(folder)
    assert after[file] == before[file], f"{name}: the trace was changed"
    copy = gzip.decompress(after[stem + ".tpusight.json.gz"][0])
    data = parse(copy)
    mark = data[KEY] if isinstance(data, dict) else data[0]["args"]
    assert mark["generator"] == "tpusight" and mark["source"] == file and ("source_ends_at" in mark) == (not whole)
    rest, added = take_out(copy, mark["first_pid"])
    if whole:
        assert rest == text, f"{name}: what is not ours is not the trace"
    elif text:
        n = mark["source_ends_at"]
        assert rest[:n] == text[:n] and rest[n:] in (b"]}", b"}", b"]"), f"{name}: {rest[n:][:80]}"
    events = data if isinstance(data, list) else data["traceEvents"]
    theirs = [e for e in events if not (isinstance(e.get("pid"), int) and e["pid"] >= mark["first_pid"])]
    ours = events[len(theirs) + isinstance(data, list):]
    if whole:
        original = parse(text)
        assert theirs == (original if isinstance(original, list) else original["traceEvents"]), f"{name}: other events"
        if isinstance(original, dict):
            assert {k: v for k, v in data.items() if k not in (KEY, "traceEvents")} == \
                {k: v for k, v in original.items() if k != "traceEvents"}, f"{name}: other members"
    counts = check_ours(theirs, ours, name) if added else (0, 0, 0)
    run(trace)
    assert look(folder) == after, f"{name}: annotating twice is not the same as once"
    run("--strip", trace)
    assert look(folder) == before, f"{name}: --strip left {sorted(look(folder))}"
    trace.unlink()
    print(f"{name}: {len(theirs)} events, {counts[0]} slices of ours in {counts[1]} rows, {counts[2]} points")


def main():
    if not CORPUS.is_dir():
        print(f"no traces below {CORPUS} (TS_CORPUS): the hand-made one alone")
    with tempfile.TemporaryDirectory() as top:
        for name, text in traces():
            for form, file, content, plain, whole in forms(text):
                check(f"{name}, {form}", file, content, plain, whole, pathlib.Path(top))
    return 0


if __name__ == "__main__":
    sys.exit(main())
