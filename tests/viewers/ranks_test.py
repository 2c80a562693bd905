#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of two ranks, put together in ALL_RANKS.perfetto.zip: read by Python's own zipfile and json, and held against the
documented schema of the manifest (docs/reference/perfetto-manifest.md of google/perfetto, version 1).

  - members are the annotated copies, unpacked, in JSON or in Perfetto's own form; no member is an archive
  - of JSON, each rank is a machine, and its own clock stands to the time of day as its baseTimeNanoseconds says; of traces
    without one, where both begin together. Perfetto's own form says that itself
  - annotating again changes nothing; without the option and by --strip it goes
Where $TS_TRACE_PROCESSOR names Perfetto's trace processor, that opens the file: two machines, nothing lost, in time. It is
asked, too, what becomes of two copies that are opened by hand: our rows stay apart.
Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import gzip
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM, TRACE_PROCESSOR, query

FILE = "ALL_RANKS.perfetto.zip"
BASE_NS = 1700000000000000000
LAGS_NS = (250000, 0)  # rank 0 began later
FIRST_US, NR = 1000, 20
CLOCKS = ("REALTIME", "REALTIME_COARSE", "MONOTONIC", "MONOTONIC_COARSE", "MONOTONIC_RAW", "BOOTTIME")


def trace(rank, has_time):
    events = [{"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "ts": 0, "args": {"name": "python3"}}]
    for i in range(NR):
        at, args = FIRST_US + i * 100.5, {"device": 0, "stream": 7, "correlation": i + 1}
        events.append({"ph": "X", "cat": "kernel", "name": f"gemm_{i % 3}", "pid": 0, "tid": 7, "ts": at, "dur": 60.25,
                       "args": args})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 77, "tid": 77, "ts": at - 10,
                       "dur": 5, "args": {"correlation": i + 1}})
    out = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}],
           "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2}, "traceEvents": events}
    if has_time:
        out["baseTimeNanoseconds"] = BASE_NS + LAGS_NS[rank]
    return out


def put_traces(folder, has_time):
    os.makedirs(folder)
    names = [f"rank{rank}.1700000000000.pt.trace.json" for rank in range(2)]
    for rank, name in enumerate(names):
        with open(os.path.join(folder, name), "w") as f:
            json.dump(trace(rank, has_time), f)
    return names


def annotate(*args):
    subprocess.run([PROGRAM, "annotate", "-q", *args], check=True)


# The documented schema

def check_manifest(manifest, members):
    assert set(manifest) == {"perfetto_manifest"}
    body = manifest["perfetto_manifest"]
    assert {"version", "attributes"} <= set(body) and body["version"] == 1
    assert all(key and type(value) in (str, int) for key, value in body["attributes"].items())
    if set(body) == {"version", "attributes"}:
        return body
    assert set(body) == {"version", "attributes", "trace_time", "files"}
    paths = [entry["path"] for entry in body["files"]]
    assert paths == members and len(set(paths)) == len(paths)
    assert set(body["trace_time"]) == {"clock", "file"} and body["trace_time"]["clock"] in CLOCKS
    assert body["trace_time"]["file"] in paths
    for entry in body["files"]:
        assert set(entry) == {"path", "machine", "clocks"} and set(entry["clocks"]) == {"sync_to", "offset_ns"}
        assert set(entry["machine"]) == {"name"} and entry["machine"]["name"]
        sync = entry["clocks"]["sync_to"]
        assert set(sync) == {"file", "clock"} and sync["file"] in paths and sync["clock"] in CLOCKS
        assert sync["clock"] == body["trace_time"]["clock"] and type(entry["clocks"]["offset_ns"]) is int
    names = [entry["machine"]["name"] for entry in body["files"]]
    assert len(set(names)) == len(names), f"two traces are one machine: {names}"
    return body


def read_zip(path):
    """(manifest, its members by name)"""
    with zipfile.ZipFile(path) as z:
        infos = z.infolist()
        assert z.testzip() is None and infos[0].filename == "perfetto_manifest.json"
        assert all(info.date_time == (1980, 1, 1, 0, 0, 0) for info in infos), "the file has times in it"
        content = {info.filename: z.read(info) for info in infos}
    text = content.pop(infos[0].filename)
    assert text.startswith(b'{"perfetto_manifest"'), "Perfetto knows a manifest by its first bytes"
    assert not any(data.startswith((b"\x1f\x8b", b"PK")) for data in content.values())
    return check_manifest(json.loads(text), list(content)), content


def check_clocks(body, has_time):
    entries = body["files"]
    assert [entry["machine"]["name"] for entry in entries] == ["rank 0", "rank 1"]
    offsets = [entry["clocks"]["offset_ns"] for entry in entries]
    if has_time:
        assert body["trace_time"]["clock"] == "REALTIME" and offsets == [BASE_NS + lag for lag in LAGS_NS], offsets
    else:
        assert body["trace_time"]["clock"] == "BOOTTIME" and offsets == [0, 0], offsets


def check_file(folder, names, form, has_time):
    body, members = read_zip(os.path.join(folder, FILE))
    assert len(members) == len(names)
    for name, (member, data) in zip(names, members.items()):
        copy = name.removesuffix(".json") + ".tpusight." + form
        with gzip.open(os.path.join(folder, copy + (".gz" if form == "json" else ""))) as f:
            assert member == copy and f.read() == data, f"{member} is not the copy"
    assert ("files" in body) == (form == "json")
    if form == "json":
        check_clocks(body, has_time)
    attributes = body["attributes"]
    assert attributes["generator"] == "tpusight" and attributes["tpusight.chip"] == "NVIDIA H100"
    assert attributes["tpusight.rank_count"] == 2 and 0 <= attributes["tpusight.health_score"] <= 100


def content(folder):
    out = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            out[name] = f.read()
    return out


def but_states(files):
    """Reports have a state of the files beside them, with their times and inodes: a file that was made anew has others."""
    return {name: re.sub(rb'"state": "[0-9a-f]{32}"', b"", data) for name, data in files.items()}


def check_folder(folder, form, has_time):
    names = put_traces(folder, has_time)
    before = content(folder)
    annotate("--perfetto=" + form, "--perfetto-zip", folder)
    check_file(folder, names, form, has_time)
    once = content(folder)
    annotate("--perfetto=" + form, "--perfetto-zip", folder)
    assert content(folder) == once, "annotating twice changed files"
    annotate("--perfetto=" + form, folder)
    assert FILE not in content(folder) and set(once) - set(content(folder)) == {FILE}, "it stays when it is not wanted"
    annotate("--perfetto=" + form, "--perfetto-zip", folder)
    assert but_states(content(folder)) == but_states(once)
    annotate("--strip", folder)
    assert content(folder) == before, "--strip does not bring the folder back"
    annotate("--perfetto=" + form, "--perfetto-zip", folder)
    return names


# The trace processor

BAD = "select name, value from stats where value > 0 and severity in ('error', 'data_loss')"
ROWS = """select ifnull(m.name, ''), p.name, p.pid, count(*), min(s.ts) from slice s
    left join thread_track on s.track_id = thread_track.id left join thread on thread.utid = thread_track.utid
    left join process_track on s.track_id = process_track.id
    join process p on p.upid = ifnull(process_track.upid, thread.upid) left join machine m on m.id = p.machine_id
    where {} group by p.upid order by 1, 2, 3"""


def check_processor(folder, form, has_time):
    """In JSON, time begins with the common clock; in Perfetto's own form, with the first event of the run."""
    path = os.path.join(folder, FILE)
    assert not query(path, BAD), query(path, BAD)
    assert sorted(row[0] for row in query(path, "select name from machine")) == ["rank 0", "rank 1"]
    found = [(m, int(n), int(at)) for m, _, _, n, at in query(path, ROWS.format("s.name glob 'gemm_*'"))]
    starts = [(BASE_NS + lag if has_time else 0) + FIRST_US * 1000 for lag in LAGS_NS]
    if form == "pftrace":
        first = starts[1] - 10000 if has_time else starts[0] - 10000  # a launch stands 10 us before its kernel
        starts = [at - first for at in starts]
    assert found == [(f"rank {i}", NR, at) for i, at in enumerate(starts)], (found, starts)
    ours = query(path, ROWS.format("s.category glob 'tpusight'"))
    assert {row[0] for row in ours} == {"rank 0", "rank 1"} and not len(ours) % 2, ours


def check_by_hand(folder, names):
    """JSON has no machines; ours are apart all the same, and say which rank's they are."""
    path = os.path.join(folder, "hand.tar")
    with tarfile.open(path, "w") as tar:
        for i, name in enumerate(names):
            copy = os.path.join(folder, name.removesuffix(".json") + ".tpusight.json.gz")
            tar.add(copy, arcname=f"{i}.json.gz")
    assert not query(path, BAD), query(path, BAD)
    devices = [row[1] for row in query(path, ROWS.format("s.category glob 'tpusight'")) if "device" in row[1]]
    assert devices == ["TPUsight: /device:GPU:0 (rank 0)", "TPUsight: /device:GPU:0 (rank 1)"], devices


def main():
    with tempfile.TemporaryDirectory() as folder:
        for form in ("pftrace", "json"):
            for has_time in (True, False):
                at = os.path.join(folder, f"{form}-{has_time}")
                names = check_folder(at, form, has_time)
                if TRACE_PROCESSOR:
                    check_processor(at, form, has_time)
        if TRACE_PROCESSOR:
            check_by_hand(at, names)
    print("two ranks in one file, by their own clocks and without"
          + ("; the trace processor keeps them apart and in time" if TRACE_PROCESSOR else "; no trace processor to ask"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
