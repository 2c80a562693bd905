#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each word that a report shows is explained, once and plainly: glossary_test.py

docs/glossary.md and the tables of docs are what the program prints, and it is held against reports of the profiles in tests/data:
every field of every view, and every column of every table, has a label; no table has one label twice; names and formulas
speak of what the sources have. $TPUSIGHT names the program (default: bin/tpusight).
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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import DATA, PROGRAM

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
sys.path.insert(0, os.path.join(TOP, "src", "cli", "manual"))
from pages import filled, tables_of

PROFILES = sorted(glob.glob(f"{DATA}/*.xplane.pb") + glob.glob(f"{DATA}/*.pt.trace.json*") + glob.glob(f"{DATA}/sample/*"))
PLANTED = sorted(glob.glob(f"{DATA}/planted/*.tar.gz"))
NOT_VIEWS = {"schema", "generator", "notes", "provenance", "tracks", "heatmap", "clocks", "annotation"}
FOR_SCRIPTS = re.compile(r"(_(ms|us|mb)|\.is_others)$")  # the same figure stands beside it with its unit; a row is that of the others
PRINTED = {"docs/glossary.md": "markdown", "plugin/page/src/results.d.ts": "typescript", "plugin/tpusight/_results.pyi": "python"}
MAX_WORDS = 20
BANNED = re.compile(r"\b(nobody|none|whoever|stuff|things|reckon|spare|dear|is no)\b", re.IGNORECASE)
UNITS = {"TIME": "time", "CORE": "core time", "BYTES": "bytes", "BANDWIDTH": "bytes a second", "SHARE": "%", "COUNT": "FLOP"}
SHARES = re.compile(r"share|utilization|duty cycle|efficiency|occupancy", re.IGNORECASE)


def text_of(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


class Word:
    def __init__(self, section):
        lines = section.strip().split("\n")
        self.title = lines[0]
        self.names = re.findall(r"`([^`]+)`([^,`]*)", lines[1].removeprefix("Names: "))
        self.formula = self.line(lines, "Formula: ")
        self.unit = self.line(lines, "Unit: ")
        self.page = self.line(lines, "More: ")
        marks = ("Names: ", "Formula: ", "Unit: ", "More: ")
        self.text = " ".join(line for line in lines[1:] if line and not line.startswith(marks))

    @staticmethod
    def line(lines, mark):
        found = [line.removeprefix(mark) for line in lines if line.startswith(mark)]
        return found[0] if len(found) == 1 else None


def words_of(text):
    return [Word(section) for section in text.split("\n## ")[1:]]


def label_of(labels, path):
    """The label of the longest name that PATH ends with."""
    while path:
        if path in labels:
            return labels[path]
        path = path.partition(".")[2]
    return None


def fields_of(value, path):
    """Every path that a report shows: of fields, of tables, of their columns."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("provenance", "notes"):
                yield from fields_of(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield path
        for row in value:
            yield from fields_of(row, path)
    else:
        yield path


def report_of(path):
    done = subprocess.run([PROGRAM, "report", "--format", "json", path], capture_output=True, check=False)
    return json.loads(done.stdout) if done.stdout else {}


def printed(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, check=True, encoding="utf-8").stdout


def declared(schema, defs, path=""):
    """Every path that a report may show."""
    for name, member in schema.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        yield at
        inner = defs.get(member.get("$ref", "").rpartition("/")[2], member)
        yield from declared(inner.get("items", inner), defs, at)


def paths():
    found = set()
    with tempfile.TemporaryDirectory() as folder:
        for archive in PLANTED:
            into = os.path.join(folder, os.path.basename(archive)[:-7])
            with tarfile.open(archive) as tar:
                tar.extractall(into, filter="data")
        for profile in PROFILES + sorted(glob.glob(f"{folder}/*")):
            report = report_of(profile)
            found |= set(fields_of({name: view for name, view in report.items() if name not in NOT_VIEWS}, ""))
    return sorted(path for path in found if path and not FOR_SCRIPTS.search(path))


class Glossary(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.words = words_of(text_of("docs/glossary.md"))
        cls.labels = {name: own.strip() or word.title for word in cls.words for name, own in word.names}
        cls.paths = paths()
        schema = json.loads(printed("schema"))
        cls.declared = sorted(set(declared(schema, schema["$defs"])))
        sources = "\n".join(text_of(os.path.relpath(path, TOP)) for path in glob.glob(f"{TOP}/src/**/*.[cdh]*", recursive=True))
        cls.known = set(re.findall(r"\w+", sources)) | {path.rpartition(".")[2] for path in cls.paths}

    def test_what_is_kept_is_what_the_program_prints(self):
        for path, form in PRINTED.items():
            self.assertTrue(text_of(path) == printed("schema", "--format", form), f"{path} is old: make schema")

    def test_tables_of_the_pages_are_what_the_program_prints(self):
        known = tables_of(printed("schema", "--format", "tables"))
        placed = []
        for path in sorted(glob.glob(f"{TOP}/docs/**/*.md", recursive=True)):
            page = text_of(os.path.relpath(path, TOP))
            self.assertTrue(page == filled(page, known), f"{path} is old: make schema")
            placed += re.findall("<!-- schema (.+) -->\n", page)
        self.assertEqual(placed, [name for name in placed if placed.count(name) == 1])
        self.assertEqual(sorted(set(known) - set(placed)), [])

    def test_each_field_of_a_report_has_a_label(self):
        self.assertGreater(len(self.paths), 500)
        self.assertEqual([path for path in self.paths if not label_of(self.labels, path)], [])

    def test_columns_of_a_table_are_told_apart(self):
        tables = {}
        for path in self.paths:
            tables.setdefault(path.rpartition(".")[0], []).append(path)
        twice = []
        for table, columns in tables.items():
            if "." not in table and table not in ("ops", "modules", "roofline", "collectives", "kernels", "steps"):
                continue  # a view: a count may be called as the table that it counts
            names = [label_of(self.labels, path) for path in columns]
            twice += [path for path, name in zip(columns, names) if names.count(name) > 1]
        self.assertEqual(twice, [])

    def test_each_label_and_each_name_stands_once(self):
        titles = [word.title for word in self.words]
        names = [name for word in self.words for name, _ in word.names]
        self.assertEqual([title for title in titles if titles.count(title) > 1], [])
        self.assertEqual([name for name in names if names.count(name) > 1], [])

    def test_a_name_is_one_that_the_program_has(self):
        names = [name for word in self.words for name, _ in word.names]
        self.assertEqual([name for name in names if name.rpartition(".")[2] not in self.known], [])

    def test_words_are_two_short_sentences(self):
        for word in self.words:
            sentences = re.split(r"(?<=[.?!])\s+", word.text)
            self.assertTrue(word.text.endswith("."), word.title)
            self.assertLessEqual(len(sentences), 2, word.title)
            for sentence in sentences:
                self.assertLessEqual(len(sentence.split()), MAX_WORDS, sentence)
                self.assertNotRegex(sentence, BANNED)
                self.assertNotRegex(sentence, r"[a-z]_[a-z]", "names of JSON are for formulas")

    def test_a_formula_names_fields_that_exist(self):
        for word in self.words:
            for name in re.findall(r"`([^`]+)`", word.formula or ""):
                has_label = label_of(self.labels, name) or any(label.endswith(f".{name}") for label in self.labels)
                self.assertTrue(has_label, f"{word.title}: {name}")
            bare = re.sub(r"`[^`]*`", "", word.formula or "")
            self.assertNotRegex(bare, r"[a-z]_[a-z]", f"{word.title}: a field stands in backquotes")

    def test_a_unit_is_that_of_the_name(self):
        table = re.findall(r'X\("([^"]+)", ([A-Z]+), "([^"]*)"', text_of("src/base/units_list.h"))
        paths = {}
        for path in self.declared:
            paths.setdefault(label_of(self.labels, path), []).append(path)
        for word in self.words:
            kinds = set()
            for name in [name for name, _ in word.names] + paths.get(word.title, []):
                part, row = name, None
                while part and not row:
                    row = next((row for row in table if part.endswith(row[0])), None)
                    part = part.rpartition(".")[0]
                kinds.add(UNITS.get(row[1], row[2]) if row else None)
            if word.unit == "core time":
                kinds = {"core time" if kind == "time" else kind for kind in kinds}
            self.assertIn(word.unit, kinds, word.title)

    def test_what_is_of_all_cores_is_core_time(self):
        table = re.findall(r'X\("([^"]+)", ([A-Z]+), "', text_of("src/base/units_list.h"))
        of_cores = [path for path in self.paths if "all cores" in label_of(self.labels, path)]
        self.assertGreater(len(of_cores), 20)
        self.assertEqual([path for path in of_cores if next(kind for ending, kind in table if path.endswith(ending)) != "CORE"], [])

    def test_a_share_says_so(self):
        for name, label in self.labels.items():
            if name.endswith("_pct"):
                self.assertRegex(label, SHARES, name)

    def test_a_page_has_the_whole_story(self):
        for word in self.words:
            found = re.fullmatch(r"\[[^]]+\]\(([^)]+\.md)\)", word.page or "")
            self.assertTrue(found, word.title)
            self.assertTrue(os.path.exists(os.path.join(TOP, "docs", found[1])), word.title)


class Explained(unittest.TestCase):
    def explained(self, *words):
        done = subprocess.run([PROGRAM, "explain", "--json", *words], capture_output=True, check=False)
        return json.loads(done.stdout)["words"]

    def test_labels_and_names_are_explained_by_the_program(self):
        for word in ("MXU utilization", "mxu_utilization_pct", "systolic.mxu_utilization_pct"):
            rows = [row for row in self.explained(word) if row["kind"] == "label"]
            self.assertEqual(len(rows), 1, word)
            self.assertEqual(rows[0]["page"], "docs/glossary.md")
            self.assertTrue(rows[0]["text"].startswith("MXU utilization\nThe matrix units"), rows[0]["text"])

    def test_the_longest_name_that_fits_is_explained(self):
        self.assertEqual(self.explained("systolic.steps.time_ps")[0]["word"], "steps.time_ps")
        self.assertEqual(self.explained("memory.host_link.time_ps")[0]["word"], "host_link.time_ps")


if __name__ == "__main__":
    unittest.main()
