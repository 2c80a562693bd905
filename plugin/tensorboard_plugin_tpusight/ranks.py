# SPDX-License-Identifier: MIT
"""Which traces of a folder are the ranks of one job, by the rules of the program (src/io/captures.h): their heads name jobs of one
size, other ranks and the same kind of device, and their names are of times no further apart than a minute."""
import collections
import gzip
import re
from typing import Any, List

HEAD_BYTES = 65536  # what a trace says of its job stands before the events
APART_S = 60
DIGITS_PER_S = ((11, 1), (14, 1000), (17, 1000000), (20, 1000000000))
RANK_NAME = re.compile(r".*rank[_-]*(\d+).*\.json(\.gz)?$")
TIME_NAME = re.compile(r"\.(\d+)(\.pt)?(\.trace)?\.json(\.gz)?$")

# Events of a kind that Kineto alone has, as the program knows them (src/io/captures.c).
KINETO_EVENT = re.compile(rb'"cat"[ :]*"(cpu_op|(gpu_)?user_annotation|cuda_(runtime|driver)|gpu_mem(cpy|set)|python_function'
                          rb'|privateuse1_runtime)"')
FIRST_DEVICE = re.compile(rb'"deviceProperties"[^\]]*?"name"[^"\]]*"([^"\]]*)"')

Trace = collections.namedtuple("Trace", "entry rank size time_s device")


def _head(path):
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with (gzip.open if packed else open)(path, "rb") as file:
            return file.read(HEAD_BYTES)
    except (OSError, EOFError, ValueError):
        return b""


def _number(info, key):
    found = re.search(rb'"' + key + rb'"\s*:\s*(\d+)', info)
    return int(found.group(1)) if found else -1


def _time_s(name):
    found = TIME_NAME.search(name)
    if not found:
        return -1
    return next((int(found.group(1)) // per_s for digits, per_s in DIGITS_PER_S if len(found.group(1)) <= digits), -1)


def is_rank(entry, any_name):
    """Is this file a rank's trace, although its name is not that of a profiler's trace? ANY_NAME: of names without a rank, too."""
    if not entry.name.endswith((".json", ".json.gz")) or ".tpusight." in entry.name:
        return False
    named = RANK_NAME.match(entry.name)
    if not named and not any_name:
        return False
    head = _head(entry.path)
    is_trace = b'"traceEvents"' in head or b'"ph"' in head
    says_kineto = b'"schemaVersion"' in head
    is_kineto = says_kineto and b'"deviceProperties"' in head or is_trace and (says_kineto or bool(KINETO_EVENT.search(head)))
    return b'"distributedInfo"' in head or is_kineto or bool(named and (is_trace or b'"schemaVersion"' in head))


def _read(entry, nr):
    head = _head(entry.path)
    _, info, behind = head.partition(b'"distributedInfo"')
    named, found = RANK_NAME.match(entry.name), FIRST_DEVICE.search(head)
    device = found.group(1) if found else b""
    if info:
        return Trace(entry, _number(behind[:4096], b"rank"), _number(behind[:4096], b"world_size"), _time_s(entry.name), device)
    return Trace(entry, int(named.group(1)) if named else -1, nr if named else -1, _time_s(entry.name), device)


def _takes(group, trace):
    first, device = group[0], next((other.device for other in group if other.device), b"")
    return (trace.size > 1 and trace.size == first.size and (trace.time_s < 0) == (first.time_s < 0)
            and (not trace.device or not device or trace.device == device)
            and trace.time_s - first.time_s <= APART_S and all(trace.rank != other.rank for other in group))


def jobs(entries):
    """The entries of a folder's traces, as lists: those of one job together."""
    if len(entries) < 2:
        return [[entry] for entry in entries]
    groups: List[List[Any]] = []
    for trace in sorted((_read(entry, len(entries)) for entry in entries), key=lambda t: (t.time_s, t.entry.name)):
        group = next((g for g in groups if _takes(g, trace)), None)
        if group:
            group.append(trace)
        else:
            groups.append([trace])
    return [sorted((trace.entry for trace in group), key=lambda e: e.name) for group in groups]
