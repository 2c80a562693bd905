#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What /api/slices says of a run at any zoom: slices_test.py

  - each lane has what ran, in the order of time, at most as many slices as places, none outside of what was asked for
  - near by, the slices are the events; from afar, none is lost: a slice that stands for several says how many
  - findings stand where the report says, if they are asked for
  - the numbers of an address have their limits
Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse

import doors

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
import profiles
from wire import Plane, space

STEPS, OPS, OP_US = 400, 50, 2
STEP_PS = (OPS * OP_US + 5) * profiles.US
NAMES = [f"fusion.{n}" for n in range(7)]


def profile():
    planes = [profiles.device(0), profiles.device(1)]
    for plane in planes:
        ps = profiles.filled(plane, NAMES, STEPS, OPS, OP_US)
    host = Plane("/host:CPU")
    host.event_metadata(1, "outer")
    host.event_metadata(2, "inner")
    host.line(1, "main", [host.event(1, 0, ps), *(host.event(2, n * STEP_PS, STEP_PS // 2) for n in range(STEPS))])
    return space([*planes, host, profiles.task(ps // 1000)])


class Slices(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        path = os.path.join(cls.folder.name, "host.xplane.pb")
        with open(path, "wb") as f:
            f.write(profile())
        serving = doors.serving(path)
        cls.url, _ = serving.__enter__()
        cls.addClassCleanup(serving.__exit__, None, None, None)
        cls.run_id = cls.ask("/api/runs")["runs"][0]["id"]

    @classmethod
    def ask(cls, path, **fields):
        with doors.get(f"{cls.url.rstrip('/')}{path}?{urllib.parse.urlencode(fields)}") as answer:
            return json.loads(answer.read())

    def slices(self, **fields):
        """{(kind, device, host): [(start, length, class, name, events)]}"""
        answer = self.ask("/api/slices", run=self.run_id, **fields)
        lanes = {}
        for lane in answer["lanes"]:
            flat, names, classes = lane["slices"], answer["names"], answer["classes"]
            rows = [flat[i:i + 6] for i in range(0, len(flat), 6)]
            lanes[lane["kind"], lane["device"]] = [
                (start, length, classes[c], None if name < 0 else names[name], events) for start, length, c, name, events, _ in rows]
        return lanes

    def test_no_slice_covers_a_gap_and_each_says_how_full_it_is(self):
        """Two stretches of ops with a gap of a fifth of the picture between them, at widths that leave no op by itself."""
        ops = 1000
        for width in (2, 7, 30, 300):
            device = profiles.device(0)
            device.event_metadata(1, NAMES[0])
            starts = [n * 4 * profiles.US for n in range(ops)]
            gap = starts[-1] // 4
            device.line(1, "XLA Ops", [device.event(1, at + (gap if n >= ops // 2 else 0), profiles.US) for n, at in enumerate(starts)])
            with self.subTest(width=width):
                lane = self.lane_of(device, width, starts[-1] + gap + profiles.US)
                rows = [lane[i:i + 6] for i in range(0, len(lane), 6)]
                place = (starts[-1] + gap + profiles.US) // width
                before = starts[ops // 2 - 1] + profiles.US
                if width > 7:
                    self.assertFalse([r for r in rows if r[0] < before < r[0] + r[1] - gap], rows)
                self.assertLessEqual(max(r[1] for r in rows), 4 * place)
                self.assertEqual(ops, sum(r[4] for r in rows))
                self.assertEqual(ops * profiles.US, sum(r[1] - r[5] for r in rows))
                self.assertTrue(all(r[5] == 0 for r in rows if r[4] == 1))

    def lane_of(self, device, width, ps):
        path = os.path.join(self.folder.name, f"gap-{width}.xplane.pb")
        with open(path, "wb") as f:
            f.write(space([device, profiles.task(ps // 1000)]))
        with doors.serving(path) as (url, _), doors.get(f"{url}api/slices?width={width}") as answer:
            return next(lane["slices"] for lane in json.loads(answer.read())["lanes"] if lane["kind"] == "ops")

    def test_near_by_slices_are_events(self):
        """A step's ops, from the middle of one to the middle of another."""
        at = 123 * STEP_PS
        half = OP_US * profiles.US // 2
        found = self.slices(from_ps=at + half, to_ps=at + 5 * 2 * half, width=1000, device=1)
        first = 123 * OPS
        names = [NAMES[(first + k) % len(NAMES)] for k in range(5)]
        times = [(0, half), *((half + 2 * half * k, 2 * half) for k in range(4))]
        self.assertEqual([(*times[k], "compute", names[k], 1) for k in range(5)], found["ops", 1])
        self.assertNotIn(("ops", 0), found)
        self.assertEqual([(0, 9 * half, None, "123", 1)], found["steps", 1])

    def test_nothing_is_lost_at_any_zoom(self):
        whole = STEPS * STEP_PS
        for parts in (1, 3, 40, 400):
            length = whole // parts
            for width in (2, 7, 100, 1500, 8192):
                for part in range(0, parts, max(1, parts // 4)):
                    found = self.slices(width=width, from_ps=part * length, to_ps=(part + 1) * length)
                    for key, slices in found.items():
                        self.assertLessEqual(len(slices), width, (key, parts, width))
                        self.in_order(slices, length, (key, parts, width))
                    if parts == 1:
                        self.assertEqual(STEPS * OPS, sum(events for *_, events in found["ops", 0]), width)

    def in_order(self, slices, length, what):
        end = 0
        for start, duration, *_ in slices:
            self.assertGreaterEqual(start, end, what)
            self.assertGreater(duration, 0, what)
            end = start + duration
        self.assertLessEqual(end, length, what)

    def test_a_thread_shows_the_innermost_call(self):
        found = self.slices(from_ps=200 * STEP_PS, to_ps=202 * STEP_PS, width=1000)["thread", None]
        half = STEP_PS // 2
        rest = STEP_PS - half
        self.assertEqual([(0, half, "inner"), (half, rest, "outer"), (STEP_PS, half, "inner"), (STEP_PS + half, rest, "outer")],
                         [(start, length, name) for start, length, _, name, _ in found])

    def test_a_trace_has_lanes_too(self):
        with doors.serving(doors.MEMORY) as (url, _):
            with doors.get(f"{url}api/slices?width=100") as answer:
                lanes = json.loads(answer.read())["lanes"]
        self.assertEqual(["thread"], sorted({lane["kind"] for lane in lanes}))
        self.assertTrue(all(0 < len(lane["slices"]) <= 600 for lane in lanes))

    def test_ops_have_their_modules(self):
        with doors.serving(doors.SAMPLE) as (url, _):
            with doors.get(f"{url}api/slices?width=8192") as answer, doors.get(f"{url}api/report") as report:
                picture, known = json.load(answer), {(op["module"], op["name"]) for op in json.load(report)["ops"]}
        self.assertEqual(len(picture["names"]), len(picture["modules"]))
        lanes = [lane for lane in picture["lanes"] if lane["kind"] in ("ops", "collectives")]
        ran = {name for lane in lanes for name in lane["slices"][3::6] if name >= 0}
        named = {(picture["modules"][name], picture["names"][name]) for name in ran}
        self.assertLess(50, len(named))
        self.assertEqual(set(), named - known)
        self.assertEqual(0, picture["left_out"])

    def test_findings_stand_where_the_report_says(self):
        with doors.serving(doors.SAMPLE) as (url, _):
            with doors.get(f"{url}api/report") as answer:
                findings = json.load(answer)["doctor"]["findings"]
            wanted = {}
            for finding in findings:
                for at in finding["time_ranges"]:
                    wanted.setdefault((finding["id"], at["device"], finding["title"]), []).append((at["start_ps"], at["end_ps"]))
            self.assertEqual(wanted, self.findings(url, width=8192))
            self.assertEqual({}, self.findings(url, width=8192, findings=0))
            key, [*_, (start, end)] = next((k, v) for k, v in wanted.items() if k[1] is None)
            middle = (start + end) // 2
            self.assertEqual([(middle, end)], self.findings(url, from_ps=middle, to_ps=end + 1)[key])
            self.assertNotIn(key, self.findings(url, from_ps=end, to_ps=end + 1))
            several = next(k for k, v in wanted.items() if len(v) > 1)
            self.assertEqual([(min(wanted[several])[0], max(wanted[several])[1])], self.findings(url, width=1)[several])

    @staticmethod
    def findings(url, **fields):
        """{(id, device, title): [(start, end)]}, in the order of time"""
        with doors.get(f"{url}api/slices?{urllib.parse.urlencode({'findings': 1, **fields})}") as answer:
            picture = json.load(answer)
        found = {}
        for lane in picture["lanes"]:
            flat = lane["slices"]
            for i in range(0, len(flat) if lane["kind"] == "findings" else 0, 6):
                start = picture["from_ps"] + flat[i]
                found.setdefault((lane["name"], lane["device"], picture["names"][flat[i + 3]]), []).append((start, start + flat[i + 1]))
        return found

    def test_limits(self):
        for status, fields in ((400, {"width": 0}), (400, {"findings": 2}), (400, {"width": 8193}), (400, {"width": "1e3"}),
                               (400, {"from_ps": 5, "to_ps": 5}), (400, {"from_ps": 2**62}), (404, {"device": "/device:TPU:7"}),
                               (404, {"host": "nobody"})):
            with self.assertRaises(urllib.error.HTTPError) as e:
                self.ask("/api/slices", run=self.run_id, **fields)
            self.assertEqual(status, e.exception.code, fields)
            e.exception.close()


class File(unittest.TestCase):
    """What a page without a server has of them is bounded, whatever the run."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def pictures(self, planes):
        profile, page = (os.path.join(self.folder.name, name) for name in ("host.xplane.pb", "page.html"))
        with open(profile, "wb") as f:
            f.write(space(planes))
        made = subprocess.run([doors.PROGRAM, "report", "-q", "--format=html", "-o", page, profile], capture_output=True,
                              text=True)
        if "without its page" in made.stderr:
            self.skipTest("the program was built without its page (install npm)")
        self.assertEqual(0, made.returncode, made.stderr)
        with open(page, encoding="utf-8") as f:
            found = re.search(r'id="tpusight-slices">(.*?)</script>', f.read(), re.S)
        self.assertLess(len(found[1]), 400_000)
        return {one["kind"]: one["picture"] for one in json.loads(found[1])}

    def test_a_lane_keeps_some_slices_and_the_others_are_counted(self):
        planes = [profiles.device(0)]
        ps = profiles.filled(planes[0], NAMES, STEPS, OPS, OP_US)
        host = Plane("/host:CPU")
        host.event_metadata(1, "call" * 200)
        threads = 150
        for thread in range(threads):
            host.line(thread + 1, f"thread {thread}", [host.event(1, n * STEP_PS + thread, STEP_PS // 2) for n in range(STEPS)])
        found = self.pictures([*planes, host, profiles.task(ps // 1000)])
        lanes = found["whole"]["lanes"]
        counts = [len(lane["slices"]) // 6 for lane in lanes]
        self.assertLessEqual(sum(counts), 3000)
        self.assertGreater(found["whole"]["left_out"], 50)
        self.assertEqual(threads, found["whole"]["left_out"] + sum(lane["kind"] == "thread" for lane in lanes))
        self.assertGreater(min(counts[1:]), 32)
        self.assertEqual(STEPS * OPS, sum(sum(lane["slices"][4::6]) for lane in lanes if lane["kind"] == "ops"))
        self.assertLessEqual(max(len(name) for picture in found.values() for name in picture["names"]), 256)
        self.assertEqual(0, found["mean"]["left_out"])

    def test_the_whole_run_is_there_where_its_length_is_not_said(self):
        planes = [profiles.device(0)]
        ps = profiles.filled(planes[0], NAMES, 20, OPS, OP_US)
        whole = self.pictures(planes)["whole"]
        self.assertEqual((0, ps - 5 * profiles.US), (whole["from_ps"], whole["to_ps"]))

    def test_nothing_is_drawn_of_nothing(self):
        self.assertEqual({}, self.pictures([profiles.task(1000)]))


if __name__ == "__main__":
    unittest.main()
