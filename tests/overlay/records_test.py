#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A session with HOST.xplane.riegeli is annotated as one with HOST.xplane.pb: the overlay is one more record, in a chunk of its own behind
the user's, and a strip cuts it off.

tests/fixtures/riegeli.py, a writer that knows nothing of ours, makes the same bytes; tests/viewers/records_xprof_test.py asks XProf
itself. $TPUSIGHT names the program (default: bin/tpusight).
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
STEPS = os.path.join(TOP, "tests", "fuzz", "seeds", "xplane", "steps_marked")
sys.path.insert(0, os.path.join(TOP, "tests", "fixtures"))
import riegeli
import wire
from helpers import DATA, PROGRAM, content

SAMPLE = os.path.join(DATA, "sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00/simulated-host.xplane.pb")
RECORDS = "h.xplane.riegeli"
REFUSED = 4  # some of the work could not be done
OUTPUTS = {"ALL_HOSTS.tpusight.json", "ALL_HOSTS.smart_suggestion.pb", "perfetto_trace.json.gz", "cache_version.txt", "tpusight.sql"}
SAMPLE_DEVICES = [f"/device:CUSTOM:TPUsight TPU:{i}" for i in range(4)]
PLANES = 1  # of an XSpace
NAME, STATS = 2, 6  # of a plane
MARK = 1  # the id of the stat that says where ours begins


def of(path, padded=True):
    """The profile as two records; without PADDED the file ends where its last chunk does."""
    return riegeli.file_of(*(riegeli.records(half) for half in riegeli.pieces(content(path))), padded=padded)


def devices(space):
    """The planes of an overlay that have rows; counters have planes of their own."""
    planes = [{n: v for n, _, v, _ in riegeli.fields(plane)} for _, _, plane, _ in riegeli.fields(space)]
    return [name for name in (plane[NAME].decode() for plane in planes) if not name.endswith(" counters")]


def record_in(tail, at):
    """The one record of the chunk that stands at byte AT of a file, whose last bytes are TAIL."""
    data = riegeli.data_of(bytes(at % riegeli.BLOCK) + tail, at % riegeli.BLOCK)[riegeli.CHUNK_HEADER:]
    size, _ = wire.read_varint(data, 2)
    return data[2 + data[1]:2 + data[1] + size]


def without_mark(space):
    """The planes of an overlay, which say where they stand, as they are anywhere: how far it is, and the number of marks."""
    marks = []

    def of_stat(stat):
        got = {n: v for n, _, v, _ in riegeli.fields(stat)}
        if got.get(1) != MARK:
            return stat
        marks.append(got[3])
        return riegeli.shift_fields(stat, {3: lambda at: 0})

    def of_plane(plane):
        return riegeli.shift_fields(plane, {STATS: of_stat})

    return riegeli.shift_fields(space, {PLANES: of_plane}), set(marks)


class Records(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tpusight-records.")
        self.addCleanup(shutil.rmtree, self.dir)

    def session(self, **files):
        """A log directory with one session; names have _ for dots."""
        self.top = tempfile.mkdtemp(dir=self.dir)
        folder = os.path.join(self.top, "run", "plugins", "profile", "s")
        os.makedirs(folder)
        for name, data in files.items():
            with open(os.path.join(folder, name.replace("_", ".")), "wb") as f:
                f.write(data)
        return folder

    def tried(self, *args):
        return subprocess.run([PROGRAM, *args, self.top], capture_output=True, text=True, timeout=300)

    def run_it(self, *args, status=0):
        done = self.tried(*args)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def annotate(self, *options, status=0):
        return self.run_it("annotate", *options, status=status)

    def strip(self, status=0):
        return self.run_it("annotate", "--strip", status=status)

    def stripped(self, path, data):
        """How a strip ends that finds DATA at PATH, and what it leaves there."""
        with open(path, "wb") as f:
            f.write(data)
        return self.tried("annotate", "--strip"), content(path)

    def report(self):
        return json.loads(self.run_it("report", "--format", "json", "-q").stdout)

    def test_the_overlay_is_one_more_record(self):
        for padded in (True, False):
            native = of(SAMPLE, padded)
            folder = self.session(h_xplane_riegeli=native, other_xplane_pb=content(SAMPLE))
            before = self.report()
            self.annotate()
            self.assertEqual(self.report(), before)
            file, other = content(os.path.join(folder, RECORDS)), content(os.path.join(folder, "other.xplane.pb"))
            self.assertTrue(file.startswith(native))
            self.assertEqual(len(file) % riegeli.BLOCK, 0)  # a profiler that goes on writes whole blocks behind it
            planes = record_in(file[len(native):], len(native))
            again = bytearray(native)
            riegeli.put(again, riegeli.records(planes))
            riegeli.pad(again)
            self.assertEqual(file, bytes(again))
            ours, marks = without_mark(planes)
            self.assertEqual(marks, {len(native)})
            self.assertEqual(devices(ours), SAMPLE_DEVICES)
            theirs, marks = without_mark(other[len(content(SAMPLE)):])
            self.assertEqual(marks, {len(content(SAMPLE))})
            self.assertEqual([sorted({n for n, _, _, _ in riegeli.fields(v)}) for _, _, v, _ in riegeli.fields(ours)],
                             [sorted({n for n, _, _, _ in riegeli.fields(v)}) for _, _, v, _ in riegeli.fields(theirs)])
            self.strip()
            self.assertEqual(content(os.path.join(folder, RECORDS)), native)
            self.assertEqual(sorted(os.listdir(folder)), [RECORDS, "other.xplane.pb"])

    def test_one_host_has_the_rows_of_the_same_profile_as_xplane(self):
        overlays = []
        for name, native in (("h_xplane_pb", content(SAMPLE)), ("h_xplane_riegeli", of(SAMPLE))):
            folder = self.session(**{name: native})
            self.annotate()
            self.assertEqual(set(os.listdir(folder)) - {name.replace("_", ".")}, OUTPUTS)
            tail = content(os.path.join(folder, name.replace("_", ".")))[len(native):]
            overlays.append(without_mark(tail if name.endswith("pb") else record_in(tail, len(native)))[0])
        self.assertTrue(overlays[0])
        self.assertEqual(*overlays)

    def test_twice_changes_nothing(self):
        folder = self.session(h_xplane_riegeli=of(STEPS, padded=False))
        self.annotate()
        first = {name: (content(os.path.join(folder, name)), os.stat(os.path.join(folder, name)).st_mtime_ns)
                 for name in sorted(os.listdir(folder))}
        self.assertIn("annotated already", self.annotate().stdout)
        os.remove(os.path.join(folder, "ALL_HOSTS.tpusight.json"))  # now it is analysed again
        files = json.loads(self.annotate("--json").stdout)["files"]
        self.assertEqual({f["name"]: f["is"] for f in files}[RECORDS], "unchanged")
        for name, (data, mtime_ns) in first.items():
            if name != "ALL_HOSTS.tpusight.json":
                self.assertEqual(content(os.path.join(folder, name)), data, name)
                self.assertEqual(os.stat(os.path.join(folder, name)).st_mtime_ns, mtime_ns, name)

    def test_a_dry_run_writes_nothing(self):
        native = of(STEPS)
        folder = self.session(h_xplane_riegeli=native)
        self.assertIn("would write 1 xplane overlay", self.annotate("--dry-run").stdout)
        self.assertEqual(os.listdir(folder), [RECORDS])
        self.assertEqual(content(os.path.join(folder, RECORDS)), native)

    def test_both_forms_of_one_host_have_their_own(self):
        natives = {RECORDS: of(STEPS), "h.xplane.pb": content(SAMPLE)}
        folder = self.session(h_xplane_riegeli=natives[RECORDS], h_xplane_pb=natives["h.xplane.pb"])
        self.annotate()
        tails = {name: content(os.path.join(folder, name))[len(native):] for name, native in natives.items()}
        spaces = (tails["h.xplane.pb"], record_in(tails[RECORDS], len(natives[RECORDS])))
        self.assertEqual([devices(space) for space in spaces], [SAMPLE_DEVICES, ["/device:CUSTOM:TPUsight TPU:0"]])
        self.strip()
        for name, native in natives.items():
            self.assertEqual(content(os.path.join(folder, name)), native)

    def test_a_file_that_is_cut_is_stripped_to_the_byte_or_left(self):
        native = of(STEPS, padded=False)
        folder = self.session(h_xplane_riegeli=native)
        self.annotate()
        path = os.path.join(folder, RECORDS)
        whole = content(path)
        end = len(native)
        for n in (len(whole) - 1, len(whole) - 30, (end + len(whole)) // 2, end + 700, end + 100, end + 39, end + 1, end, end - 1,
                  end // 2, 30):
            done, got = self.stripped(path, whole[:n])
            self.assertEqual(got, native if done.returncode == 0 and n >= end else whole[:n], n)
            self.assertIn(done.returncode, (0, REFUSED, 3), n)
            if n > end + 600 or n == end:
                self.assertEqual(done.returncode, 0, (n, done.stderr))

    def test_a_changed_byte_never_costs_a_byte_of_the_profile(self):
        native = of(STEPS, padded=False)
        folder = self.session(h_xplane_riegeli=native)
        self.annotate()
        path = os.path.join(folder, RECORDS)
        whole = content(path)
        for at in (*(len(native) + n for n in (-10, 3, 15, 41, 60, 300)), len(whole) - 1):
            done, got = self.stripped(path, whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1:])
            self.assertGreaterEqual(len(got), len(native), at)
            if at >= len(native) and done.returncode == 0:
                self.assertEqual(got, native, at)

    def test_what_a_profiler_wrote_behind_it_stays(self):
        native = of(STEPS)
        folder = self.session(h_xplane_riegeli=native)
        self.annotate()
        path = os.path.join(folder, RECORDS)
        both = content(path) + of(STEPS)
        with open(path, "wb") as f:
            f.write(both)
        done = self.strip(status=3)
        self.assertIn(RECORDS + ": damaged planes of TPUsight are in it, or bytes behind them", done.stderr)
        self.assertEqual(content(path), both)
        self.assertTrue(self.report()["ops"])

    def test_a_damaged_profile_is_not_touched(self):
        native = of(SAMPLE)[:-100000]
        folder = self.session(h_xplane_riegeli=native)
        done = self.annotate(status=3)
        self.assertIn("nothing was written", done.stderr)
        self.assertEqual(os.listdir(folder), [RECORDS])
        self.assertEqual(content(os.path.join(folder, RECORDS)), native)


if __name__ == "__main__":
    unittest.main()
