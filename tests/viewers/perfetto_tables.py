# SPDX-License-Identifier: MIT
"""The tables that Perfetto's importer makes of a JSON trace, in SQLite: for tests of queries, where there is no trace processor."""
import gzip
import json
import sqlite3

TABLES = """
create table slice (id, ts, dur, track_id, category, name, arg_set_id);
create table args (arg_set_id, key, int_value, string_value, real_value);
create table track (id, name, type);
create table thread_track (id, utid);
create table process_track (id, upid);
create table process_counter_track (id, upid, name);
create table counter (id, ts, track_id, value);
create table thread (utid, upid, name);
create table process (upid, pid, name, machine_id);
create table machine (id, name);
"""


def ns(us):
    return round(us * 1000)


class Tables:
    """A thread is a track, args are flat keys below "args". PerfettoSQL of views is SQL of SQLite, but for a word."""

    def __init__(self, path):
        self.db, self.sets, self.counters = sqlite3.connect(":memory:"), {}, {}
        self.open, self.tracks, self.processes = {}, {}, set()
        self.db.executescript(TABLES)
        self.db.create_function("extract_arg", 2, lambda i, key: self.sets.get(i, {}).get(key), deterministic=True)
        with gzip.open(path) as f:
            trace = json.load(f)
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        for e in events:
            if e["ph"] == "M":
                self.metadata(e)
        for i, e in enumerate(events):
            if e["ph"] in ("X", "B"):
                self.slice(i, e)
            elif e["ph"] == "E":
                at, start = self.open[self.track(e)].pop()
                self.db.execute("update slice set dur = ? where id = ?", (ns(e["ts"]) - start, at))
            elif e["ph"] == "C":
                self.counter(i, e)

    def put(self, table, *row):
        self.db.execute(f"insert into {table} values ({','.join('?' * len(row))})", row)

    def metadata(self, e):
        if e["name"] == "process_name":
            self.db.execute("update process set name = ? where pid = ?", (e["args"]["name"], self.process(e)))
        elif e["name"] == "thread_name":
            self.db.execute("update thread set name = ? where utid = ?", (e["args"]["name"], self.track(e)))

    def process(self, e):
        if e["pid"] not in self.processes:
            self.processes.add(e["pid"])
            self.put("process", e["pid"], e["pid"], None, 0)
        return e["pid"]

    def track(self, e):
        place = (e["pid"], e["tid"])
        if place not in self.tracks:
            track = self.tracks[place] = len(self.tracks)
            self.put("track", track, None, "thread_execution")
            self.put("thread_track", track, track)
            self.put("thread", track, self.process(e), None)
        return self.tracks[place]

    def slice(self, i, e):
        start = ns(e["ts"])
        if e["ph"] == "B":
            self.open.setdefault(self.track(e), []).append((i, start))
        self.put("slice", i, start, ns(e["ts"] + e["dur"]) - start if e["ph"] == "X" else -1, self.track(e), e.get("cat"), e["name"], i)
        self.sets[i] = {"args." + key: value for key, value in e.get("args", {}).items()}
        for key, value in self.sets[i].items():
            self.put("args", i, key, *(value if isinstance(value, kind) else None for kind in (int, str, float)))

    def counter(self, i, e):
        for key, value in e["args"].items():
            place = (e["pid"], e["name"], key)
            if place not in self.counters:
                self.counters[place] = -1 - len(self.counters)
                self.put("track", self.counters[place], f"{e['name']} {key}".strip(), "json_counter")
                self.put("process_counter_track", self.counters[place], e["pid"], f"{e['name']} {key}".strip())
            self.put("counter", i, ns(e["ts"]), self.counters[place], value)

    def include(self, sql):
        self.db.executescript(sql.replace("CREATE PERFETTO ", "CREATE "))

    def ask(self, sql):
        """Rows as dictionaries, by the names of columns."""
        cursor = self.db.execute(sql)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row)) for row in cursor]
