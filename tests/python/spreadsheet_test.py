#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports as spreadsheets, read back by another reading of the format: spreadsheet_test.py. With openpyxl, by that too."""
import json
import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile

import package
import tpusight
from tpusight import _spreadsheet

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
    return json.dumps(value) if isinstance(value, list) else float(value)


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

    def test_names_and_texts_of_any_kind_can_be_read(self):
        long = "a_view_with_a_name_that_is_longer_than_a_sheet_may_have"
        rows = [{"name": "<&\"'\x00\x1b\ud800 =1+1", "id": 2 ** 60, "share": float("nan"), "is": True, "list": [1, "a"]},
                {"name": "x" * 40000, "more": None, "id": -3}]
        _spreadsheet.write(self.path, {long: {"one": rows, "two": rows}, "a/b": rows, "tracks": rows, "empty": []})
        sheets = sheets_in(self.path)
        self.assertEqual(len(sheets), 4)
        self.assertTrue(all(len(name) <= 31 for name in sheets) and "a_b" in sheets)
        head, first, second = sheets["a_b"]
        self.assertEqual(head, ["name", "id", "share", "is", "list", "more"])
        self.assertEqual(first, ["<&\"'\ufffd\ufffd\ufffd =1+1", str(2 ** 60), None, True, '[1, "a"]', None])
        self.assertEqual((len(second[0]), second[1]), (32767, -3))

    def test_the_same_report_gives_the_same_bytes(self):
        other = os.path.join(self.folder.name, "other.xlsx")
        for path in (self.path, other):
            _spreadsheet.write(path, {"ops": [{"name": "a"}]})
        with open(self.path, "rb") as one, open(other, "rb") as two:
            self.assertEqual(one.read(), two.read())

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
