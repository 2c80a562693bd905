#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hosts whose clocks differ: clocks.py TPUSIGHT SAMPLE.xplane.pb

The four cores of the sample run as two hosts, cut so that groups of two meet inside a host, and so that they meet across.
The second host's clock is off by 20 us to 50 ms, drifts, and its capture begins later; the report must say by how much, and
who was late, which cores meet and why steps are slow must be what the sample holds. That is worked out here, from the
protobuf: who comes last to each execution of a collective, over the cores that leave it together. Hosts that share no
collective have unknown clocks.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from wire import BYTES, blob, fields, varint

DEVICE_LINES = (b"Steps", b"XLA Modules", b"XLA Ops", b"Async XLA Ops", b"XLA TraceMe")
SECOND_HOST = 2  # its first core
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAIL", what)


def put(field, kind, value):
    return blob(field, value) if kind == BYTES else varint(field << 3 | kind) + (
        varint(value) if kind == 0 else value.to_bytes(8 if kind == 1 else 4, "little"))


def times_of(event):
    offset = duration = 0
    for field, _, value in fields(event):
        offset, duration = (value, duration) if field == 2 else (offset, value) if field == 3 else (offset, duration)
    return offset, duration


def changed_event(event, drift):
    out = b""
    for field, kind, value in fields(event):
        out += put(field, kind, round(value * (1 + drift)) if field in (2, 3) else value)
    return out


def changed_line(line, drift, from_ps):
    """The same line on a clock that drifts; of a device's only what begins at FROM_PS or later."""
    parts = list(fields(line))
    is_device = next(v for f, _, v in parts if f == 2) in DEVICE_LINES
    out = b""
    for field, kind, value in parts:
        if field == 4 and is_device and times_of(value)[0] < from_ps:
            continue
        if field == 4:
            value = changed_event(value, drift)
        out += put(field, kind, round(value * (1 + drift)) if field == 3 else value)
    return out


def name_of(plane):
    return next(v for f, _, v in fields(plane) if f == 2)


def later_stat(stat, offset_ns):
    """Of the task: when the profiler began and stopped, by a clock that is so much later."""
    return b"".join(put(f, k, v + offset_ns if f == 3 and v > 10**15 else v) for f, k, v in fields(stat))


def changed_plane(plane, offset_ns, drift, from_ps):
    out = b""
    is_task = name_of(plane) == b"Task Environment"
    for field, kind, value in fields(plane):
        if field == 3:
            value = changed_line(value, drift, from_ps)
        elif field == 6 and is_task:
            value = later_stat(value, offset_ns)
        out += put(field, kind, value)
    return out


def without_steps(space):
    """The same run with no step marks: steps are inferred from its modules."""
    return space.replace(blob(2, b"Steps"), blob(2, b"steps"))


def host_file(space, cores, offset_ns=0, drift=0.0, from_ps=0):
    out = b""
    for field, kind, value in fields(space):
        if field != 1:
            out += put(field, kind, value)
            continue
        name = name_of(value)
        if name.startswith(b"/device:TPU:") and int(name.rsplit(b":", 1)[1]) not in cores:
            continue
        out += blob(1, changed_plane(value, offset_ns, drift, from_ps))
    return out


class Core:
    """What a device plane says of collectives: op -> [(start, end)], and its steps."""

    def __init__(self, plane):
        names, self.arrivals, self.steps = {}, {}, []
        for field, _, value in fields(plane):
            if field == 4:
                entry = {f: v for f, _, v in fields(value)}
                meta = {f: v for f, _, v in fields(entry[2])}
                names[entry[1]] = meta.get(4, meta.get(2, b"")).decode()
        for field, _, value in fields(plane):
            if field != 3:
                continue
            line = list(fields(value))
            kind = next(v for f, _, v in line if f == 2)
            for f, _, event in line:
                if f != 4 or kind not in (b"XLA Ops", b"Steps"):
                    continue
                key = next(v for g, _, v in fields(event) if g == 1)
                start, duration = times_of(event)
                if kind == b"Steps":
                    self.steps.append((names[key], start))
                elif names[key].startswith("all-reduce"):
                    self.arrivals.setdefault(names[key], []).append((start, start + duration))


def groups_of(arrivals):
    """Cores that leave together, within 1 us in every execution."""
    groups = []
    for core, own in enumerate(arrivals):
        for group in groups:
            if all(abs(a[1] - b[1]) < 10**6 for a, b in zip(own, arrivals[group[0]])):
                group.append(core)
                break
        else:
            groups.append([core])
    return groups


def lasts_of(arrivals, groups, from_ps):
    """How often each core came last to its group, and how many executions are on all cores of their group."""
    lasts, nr = [0] * len(arrivals), 0
    for group in groups:
        for k in range(len(arrivals[0])):
            order = sorted(group, key=lambda core, k=k: arrivals[core][k][0])
            if any(core >= SECOND_HOST and arrivals[core][k][0] < from_ps for core in group):
                continue
            nr += 1
            if len(order) > 1 and arrivals[order[-1]][k][0] > arrivals[order[-2]][k][0]:
                lasts[order[-1]] += 1
    return lasts, nr


def report_of(tpusight, folder, files):
    session = os.path.join(folder, "plugins", "profile", "one")
    os.makedirs(session)
    for name, data in files.items():
        with open(os.path.join(session, name + ".xplane.pb"), "wb") as out:
            out.write(data)
    made = subprocess.run([tpusight, "report", "--format", "json", folder], capture_output=True, check=True)
    return json.loads(made.stdout)


def report(tpusight, files):
    with tempfile.TemporaryDirectory() as folder:
        return report_of(tpusight, folder, files)


def slow_steps(found):
    kept = ("step", "duration_ps", "cause", "device_id", "is_straggler", "op")
    return [{k: row[k] for k in kept} for row in found["time"]["steps_outliers"]]


def late_of(row):
    return row["step"], row["cause"], row["is_straggler"] and row["device_id"]


def doubts(found):
    return [cause["id"] for cause in found["capture"]["causes"]]


def check_late(found, cores, from_ps, where):
    """Who was late, of executions that begin at FROM_PS or later on the second host."""
    rows = {row["name"]: row for row in found["collectives"]}
    check(set(cores[0].arrivals) == set(rows), f"{where}: collectives {sorted(rows)}")
    for name, row in rows.items():
        arrivals = [core.arrivals[name] for core in cores]
        groups = groups_of(arrivals)
        lasts, nr = lasts_of(arrivals, groups, from_ps)
        check(row["matched_count"] == nr, f"{where}: {name} matched {row['matched_count']}, not {nr}")
        late = row["straggler_device_id"]
        check(late is not None and lasts[late] == max(lasts), f"{where}: {name} {row['straggler']}, of {lasts}")
        told = ",".join("{" + ",".join(map(str, g)) + "}" for g in groups) if len(groups) > 1 else None
        check(row["groups"] == told, f"{where}: {name} {row['groups']}, not {told}")


def median_offset(first, second, name):
    """Of the ends of one collective, in ns: the first core of one host against that of the other."""
    return statistics.median((b[1] - a[1]) / 1000 for a, b in zip(first.arrivals[name], second.arrivals[name]))


OFFSETS = ((0, 0, False), (20_000, 0, False), (200_000, 0, False), (3_000_000, 0, False), (50_000_000, 0, False),
           (20_000, 20e-6, False), (50_000_000, 20e-6, False), (0, 0, True), (50_000_000, 0, True))


def cores_of(space, devices):
    planes = {name_of(v): v for f, _, v in fields(space) if f == 1}
    return [Core(planes[b"/device:TPU:%d" % device]) for device in devices]


def check_clocks(found, cores, other, offset_ns, drift, where):
    """The offset is one that collectives of all cores have; OTHER is a core of the second host as it was written."""
    clocks = {row["host"]: row for row in found["capture"]["clocks"]}
    check(clocks["a"]["clock_source"] == "reference", f"{where}: a is {clocks['a']}")
    check(clocks["b"]["clock_source"] == "collectives", f"{where}: b is {clocks['b']}")
    check(abs((clocks["b"]["clock_drift_ppm"] or 0) - drift * 1e6) < 0.5, f"{where}: {clocks['b']}")
    if other is None:
        return
    common = [name for name in cores[0].arrivals if len(groups_of([core.arrivals[name] for core in cores])) == 1]
    check(len(common) > 0, "the sample has collectives of all cores")
    apart = [median_offset(cores[0], other, name) + offset_ns for name in common]
    check(min(abs(clocks["b"]["clock_offset_ns"] - ns) for ns in apart) < 1000, f"{where}: {clocks['b']}, not one of {apart}")


def check_hosts(tpusight, space, first, second):
    cores = cores_of(space, first + second)
    fourth_step = sorted(cores[SECOND_HOST].steps, key=lambda step: step[1])[3][1]
    alone = report(tpusight, {"a": host_file(space, first), "b": host_file(space, second)})
    slow = slow_steps(alone)
    check(len(slow) > 0 and any(row["is_straggler"] for row in slow), "the sample has a slow step with a straggler")
    for offset_ns, drift, is_later in OFFSETS:
        from_ps = fourth_step if is_later else 0
        where = f"{first}|{second}: {offset_ns} ns, {drift * 1e6:g} ppm, from {from_ps}"
        other = host_file(space, second, offset_ns, drift, from_ps)
        found = report(tpusight, {"a": host_file(space, first), "b": other})
        check_late(found, cores, from_ps, where)
        check(doubts(found) == doubts(alone) or is_later, f"{where}: doubts {doubts(found)}, not {doubts(alone)}")
        if not is_later and drift == 0:
            check(slow_steps(found) == slow, f"{where}: slow steps {slow_steps(found)}")
        elif not is_later:  # durations change with the clock, and with them which of the cores that took equally long is named
            check([late_of(row) for row in slow_steps(found)] == [late_of(row) for row in slow], f"{where}: {slow_steps(found)}")
        check_clocks(found, cores, None if is_later else cores_of(other, second[:1])[0], offset_ns, drift, where)


def main(tpusight, sample):
    with open(sample, "rb") as file:
        space = file.read()
    for first, second in (((0, 1), (2, 3)), ((0, 2), (1, 3))):
        check_hosts(tpusight, space, first, second)
    unmarked = without_steps(space)
    inferred = [slow_steps(report(tpusight, {"a": host_file(unmarked, (0, 1)), "b": host_file(unmarked, (2, 3), ns)}))
                for ns in (0, 20_000, 50_000_000)]
    check(len(inferred[0]) > 0 and inferred[1:] == [inferred[0]] * 2, f"inferred steps: {inferred}")
    strangers = {"a": host_file(space, (0, 1)), "b": host_file(space, (2, 3)).replace(b"all-reduce", b"psum-other")}
    found = report(tpusight, strangers)
    clocks = found["capture"]["clocks"]
    check(all(row["clock_offset_ns"] is None and row["clock_spread_ns"] is None for row in clocks), f"strangers {clocks}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
