#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Perfetto files of several hosts, opened together as one by one: each host is a machine of its own, with a name, at its
real time.

  - planted two_hosts as one session: one .pftrace of two machines
  - each host in a log directory of its own: two files, whose machines have the same ids as in the one, and whose clocks
    place host 1 by the time of day, 3 ms behind host 0
Read back with the classes of PyPI's perfetto; where $TS_TRACE_PROCESSOR names Perfetto's trace processor, that is asked, too.
Run in the build folder; $TPUSIGHT names the program (default bin/tpusight), $TS_VIEWERS_PYTHON a Python that has
tests/requirements.txt. Exit 77: it has not.
"""
import collections
import gzip
import os
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import PROGRAM, TRACE_PROCESSOR, need_viewer, query

need_viewer("perfetto")
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

PLANTED = os.path.join(HERE, "..", "data", "planted", "two_hosts.tar.gz")
HOSTS = ("planted-host-0", "planted-host-1")
REALTIME, BOOTTIME = 1, 6
LAG_NS = 3000000  # of host 1 behind host 0, as planted
FILE = "perfetto_trace.pftrace"


def annotate(folder):
    subprocess.run([PROGRAM, "annotate", "-q", "--perfetto=pftrace", folder], check=True)


def unpack(folder):
    """(one session of both hosts, [a session of each])."""
    session = os.path.join(folder, "one", "plugins", "profile", "s")
    alone = [os.path.join(folder, host, "plugins", "profile", "s") for host in HOSTS]
    with tarfile.open(PLANTED) as tar:
        for member in tar.getmembers():
            name = os.path.basename(member.name)
            for host, own in zip(HOSTS, alone):
                if name == host + ".xplane.pb":
                    for at in (session, own):
                        os.makedirs(at, exist_ok=True)
                        with open(os.path.join(at, name), "wb") as f:
                            f.write(tar.extractfile(member).read())
    return session, alone


class Machine:
    def __init__(self):
        self.names, self.processes, self.clocks, self.syncs, self.roots, self.slices = [], [], {}, [], 0, 0


def reading(clocks):
    return {c.clock_id: c.timestamp for c in clocks.clocks if c.clock_id < 64}


def machines_of(path):
    """{id: Machine} in the order of the file."""
    with gzip.open(path) as f:
        packets = proto.Trace.FromString(f.read()).packet
    out = collections.OrderedDict()
    for packet in packets:
        machine = out.setdefault(packet.machine_id, Machine())
        track = packet.track_descriptor
        if packet.HasField("system_info"):
            machine.names.append(packet.system_info.machine_name)
        if packet.HasField("clock_snapshot") and packet.trusted_packet_sequence_id == 1:
            machine.clocks = reading(packet.clock_snapshot)
        for synced in packet.remote_clock_sync.synced_clocks:
            machine.syncs.append((reading(synced.client_clocks), reading(synced.host_clocks)))
        if packet.HasField("track_descriptor"):
            machine.roots += track.process_ordering == track.PROCESS_ORDERING_EXPLICIT
            if track.process.process_name.startswith("/"):
                machine.processes.append(track.process.process_name)
        machine.slices += packet.track_event.type == packet.track_event.TYPE_SLICE_BEGIN
    return out


def check_one(machines, wrong):
    """Of both hosts, from one session."""
    found = {m.names[0]: m for m in machines.values() if m.names}
    if set(found) != set(HOSTS) or len(machines) != 2:
        wrong.append(f"the file has the machines {[(i, m.names) for i, m in machines.items()]}")
        return
    first, second = (found[host] for host in HOSTS)
    for host, machine in found.items():
        if machine.names != [host] or machine.roots != 1 or not machine.slices:
            wrong.append(f"{host}: {machine.names}, {machine.roots} roots, {machine.slices} slices")
        if sorted(machine.processes) != sorted(first.processes) or "/device:TPU:0" not in machine.processes:
            wrong.append(f"{host} has the processes {machine.processes}")
    ahead, behind = (first, second) if first.clocks else (second, first)
    day = {REALTIME: ahead.clocks[REALTIME] + 1, BOOTTIME: ahead.clocks[BOOTTIME] + 1}
    if behind.clocks or behind.syncs != [(day, day)] * 2:
        wrong.append(f"the second machine reads {behind.clocks} {behind.syncs}, the first {ahead.clocks}")


def check_alone(together, alone, wrong):
    """Of a host each; the ids are those that they have together."""
    ids = {m.names[0]: i for i, m in together.items()}
    for host, machines in zip(HOSTS, alone):
        if list(machines) != [ids[host]] or machines[ids[host]].names != [host]:
            wrong.append(f"{host}: machines {[(i, m.names) for i, m in machines.items()]}, together {ids}")
    starts = [next(iter(m.values())).clocks for m in alone]
    if [c[BOOTTIME] for c in starts] != [0, 0] or starts[1][REALTIME] - starts[0][REALTIME] != LAG_NS:
        wrong.append(f"the clocks of the two files read {starts}")


# The trace processor

# Of the profile's planes; a finding of the run stands once in a file.
SLICES = """select m.name, p.name, count(*), min(s.ts) from slice s
    left join thread_track on s.track_id = thread_track.id left join thread on thread.utid = thread_track.utid
    left join process_track on s.track_id = process_track.id
    join process p on p.upid = ifnull(process_track.upid, thread.upid) join machine m on m.id = p.machine_id
    where p.name glob '/*' group by 1, 2 order by 1, 2"""
BAD = "select name, value from stats where value > 0 and severity in ('error', 'data_loss')"


def check_import(path, want, wrong):
    bad = query(path, BAD)
    names = sorted(row[0] for row in query(path, "select name from machine"))
    slices = [(m, p, int(n), int(at)) for m, p, n, at in query(path, SLICES)]
    if bad or names != list(HOSTS) or slices != want:
        wrong.append(f"{os.path.basename(path)}: {bad}, machines {names}, slices {slices}, not {want}")


def check_processor(folder, one, alone, wrong):
    """Alone, each file begins where its host does; together, host 1 stands where the session has it."""
    want = []
    for host, path, lag in zip(HOSTS, alone, (0, LAG_NS)):
        want += [(m, p, int(n), int(at) + lag) for m, p, n, at in query(path, SLICES)]
        if {row[0] for row in want} - set(HOSTS) or sum(row[0] == host for row in want) < 3:
            wrong.append(f"{path}: {want}")
    for order in ((0, 1), (1, 0)):
        path = os.path.join(folder, f"{order[0]}{order[1]}.tar")
        with tarfile.open(path, "w") as tar:
            for i in order:
                tar.add(alone[i], arcname=f"{i}.pftrace")  # read in the order of their names
        check_import(path, want, wrong)
    slices = {(m, p): int(at) for m, p, n, at in query(one, SLICES)}
    if {(m, p): at for m, p, n, at in want} != slices or query(one, BAD):
        wrong.append(f"one file has {slices} and {query(one, BAD)}, the two {want}")
    at = slices.get((HOSTS[1], "/host:CPU"))
    if at != 5000000:
        wrong.append(f"host 1 begins at {at}")


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        session, sessions = unpack(folder)
        for at in (session, *sessions):
            annotate(at)
        one, alone = os.path.join(session, FILE), [os.path.join(at, FILE) for at in sessions]
        together = machines_of(one)
        check_one(together, wrong)
        if not wrong:
            check_alone(together, [machines_of(path) for path in alone], wrong)
        if TRACE_PROCESSOR and not wrong:
            check_processor(folder, one, alone, wrong)
    for w in wrong:
        print(w[:1000])
    if not wrong:
        print("two hosts: " + ", ".join(f"{m.names[0]} is machine {i} with {m.slices} slices"
                                        for i, m in together.items())
              + ("; the trace processor keeps them apart and in time" if TRACE_PROCESSOR else "; no trace processor to ask"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
