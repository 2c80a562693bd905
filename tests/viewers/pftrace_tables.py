# SPDX-License-Identifier: MIT
"""The same tables of Perfetto's own form, in SQLite: packets as protos/perfetto/trace/ of google/perfetto numbers their fields.

A track of a track descriptor is a track; one below a thread is that thread's. Flows are counted, and both ends looked for.
"""
import collections
import gzip
import os
import sqlite3
import struct
import sys

from perfetto_tables import TABLES, Tables

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from wire import fields, signed

NAMES, ANNOTATIONS, STRINGS, CATEGORIES = 2, 3, 29, 1


def flat(message):
    """The last value of each field."""
    return {number: value for number, _, value in fields(message)}


class Sequence:
    """What packets of one sequence said before."""

    def __init__(self):
        self.interned = {NAMES: {}, ANNOTATIONS: {}, STRINGS: {}, CATEGORIES: {}}
        self.track, self.now, self.is_delta = 0, 0, False

    def intern(self, data):
        for kind, _, entry in fields(data):
            if kind in self.interned:
                of = flat(entry)
                self.interned[kind][of[1]] = of.get(2, b"").decode("utf-8", "replace")

    def time(self, packet):
        """A sequence's own clock counts on from the packet before."""
        if packet.get(58, 64 if self.is_delta else 0) == 64:
            self.now += packet.get(8, 0)
            return self.now
        return packet.get(8, 0)


class PbTables(Tables):
    def __init__(self, path):
        self.db, self.sets, self.uuids, self.upids, self.opens = sqlite3.connect(":memory:"), {}, {}, {}, {}
        self.flows, self.sequences, self.machines = collections.Counter(), collections.defaultdict(Sequence), {}
        self.events = 0
        self.db.executescript(TABLES)
        self.db.create_function("extract_arg", 2, lambda i, key: self.sets.get(i, {}).get(key), deterministic=True)
        with gzip.open(path) as f:
            data = f.read()
        self.rows = {"slice": [], "args": [], "counter": []}
        for _, _, message in fields(data):
            self.packet(flat(message))
        for table, rows in self.rows.items():
            if rows:
                self.db.executemany(f"insert into {table} values ({','.join('?' * len(rows[0]))})", rows)

    def packet(self, packet):
        sequence = self.sequences[packet.get(10, 0)]
        if packet.get(13, 0) & 1:
            self.sequences[packet[10]] = sequence = Sequence()
        if 12 in packet:
            sequence.intern(packet[12])
        if 59 in packet:
            defaults = flat(packet[59])
            sequence.is_delta = defaults.get(58) == 64
            sequence.track = flat(defaults.get(11, b"")).get(11, 0)
        if 45 in packet:
            self.machine(packet.get(98, 0), flat(packet[45]))
        if 60 in packet:
            self.descriptor(flat(packet[60]), packet.get(98, 0))
        if 11 in packet:
            self.event(packet[11], sequence, sequence.time(packet))

    def machine(self, raw, info):
        name = info.get(17)
        if name is not None and raw not in self.machines:
            self.machines[raw] = len(self.machines)
            self.put("machine", self.machines[raw], name.decode())

    def descriptor(self, track, machine):
        uuid, name = track[1], track.get(2, b"").decode("utf-8", "replace") or None
        if uuid in self.uuids:
            return
        if 3 in track:
            process = flat(track[3])
            self.upids[uuid] = upid = len(self.upids) + 1
            self.put("process", upid, process.get(1), process.get(6, b"").decode(), self.machines.get(machine, 0))
            self.uuids[uuid] = (None, upid)
            return
        upid = self.uuids.get(track.get(5), (None, None))[1]
        self.uuids[uuid] = at = (len(self.uuids) + 1, upid)
        if 4 in track:
            name = flat(track[4]).get(5, b"").decode() or None
        if 8 in track:
            self.put("process_counter_track", at[0], upid, name)
        self.put("track", at[0], name, "track")
        self.put("process_track", at[0], upid)

    def args(self, event, sequence):
        out = {}
        for number, _, note in event:
            if number == 4:
                of = flat(note)
                key = sequence.interned[ANNOTATIONS].get(of.get(1)) or of.get(10, b"").decode()
                values = {3: lambda v: v, 4: signed, 5: lambda v: struct.unpack("<d", struct.pack("<Q", v))[0],
                          6: lambda v: v.decode("utf-8", "replace"), 17: sequence.interned[STRINGS].get}
                for kind, read in values.items():
                    if kind in of:
                        out["debug." + key] = read(of[kind])
        return out

    def event(self, message, sequence, now):
        parts = list(fields(message))
        of = {number: value for number, _, value in parts}
        track = self.uuids[of.get(11, sequence.track)][0]
        for number, _, value in parts:
            if number in (47, 48):
                self.flows[(value, number)] += 1
        self.events += 1
        if of[9] == 1:
            category = of.get(22, b"").decode() or sequence.interned[CATEGORIES].get(of.get(3))
            self.sets[self.events] = args = self.args(parts, sequence)
            name = sequence.interned[NAMES].get(of.get(10), of.get(23, b"") and of[23].decode())
            self.opens.setdefault(track, []).append((self.events, now, track, category, name, args))
        elif of[9] == 2:
            at, ts, track, category, name, args = self.opens[track].pop()
            self.rows["slice"].append((at, ts, now - ts, track, category, name, at))
            for key, value in args.items():
                self.rows["args"].append((at, key, *(value if isinstance(value, kind) else None for kind in (int, str, float))))
        elif of[9] == 4:
            self.rows["counter"].append((self.events, now, track, struct.unpack("<d", struct.pack("<Q", of[44]))[0]))
