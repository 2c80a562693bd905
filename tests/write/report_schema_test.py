#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports have what the program declares: report_schema_test.py

The report of each profile in tests/data is held against `tpusight schema`, as are a comparison, the thresholds, an explanation
and the golden reports of tests/cases. A column that is not declared, one that is missing, and a value of another type are
faults. And each declared column has, by the names of the glossary, the label that it is declared with. Run in the build
folder; $TPUSIGHT names the program (default: bin/tpusight).
"""
import glob
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    print("no jsonschema here (tests/requirements.txt)")
    sys.exit(77)

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
PROGRAM = os.path.abspath(os.environ.get("TPUSIGHT", "bin/tpusight"))
DATA = os.path.join(TOP, "tests", "data")
PROFILES = sorted(path for pattern in ("*.xplane.pb", "*.trace.json*", "torch/*.trace.json*", "sample/*")
                  for path in glob.glob(f"{DATA}/{pattern}"))
PLANTED = sorted(glob.glob(f"{DATA}/planted/*.tar.gz"))
SUITE = {"memory": "memory_timeline"}
OTHER_FORMS = {"check", "flame"}  # they print no report
OF_THE_HEAD = {"schema", "generator", "part", "impossible"}
OF_EVERY_RESULT = {"findings", "notes", "provenance", "is_others"}


def said(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, check=False, cwd=DATA).stdout


def place_of(fault):
    return ".".join(str(part) for part in fault.absolute_path if not isinstance(part, int))


class ReportSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(said("schema", "--format", "json-schema"))
        jsonschema.Draft202012Validator.check_schema(cls.schema)
        cls.defs = cls.schema["$defs"]
        cls.validator = jsonschema.Draft202012Validator(cls.schema)

    def faults(self, text, of=None):
        if not text:
            return set()
        report = json.loads(text)
        validator = self.validator
        if of:  # a result that stands in the report itself: its members and the head's are one object
            members = {**self.schema["properties"], **self.defs[of]["properties"]}
            validator = validator.evolve(schema={**self.schema, "properties": members})
        return {f"{place_of(fault)}: {fault.message[:200]}" for fault in validator.iter_errors(report)}

    def root_of(self, command):
        """The result that stands in the report of a command itself."""
        name = SUITE.get(command, command)
        return name if name in self.defs and command != "compare" else None

    def test_reports_of_profiles(self):
        nr = 0
        with tempfile.TemporaryDirectory() as folder:
            for archive in PLANTED:
                with tarfile.open(archive) as tar:
                    tar.extractall(os.path.join(folder, os.path.basename(archive)[:-7]), filter="data")
            for path in PROFILES + sorted(glob.glob(f"{folder}/*")):
                with self.subTest(os.path.basename(path)):
                    text = said("report", "--format", "json", path)
                    nr += bool(text)
                    self.assertEqual(sorted(self.faults(text)), [])
        self.assertGreater(nr, 30)

    def test_golden_reports(self):
        nr = 0
        for path in sorted(glob.glob(f"{TOP}/tests/cases/*/expect.out")):
            with open(path, "rb") as file:
                text = file.read()
            command = os.path.basename(os.path.dirname(path)).partition("-")[0]
            if not re.match(rb'\{\s*"schema": ?"tpusight/1"', text) or command in OTHER_FORMS:
                continue
            with self.subTest(path):
                nr += 1
                self.assertEqual(sorted(self.faults(text, self.root_of(command))), [])
        self.assertGreater(nr, 4)

    def test_results_that_are_not_of_a_report(self):
        profile, trace = os.path.join(DATA, "planted", "clean.tar.gz"), os.path.join(DATA, "hand_made.pt.trace.json")
        for of in ("hta", "kernels", "timeline", "memory", "compile"):
            text = said(of, "--json", trace)
            self.assertTrue(text, of)
            self.assertEqual(sorted(self.faults(text, self.root_of(of))), [], of)
        for of, words in {"thresholds": ("thresholds", "--json"), "explain": ("explain", "--json", "systolic"),
                          "compare": ("compare", "--json", profile, os.path.join(DATA, "planted", "padding.tar.gz"))}.items():
            text = said(*words)
            self.assertTrue(text, of)
            self.assertEqual(sorted(self.faults(text, self.root_of(of))), [], of)

    def test_columns_of_the_runs_of_a_comparison(self):
        report = json.loads(said("compare", "--json", "torch_operators.pt.trace.json.gz", "torch_memory.pt.trace.json.gz"))
        self.assertEqual(self.faults(json.dumps(report)), set())
        tables = {name: rows[0] for name, rows in report["compare"].items() if isinstance(rows, list) and rows}
        for name in ("operators", "operator_shapes", "figures"):
            self.assertTrue(any(column.startswith("run_1") for column in tables[name]), name)
        for name, column, value in (("operators", "run_1_calls", "many"), ("operators", "run_1_call", 1),
                                    ("operators", "run_0_state", "same"), ("operator_shapes", "run_x_calls", 1),
                                    ("figures", "run_1", "fast"), ("figures", "run_0_change", 1)):
            with self.subTest(name, column=column):
                row = tables[name]
                old = dict(row)
                row[column] = value
                self.assertEqual(len(self.faults(json.dumps(report))), 1)
                row.clear()
                row.update(old)
        report["compare"]["verdicts"]["run_one"] = "faster"
        self.assertEqual(len(self.faults(json.dumps(report))), 1)

    def test_no_object_of_a_result_is_open(self):
        def opened(schema, path):
            if isinstance(schema, dict):
                if "properties" in schema and path and schema.get("additionalProperties") is not False:
                    yield path
                for key, member in schema.items():
                    yield from opened(member, f"{path}.{key}")

        self.assertEqual(list(opened(self.defs, "")), [])

    def test_a_fault_is_found(self):
        report = json.loads(said("report", "--format", "json", os.path.join(DATA, "planted", "clean.tar.gz")))
        self.assertEqual(self.faults(json.dumps(report)), set())
        report["ops"][0]["self_time_ps"] = "long"
        self.assertEqual(len(self.faults(json.dumps(report))), 1)
        del report["ops"][0]["self_time_ps"]
        self.assertEqual(len(self.faults(json.dumps(report))), 1)
        report["ops"][0].update(self_time_ps=1, self_time=1)
        self.assertEqual(len(self.faults(json.dumps(report))), 1)

    def declared(self, schema, path):
        """(path, the label that is declared) of each field and column."""
        for name, member in schema.get("properties", {}).items():
            at = f"{path}.{name}" if path else name
            if name in OF_EVERY_RESULT or (not path and name in OF_THE_HEAD):
                continue
            if member.get("$ref", "").rpartition("/")[2] in self.defs:
                yield from self.declared(self.defs[member["$ref"].rpartition("/")[2]], at)
            elif "properties" in member or "properties" in member.get("items", {}):
                yield from self.declared(member if "properties" in member else member["items"], at)
            elif path:
                yield at, member.get("title")

    def test_each_column_has_its_label_by_the_names_of_the_glossary(self):
        labels = {}
        for section in said("schema", "--format", "markdown").decode().split("\n## ")[1:]:
            title, names = section.split("\n")[:2]
            for name, own in re.findall(r"`([^`]+)`([^,`]*)", names.removeprefix("Names: ")):
                self.assertNotIn(name, labels)
                labels[name] = own.strip() or title
        nr = 0
        for path, label in self.declared(self.schema, ""):
            rest, nr = path, nr + 1
            while rest and rest not in labels:
                rest = rest.partition(".")[2]
            self.assertEqual(labels.get(rest), label, path)
        self.assertGreater(nr, 1000)


if __name__ == "__main__":
    unittest.main()
