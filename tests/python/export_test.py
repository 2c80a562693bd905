#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tpusight export, read by those for whom it writes: pyarrow and DuckDB, under the Python that $TS_TABLES_PYTHON names."""
import json
import os
import re
import subprocess
import tempfile
import unittest

import package

package.under("TS_TABLES_PYTHON")

import duckdb
import pyarrow.ipc as ipc
import pyarrow.parquet as parquet

TABLES = ("events", "ops", "steps", "findings")
TYPES = {"int64": "int64", "uint64": "uint64", "double": "double", "bool": "bool", "string": "text"}
PROFILES = [os.path.join(package.DATA, name) for name in ("sample", "cpu_steps.xplane.pb", "torch_operators.pt.trace.json.gz")]


def run(*words):
    return subprocess.run([package.PROGRAM, *words], check=True, capture_output=True, text=True).stdout


def write(profile, folder, form):
    written = [json.loads(line) for line in run("export", "--json", "--format", form, "-o", folder, profile).splitlines()]
    assert [file["table"] for file in written] == list(TABLES)
    assert all(os.path.getsize(file["path"]) == file["bytes"] for file in written)
    return {file["table"]: file["rows"] for file in written}


def documented():
    """The columns of docs/export.md: {table: [(name, type)]}."""
    with open(os.path.join(package.ROOT, "docs", "export.md"), encoding="utf-8") as file:
        parts = re.split(r"^### ", file.read(), flags=re.M)
    tables = {part.split()[0]: part for part in parts[1:]}
    return {name: re.findall(r"^\| `(\w+)` \| (\w+) \|", tables[name], re.M) for name in TABLES}


class Exported(unittest.TestCase):
    """Each profile in both forms."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.rows, cls.parquet, cls.arrow, cls.reports = [], [], [], []
        for i, profile in enumerate(PROFILES):
            folder = os.path.join(cls.folder.name, str(i))
            cls.rows.append(write(profile, folder, "parquet"))
            assert cls.rows[-1] == write(profile, folder, "arrow")
            cls.parquet.append({name: parquet.read_table(f"{folder}/{name}.parquet") for name in TABLES})
            cls.arrow.append({name: ipc.open_file(f"{folder}/{name}.arrow").read_all() for name in TABLES})
            cls.reports.append(json.loads(run("report", "--all", "--json", profile)))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, i, table):
        return os.path.join(self.folder.name, str(i), table + ".parquet")

    def test_both_forms_say_the_same(self):
        for rows, first, second in zip(self.rows, self.parquet, self.arrow):
            for name in TABLES:
                first[name].validate(full=True)
                second[name].validate(full=True)
                self.assertEqual(first[name].num_rows, rows[name])
                self.assertEqual(first[name].to_pylist(), second[name].to_pylist())

    def test_the_columns_are_those_of_the_documentation(self):
        for tables in self.parquet:
            for name, columns in documented().items():
                self.assertEqual([(field.name, TYPES[str(field.type)]) for field in tables[name].schema], columns, name)

    def test_a_file_says_what_it_is(self):
        for form in (self.parquet[0]["ops"], self.arrow[0]["ops"]):
            facts = form.schema.metadata
            self.assertEqual(facts[b"tpusight.schema"], b"tpusight-export/1")
            self.assertEqual(facts[b"tpusight.table"], b"ops")
            self.assertEqual(facts[b"tpusight.start_unix_ns"], b"1767225600000000000")

    def test_ops_and_steps_are_those_of_the_report(self):
        for tables, report in zip(self.parquet, self.reports):
            for name in ("ops", "steps"):
                wanted = report.get(name, [])
                found = tables[name].to_pylist()
                self.assertEqual(len(found), len(wanted))
                for row, of_report in zip(found, wanted):
                    of_report = dict(of_report)
                    if of_report.get("program_id") is not None:
                        of_report["program_id"] = int(of_report["program_id"])
                    self.assertEqual(row, {key: of_report[key] for key in row})

    def test_findings_are_those_of_the_report(self):
        for tables, report in zip(self.parquet, self.reports):
            for row, finding in zip(tables["findings"].to_pylist(), report["doctor"]["findings"], strict=True):
                self.assertEqual(json.loads(row.pop("where_json")), finding["where"])
                self.assertEqual(json.loads(row.pop("time_ranges_json")), finding["time_ranges"])
                place = finding["where"][0] if finding["where"] else {"op": None, "module": None, "source": None}
                self.assertEqual(row, {key: {**finding, **place}[key] for key in row})

    def test_duckdb_sums_events_to_what_the_report_has_of_each_op(self):
        asked = """SELECT op_index, sum(total_time_ps)::BIGINT, sum(self_time_ps)::BIGINT, sum(occurrences)::BIGINT
                   FROM read_parquet(?) WHERE line_kind = 'ops' GROUP BY 1"""
        sums = {row[0]: row[1:] for row in duckdb.execute(asked, [self.path(0, "events")]).fetchall()}
        ops = [op for op in self.reports[0]["ops"] if op["self_time_ps"] is not None]
        self.assertGreater(len(ops), 100)
        for op in ops:
            self.assertEqual(sums[op["op_index"]], (op["total_time_ps"], op["self_time_ps"], op["occurrences"]), op["name"])

    def test_a_trace_has_the_events_that_python_counts_in_it(self):
        import gzip

        with gzip.open(PROFILES[2], "rt", encoding="utf-8") as file:
            events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
        operators = [event for event in events if event.get("cat") == "cpu_op"]
        asked = "SELECT count(*), sum(duration_ps)::BIGINT FROM read_parquet(?) WHERE category = 'cpu_op'"
        found = duckdb.execute(asked, [self.path(2, "events")]).fetchone()
        self.assertGreater(len(operators), 10)
        self.assertEqual(found[0], len(operators))
        self.assertAlmostEqual(found[1], sum(event["dur"] for event in operators) * 1e6, delta=1e3 * len(operators))

    def test_row_groups_have_bounds_by_which_readers_pass_over_them(self):
        group = parquet.ParquetFile(self.path(0, "events")).metadata.row_group(0)
        columns = {group.column(i).path_in_schema: group.column(i).statistics for i in range(group.num_columns)}
        starts = self.parquet[0]["events"]["start_ps"].to_pylist()
        self.assertEqual((columns["start_ps"].min, columns["start_ps"].max), (min(starts), max(starts)))
        self.assertEqual(columns["flops"].null_count, self.parquet[0]["events"]["flops"].null_count)


if __name__ == "__main__":
    package.main()
