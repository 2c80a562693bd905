#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports as spreadsheets, by the program and by Python, read back by another reading of the format: spreadsheet_test.py. With openpyxl,
by that too."""
import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

import package
import tpusight

TRACE = os.path.join(package.DATA, "torch_operators.pt.trace.json.gz")
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def value_of(cell):
    kind, number, text = cell.get("t"), cell.find(f"{MAIN}v"), cell.find(f"{MAIN}is/{MAIN}t")
    if kind == "inlineStr":
        return text.text or ""
    if number is None:
        return None
    return number.text == "1" if kind == "b" else float(number.text)


def sheets_in(path):
    """Of each sheet by its name the rows, by way of the links that the format asks for."""
    with zipfile.ZipFile(path) as book:
        assert book.testzip() is None
        links = {link.get("Id"): link.get("Target") for link in ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))}
        types = {part.get("PartName") for part in ElementTree.fromstring(book.read("[Content_Types].xml"))}
        found = {}
        for sheet in ElementTree.fromstring(book.read("xl/workbook.xml")).iter(f"{MAIN}sheet"):
            name = f"xl/{links[sheet.get(LINK)]}"
            assert f"/{name}" in types
            rows = ElementTree.fromstring(book.read(name)).iter(f"{MAIN}row")
            found[sheet.get("name")] = [[value_of(cell) for cell in row] for row in rows]
        return found


def as_read(value):
    """A value of the report as a cell has it."""
    if value is None or isinstance(value, (bool, str)):
        return value
    return json.dumps(value, separators=(",", ":")) if isinstance(value, list) else float(value)


class Spreadsheet(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "report.xlsx")

    def test_each_table_of_a_report_is_a_sheet(self):
        self.assertEqual(tpusight.Session(TRACE).export(self.path), self.path)
        report = json.loads(subprocess.run([package.PROGRAM, "report", "--json", TRACE], check=True, capture_output=True).stdout)
        sheets = sheets_in(self.path)
        for table in ("by_name", "by_shape"):
            head, *rows = sheets[f"operators.{table}"]
            self.assertEqual(rows, [[as_read(row[name]) for name in head] for row in report["operators"][table]])
        self.assertGreater(len(sheets["operators.by_shape"]), 100)
        figures = dict(sheets["report"][1:])
        self.assertEqual(figures["operators.calls"], report["operators"]["calls"])
        self.assertIsNone(figures["operators.gpu_ps"])  # there was no GPU

    def test_one_view_has_its_tables_alone(self):
        tpusight.Session(TRACE).export(self.path, view="operators")
        self.assertEqual(set(sheets_in(self.path)), {"report", "run.hosts", "operators.by_name", "operators.by_shape"})

    def write(self, path, *options, trace=TRACE):
        return subprocess.run([package.PROGRAM, "report", *options, "-o", path, trace], capture_output=True, text=True, check=False)

    def test_the_ending_of_the_file_says_so(self):
        tpusight.Session(TRACE).export(self.path)
        other, third = (os.path.join(self.folder.name, name) for name in ("other.XLSX", "third.xlsx"))
        self.assertEqual(self.write(other).returncode, 0)
        self.assertEqual(self.write(third, "--format=xlsx").returncode, 0)
        with open(self.path, "rb") as one, open(other, "rb") as two, open(third, "rb") as three:
            self.assertEqual([two.read() == (first := one.read()), three.read() == first], [True, True])  # the same bytes, too
        self.assertRegex(self.write(self.path, "--format=csv", "--view=ops").stderr, "the name says xlsx and the format is csv")
        self.assertIn("xlsx has no short form", self.write(self.path, "--budget=2000").stderr)
        self.assertIn("unknown view 'nonsense'", self.write(self.path, "--view=nonsense").stderr)

    def test_names_of_any_kind_can_be_read(self):
        names = ["<&\"'\x1b =1+1", "x" * 40000, "\ufffe \U0001f600 \u202e"]
        events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10 * n, "dur": 5} for n, name in enumerate(names)]
        trace = os.path.join(self.folder.name, "a.pt.trace.json")
        with open(trace, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)
        self.assertEqual(self.write(self.path, "--view=operators", trace=trace).returncode, 0)
        sheets = sheets_in(self.path)
        self.assertTrue(all(len(name) <= 31 for name in sheets))
        found = {row[0] for row in sheets["operators.by_name"][1:]}
        self.assertIn("<&\"'\ufffd =1+1", found)
        self.assertIn("\ufffd \U0001f600 \ufffd", found)
        self.assertLessEqual(max(map(len, found)), 32767)

    def test_a_whole_report_of_a_device_has_the_figures_of_json(self):
        sample = os.path.join(package.DATA, "sample")
        self.assertEqual(self.write(self.path, trace=sample).returncode, 0)
        report = json.loads(subprocess.run([package.PROGRAM, "report", "--json", sample], check=True, capture_output=True).stdout)
        sheets, compared = sheets_in(self.path), 0
        for name, (head, *rows) in sheets.items():
            found = report
            for part in [] if name in ("report", "doctor.findings") else name.split("."):
                found = found[part]
            if found is not report:
                self.assertEqual([row[:len(head)] for row in rows], [[as_read(row.get(column)) for column in head] for row in found], name)
                compared += 1
        self.assertGreater(compared, 35)
        head, *rows = sheets["doctor.findings"]
        self.assertEqual([row[head.index("id")] for row in rows], [finding["id"] for finding in report["doctor"]["findings"]])
        for name, value in sheets["report"][1:]:
            found = report
            for part in name.split("."):
                found = found[part]
            if name.endswith("notes"):
                self.assertIn(value, found)
            else:
                self.assertEqual(value, as_read(found), name)

    def test_openpyxl_reads_it(self):
        try:
            import openpyxl
        except ImportError:
            self.skipTest("openpyxl is not installed")
        tpusight.Session(TRACE).export(self.path)
        book = openpyxl.load_workbook(self.path)
        own = sheets_in(self.path)
        self.assertEqual(book.sheetnames, list(own))
        for name, rows in own.items():
            read = [list(row) for row in book[name].iter_rows(values_only=True)]
            self.assertEqual([[cell for cell in row if cell not in (None, "")] for row in read],
                             [[cell for cell in row if cell not in (None, "")] for row in rows])

    def test_an_ending_that_is_not_known_is_refused(self):
        with self.assertRaisesRegex(ValueError, "xls' is not a format of a report: .*xlsx"):
            tpusight.Session(TRACE).export(os.path.join(self.folder.name, "report.xls"))


if __name__ == "__main__":
    package.rather("TS_TABLES_PYTHON")
    package.main()
