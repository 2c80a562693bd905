#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`tpusight mcp`, asked by the client of the protocol's own SDK, under the Python that $TS_TABLES_PYTHON names."""
import asyncio
import contextlib
import csv
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import package

package.under("TS_TABLES_PYTHON")

import ranks_test
from mcp import Client, StdioServerParameters
from tensorboard_plugin_tpusight import runs as of_tensorboard
from tpusight.agent import answers as of_answers, kept, report as of_agent, runs as of_runs

MOST_BYTES = 16 << 10
MOST_MEMORY = 1 << 30  # of a query
SAMPLE = os.path.join(package.DATA, "sample")
TOOLS = {"list_runs", "summary", "findings", "table", "op", "compare", "sql"}


def server(*paths, program=package.PROGRAM):
    path = os.pathsep.join([os.path.join(package.ROOT, "plugin"), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": path, "TPUSIGHT": program, "PYTHONDONTWRITEBYTECODE": "1"}
    return StdioServerParameters(command=sys.executable, args=["-m", "tpusight.agent.main", *paths], env=env)


def talk(paths, *calls, program=package.PROGRAM):
    """The answers of the tools: a text, or an Exception with what was said. A call without words is a function of ours."""

    async def ask():
        async with Client(server(*paths, program=program)) as client:
            answers = []
            for name, words in calls:
                if words is None:
                    answers.append(name())
                    continue
                result = await client.call_tool(name, words)
                text = "".join(part.text for part in result.content)
                answers.append(ValueError(text) if result.is_error else text)
            return answers, await client.list_tools()

    return asyncio.run(ask())


@contextlib.contextmanager
def in_folder(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def ask(tool, paths=(SAMPLE,), **words):
    [answer], _ = talk(paths, (tool, words))
    if isinstance(answer, Exception):
        raise answer
    return json.loads(answer)


def report(*words):
    return subprocess.run([package.PROGRAM, "report", *words, SAMPLE], check=True, capture_output=True, text=True).stdout


def report_of(size, names="abc"):
    """{table: rows} whose texts have about SIZE bytes."""
    return {name: [{"text": "x" * (size // len(names))}] for name in names}


class Keeping(unittest.TestCase):
    def test_the_things_used_last_are_kept_within_the_bytes(self):
        dropped, made = [], []
        things = kept.Kept(10, dropped.append)

        def get(key, size=4, state=1):
            def make():
                made.append(key)
                return f"{key}{state}", size
            return things.get(key, state, make)

        self.assertEqual([get("a"), get("b"), get("a"), get("c")], ["a1", "b1", "a1", "c1"])
        self.assertEqual((made, dropped, things.bytes()), (["a", "b", "c"], ["b1"], 8))
        self.assertEqual(get("a", state=2), "a2")
        self.assertEqual((made[3:], dropped), (["a"], ["b1", "a1"]))
        self.assertEqual(get("large", size=100), "large1")
        self.assertEqual((sorted(dropped), things.bytes()), (["a1", "a2", "b1", "c1"], 100))

    def test_a_report_counts_what_it_holds(self):
        time = {"total_ps": 1, "per_step": [], "per_core": [{"a": [1, 2]}]}
        held = of_agent.Report("short", {"ops": [{"name": "é" * 1000}], "time": time})
        self.assertGreater(held.bytes(), 2000)
        self.assertEqual(held.table("time"), ("time.per_core", [{"a": "1; 2"}]))
        self.assertEqual(held.table("time.per_step"), ("time.per_step", []))
        self.assertEqual(held.table("time.total_ps"), ("time.total_ps", [{"total_ps": 1}]))

    def test_a_view_whose_tables_are_empty_has_its_figures(self):
        held = of_agent.Report("short", {"capture": {"verdict": "good", "causes": []}, "time": {"buckets": {"idle_ps": 5}}})
        self.assertEqual(held.table("capture"), ("capture", [{"verdict": "good"}]))
        self.assertEqual(held.table("capture.causes"), ("capture.causes", []))
        self.assertEqual(held.table("time.buckets"), ("time.buckets", [{"idle_ps": 5}]))

    def test_no_text_is_cut_inside_a_number(self):
        for shift in range(20):
            said = of_answers.cut("x" * shift + " 1234567.25 of 98765.5" * 200, 400)
            self.assertLessEqual(len(said), 400)
            self.assertEqual(set(re.findall(r"[0-9.,]*[0-9][0-9.,]*", said)), {"1234567.25", "98765.5"}, said)

    def test_reports_in_memory_are_bounded(self):
        runs = [of_runs.Run(str(i), (), ()) for i in range(5)]
        with mock.patch.multiple(of_agent, _short=lambda found: "", _whole=lambda found: report_of(40 << 20)):
            reports = of_agent.Reports()
            for found in runs:
                reports.of(found)
        self.assertLessEqual(reports._kept.bytes(), of_agent.KEPT_BYTES)
        self.assertGreater(reports._kept.bytes(), of_agent.KEPT_BYTES // 2)

    def test_a_very_large_report_is_read_in_its_bounded_form(self):
        asked = []

        def run(*words):
            asked.append(words)
            with open(words[words.index("-o") + 1], "w", encoding="utf-8") as file:
                json.dump(report_of(2000 if "--all" in words else 20), file)

        with mock.patch.multiple(of_agent, run=run, MOST_BYTES=1000):
            self.assertEqual(of_agent._whole(of_runs.Run("p", (), ("--", "p"))), report_of(20))
        self.assertEqual(["--all" in words for words in asked], [True, False])


class Agent(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.logs = os.path.join(cls.folder, "logs")
        for run, profile in (("first", "cpu_steps"), ("second", "cpu_shapes")):
            session = os.path.join(cls.logs, run, "plugins", "profile", "2026")
            os.makedirs(session)
            shutil.copy(os.path.join(package.DATA, profile + ".xplane.pb"), os.path.join(session, "h.xplane.pb"))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_the_tools_are_those_and_all_only_read(self):
        _, listed = talk([SAMPLE])
        self.assertEqual({tool.name for tool in listed.tools}, TOOLS)
        for tool in listed.tools:
            self.assertTrue(tool.annotations.read_only_hint, tool.name)
            self.assertGreater(len(tool.description), 40, tool.name)

    def test_runs_are_listed_by_the_names_that_viewers_have(self):
        runs = ask("list_runs", [self.logs])["runs"]
        self.assertEqual([run["run"] for run in runs], ["first/2026", "second/2026"])

    def test_ranks_of_a_job_are_one_run_whatever_their_files_are_called(self):
        jobs = os.path.join(self.folder, "jobs")
        for job in "before", "after":
            os.makedirs(os.path.join(jobs, job))
            for rank, name in enumerate(("alpha.json", "weights.json")):
                with open(os.path.join(jobs, job, name), "w", encoding="utf-8") as file:
                    json.dump(ranks_test.trace(rank, 2), file)
        shutil.copy(os.path.join(package.DATA, "cpu_steps.xplane.pb"), os.path.join(jobs, "alone.xplane.pb"))
        os.symlink(os.path.join(package.DATA, "cpu_steps.xplane.pb"), os.path.join(jobs, "outside.xplane.pb"))
        runs = [run["run"] for run in ask("list_runs", [jobs])["runs"]]
        self.assertEqual(runs, ["after/alpha.json", "before/alpha.json", "alone.xplane.pb"])
        self.assertEqual(runs[:2], [session.id for session in of_tensorboard.find(jobs)])
        query = "SELECT count(DISTINCT host)::INT AS hosts FROM events"
        self.assertEqual(ask("sql", [jobs], run=runs[0], query=query)["rows"], [{"hosts": 2}])
        self.assertEqual(len(ask("table", [jobs], run=runs[0], view="hta.ranks")["rows"]), 2)
        self.assertIn("before", "".join(ask("compare", [jobs], base=runs[0], other=runs[1])["text"]))

    def test_a_run_must_be_named_where_there_are_several_and_no_other_path_is_read(self):
        names = ["", SAMPLE, "../../x", "first/2026"]
        answers, _ = talk([self.logs], *[("summary", {"run": name}) for name in names])
        for answer in answers[:3]:
            self.assertIsInstance(answer, ValueError)
            self.assertIn("first/2026, second/2026", str(answer))
        self.assertEqual(json.loads(answers[3])["schema"], "tpusight/1")

    def test_summary_and_findings_are_those_of_the_report(self):
        wanted = json.loads(report("--json"))
        found = ask("summary")
        self.assertEqual(found["health_score"], wanted["doctor"]["health_score"])
        self.assertEqual(list(found)[:6], ["schema", "verdict", "step_time_ps", "bottleneck", "time_pct", "run"])
        self.assertEqual((found["verdict"], found["bottleneck"]), (wanted["capture"]["verdict"], wanted["time"]["bottleneck"]))
        self.assertEqual(found["step_time_ps"], wanted["overview"]["step_time_ps"]["median"])
        classes = {name[:-3]: ps for name, ps in wanted["time"]["buckets"].items() if ps}
        self.assertEqual(set(found["time_pct"]), set(classes))
        for name, ps in classes.items():
            self.assertAlmostEqual(found["time_pct"][name], ps / wanted["time"]["total_ps"] * 100, delta=0.051)
        found = ask("findings", top=3)
        self.assertEqual([row["id"] for row in found["findings"]], [row["id"] for row in wanted["doctor"]["findings"][:3]])
        self.assertEqual(found["left_out"], len(wanted["doctor"]["findings"]) - 3)
        one = wanted["doctor"]["findings"][0]
        whole = ask("findings", id=one["id"])
        self.assertEqual(whole["where"], one["where"])
        for key in ("gain_ps", "code", "advice"):
            self.assertEqual(whole["finding"][key], one[key])

    def test_the_way_that_the_skill_describes_can_be_gone(self):
        """docs/SKILL.md, "The way": what a step tells the agent to take is in the answer of the step before."""
        with open(os.path.join(package.ROOT, "docs", "SKILL.md"), encoding="utf-8") as file:
            way = file.read().split("## The way")[1].split("\n## ")[0]
        with tempfile.TemporaryDirectory() as folder:
            for name in ("padding", "clean"):
                run = os.path.join(folder, name)
                os.makedirs(run)
                shutil.unpack_archive(os.path.join(package.DATA, "planted", f"{name}.tar.gz"), run)
            names = [row["run"] for row in ask("list_runs", [folder])["runs"]]
            base, other = (next(name for name in names if part in name) for part in ("padding", "clean"))
            summary = ask("summary", [folder], run=base)
            self.assertIn(summary["verdict"], ("good", "weak"))
            for name in re.findall(r"`(\w+)`", way.split("2. **`summary`.**")[1].split("\n3.")[0]):
                self.assertIsNotNone(summary[name], name)
            best = max(ask("findings", [folder], run=base)["findings"], key=lambda finding: finding["gain_pct"] or 0)
            self.assertGreater(best["gain_pct"], 0)
            self.assertIn(best["confidence"], ("certain", "likely", "possible"))
            whole = ask("findings", [folder], run=base, id=best["id"])
            self.assertTrue(whole["finding"]["advice"] and whole["where"])
            self.assertTrue(ask("compare", [folder], base=base, other=other)["text"])
            sessions = [os.path.join(folder, name) for name in ("padding", "clean")]
            gate, = re.findall(r"--fail-if '([^']+)'", way)
            for before, after, status in ((*sessions, 1), (sessions[0], sessions[0], 0)):  # a step of the second run is longer
                done = subprocess.run([package.PROGRAM, "compare", "--fail-if", gate, before, after], capture_output=True, check=False)
                self.assertEqual(done.returncode, status, done.stderr)

    def test_a_table_is_sorted_filtered_and_cut(self):
        rows = list(csv.DictReader(report("--all", "--format", "csv", "--view", "ops").splitlines()))
        fusions = sorted((row for row in rows if "fusion" in row["name"]), key=lambda row: -float(row["flops"] or "-inf"))
        found = ask("table", view="ops", top=5, sort="flops", filter="name=fusion", columns=["name", "flops", "program_id"])
        self.assertEqual([row["flops"] for row in found["rows"]], [int(row["flops"]) for row in fusions[:5]])
        self.assertEqual(found["left_out"], len(fusions) - 5)
        self.assertIsInstance(found["rows"][0]["program_id"], str)
        found = ask("table", view="ops", top=1000, sort="name", columns=["name"])
        self.assertEqual([row["name"] for row in found["rows"]], sorted(row["name"] for row in rows))

    def test_answers_about_what_is_predicted_say_so(self):
        module = os.path.join(package.DATA, "pallas_v5e.hlo.pb")
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([package.PROGRAM, "hlo", "-q", "--topology=v5e:2x4", f"--predict={folder}", module], check=True,
                           stdout=subprocess.DEVNULL)
            answers, _ = talk([folder], ("table", {"top": 1}), ("findings", {}), ("summary", {}),
                              ("sql", {"query": "SELECT * FROM ops LIMIT 1"}))
            op = ask("op", [folder], name=json.loads(answers[0])["rows"][0]["name"])
        table, findings, summary, rows = map(json.loads, answers)
        self.assertIs(table["is_predicted"], True)
        self.assertIs(findings["is_predicted"], True)
        self.assertIs(op["is_predicted"], True)
        self.assertIn("PREDICTED", summary["run"])
        self.assertIs(rows["rows"][0]["is_predicted"], True)
        self.assertNotIn("is_predicted", ask("table", top=1))

    def test_an_op_comes_with_what_the_doctor_says_of_it(self):
        found = ask("op", name="fusion.337")
        self.assertEqual(found["ops"][0]["name"], "fusion.337")
        self.assertIn("unfused_attention", [finding["id"] for finding in found["findings"]])

    def test_runs_are_compared(self):
        text = "\n".join(ask("compare", [self.logs], base="first/2026", other="second/2026")["text"])
        self.assertIn("first", text)
        self.assertIn("second", text)

    def test_sql_sums_what_the_report_has(self):
        query = """SELECT op_index, op.self_time_ps AS of_report, sum(event.self_time_ps)::BIGINT AS of_events
                   FROM events AS event JOIN ops AS op USING (op_index)
                   WHERE event.line_kind = 'ops' GROUP BY ALL ORDER BY of_report DESC"""
        found = ask("sql", query=query, top=10)
        self.assertEqual(len(found["rows"]), 10)
        self.assertTrue(found["has_more"])
        for row in found["rows"]:
            self.assertEqual(row["of_report"], row["of_events"])

    def test_the_questions_of_the_manual_have_answers(self):
        with open(os.path.join(package.ROOT, "docs", "SKILL.md"), encoding="utf-8") as file:
            queries = re.findall(r"```sql\n(.*?)```", file.read(), re.S)
        self.assertEqual(len(queries), 2)
        answers, _ = talk([SAMPLE], *[("sql", {"query": query}) for query in queries])
        for query, answer in zip(queries, answers):
            self.assertNotIsInstance(answer, Exception, query)
            self.assertGreater(len(json.loads(answer)["rows"]), 5)

    def test_the_manual_names_each_tool(self):
        with open(os.path.join(package.ROOT, "docs", "SKILL.md"), encoding="utf-8") as file:
            self.assertEqual(set(re.findall(r"^\| `(\w+)\(", file.read(), re.M)), TOOLS)

    def test_sql_reads_no_other_file_and_writes_none(self):
        other = os.path.join(self.folder, "secret.csv")
        with open(other, "w") as file:
            file.write("a\n1\n")
        here = os.path.join(self.folder, "written.csv")
        spill = os.path.join(self.folder, ".tmp")
        os.mkdir(spill)
        shutil.copy(other, spill)
        asked = [f"SELECT * FROM read_csv('{other}')", f"COPY ops TO '{here}'", "DROP VIEW ops", "SELECT 1; SELECT 2",
                 "SET memory_limit = '9GB'", f"ATTACH '{here}'", "SELECT * FROM nothing", "SELECT FROM WHERE", "INSTALL httpfs",
                 f"SELECT * FROM glob('{self.folder}/*')", "SELECT * FROM read_text('.tmp/secret.csv')", "SELECT * FROM '.tmp/secret.csv'",
                 f"SELECT * FROM read_blob('{spill}/secret.csv')", "SELECT * FROM read_text('/proc/self/environ')",
                 "SELECT * FROM read_text('../../../../../../proc/self/environ')", "SELECT * FROM asked", "SELECT * FROM names",
                 "SELECT * FROM query('COPY ops TO ''x.csv'' ')"]
        with in_folder(self.folder):
            answers, _ = talk([SAMPLE], *[("sql", {"query": query}) for query in asked])
        for query, answer in zip(asked, answers):
            self.assertIsInstance(answer, ValueError, query)
        self.assertFalse(os.path.exists(here))
        self.assertEqual(os.listdir(spill), ["secret.csv"])

    def test_sql_takes_no_more_memory_and_disk_than_it_may(self):
        long, wide = "SELECT repeat('a', 300000000) AS a", "SELECT repeat('a', 30000000) || i AS a FROM range(100) AS t(i)"
        sorted_away = "SELECT i, repeat('x', 900) || i AS a FROM range(3000000) AS t(i) ORDER BY a DESC LIMIT 2999999"
        with in_folder(self.folder):
            before = sorted(os.listdir("."))
            answers, _ = talk([SAMPLE], *[("sql", {"query": query}) for query in (long, wide, sorted_away, "SELECT 1 AS a")])
            self.assertEqual(sorted(os.listdir(".")), before)
        for answer in answers[:3]:
            if isinstance(answer, ValueError):
                self.assertIn("ask for less", str(answer))
        self.assertIsInstance(answers[2], ValueError)  # it fits into no memory that it may have, and nowhere else
        self.assertEqual(json.loads(answers[3])["rows"], [{"a": 1}])
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
        self.assertLess(largest, MOST_MEMORY)

    def test_a_profile_is_read_once_until_it_changes(self):
        log, program = os.path.join(self.folder, "asked.log"), os.path.join(self.folder, "counting")
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\necho \"$1\" >> '{log}'\nexec '{package.PROGRAM}' \"$@\"\n")
        os.chmod(program, 0o755)
        logs = os.path.join(self.folder, "changing")
        shutil.copytree(self.logs, logs)
        profile = os.path.join(logs, "first", "plugins", "profile", "2026", "h.xplane.pb")

        def asked():
            with open(log, encoding="utf-8") as file:
                return sorted(line.strip() for line in file if line != "--version\n")

        def change():
            shutil.copy(os.path.join(package.DATA, "cpu_shapes.xplane.pb"), profile)
            return asked()

        run = {"run": "first/2026"}
        calls = [("summary", run), ("findings", run), ("table", {**run, "view": "modules"}), ("table", {**run, "view": "padding"}),
                 ("sql", {**run, "query": "SELECT count(*) AS n FROM events"}),
                 ("compare", {"base": "first/2026", "other": "second/2026"})]
        answers, _ = talk([logs], *calls, (asked, None), *calls, (asked, None), (change, None), *calls, (asked, None), program=program)
        self.assertEqual([answer for answer in answers if isinstance(answer, Exception)], [])
        first, before, second, again, third, after = answers[:6], answers[6], answers[7:13], answers[13], answers[15:21], answers[21]
        self.assertEqual(before, ["compare", "export", "report", "report"])
        self.assertEqual((second, again), (first, before))
        self.assertEqual(after, sorted(2 * before))
        for name, old, new in zip(calls, first, third):
            self.assertNotEqual(old, new, name)
        fresh, _ = talk([logs], *calls)
        self.assertEqual(third, fresh)

    def test_tables_are_those_of_the_report(self):
        names = {"ops": "ops", "time": "time.per_core", "time.per_step": "time.per_step", "padding": "padding.arrays"}
        (overview, *answers), _ = talk([SAMPLE], *[("table", {"view": view, "top": 10}) for view in ("overview", *names)])
        self.assertEqual(json.loads(overview)["rows"][0]["step_count"], json.loads(report("--json"))["overview"]["step_count"])
        for (view, name), answer in zip(names.items(), answers):
            wanted = list(csv.DictReader(report("--all", "--format", "csv", "--view", view).splitlines()))
            found = json.loads(answer)
            self.assertEqual(found["view"], name)
            self.assertEqual(len(found["rows"]) + found["left_out"], len(wanted))
            for row, other in zip(found["rows"], wanted):
                self.assertEqual([re.sub(r" \(.*\)$", "", column) for column in other], list(row))
                for value, text in zip(row.values(), other.values()):
                    self.assertEqual(value is None, text == "")
                    if isinstance(value, (int, float)) and not isinstance(value, bool):
                        self.assertEqual(value, float(text))

    def test_each_answer_is_bounded(self):
        calls = [("table", {"view": "ops", "top": 10**6}), ("findings", {"top": 10**6}), ("summary", {}), ("list_runs", {}),
                 ("sql", {"query": "SELECT * FROM events", "top": 10**5}), ("sql", {"query": "SELECT repeat('x', 10000000) AS long"}),
                 ("op", {"name": "fusion.337"}), ("compare", {"base": "", "other": ""})]
        answers, _ = talk([SAMPLE], *calls)
        for (name, _), answer in zip(calls, answers):
            self.assertNotIsInstance(answer, Exception, name)
            self.assertLessEqual(len(answer.encode()), MOST_BYTES, name)
            json.loads(answer)

    def test_a_mistake_is_said_in_words(self):
        long = "x" * 100000
        rows = [("table", {"view": "nothing"}, "nothing"), ("table", {"view": "ops", "sort": "nothing"}, "there is no column 'nothing'"),
                ("op", {"name": "fusion.33"}, "near it: "), ("findings", {"id": "nothing"}, "no finding has the id"),
                ("table", {"view": "ops", "filter": "name"}, "COLUMN=TEXT"), ("table", {"top": -3}, "top is -3"),
                ("findings", {"top": 0}, "top is 0"), ("sql", {"query": "SELECT 1", "top": -3}, "top is -3"),
                ("op", {"name": long}, "no op is called"), ("summary", {"run": long}, "no run is called"),
                ("sql", {"query": f"SELECT {long}"}, "Binder Error"), ("table", {"sort": long}, "there is no column"),
                ("table", {"view": long}, "no view is called"), ("findings", {"id": long}, "no finding has the id")]
        answers, _ = talk([SAMPLE], *[row[:2] for row in rows])
        for answer, (_, _, says) in zip(answers, rows):
            self.assertIsInstance(answer, ValueError)
            self.assertIn(says, str(answer))
            self.assertLess(len(str(answer)), 3000)


if __name__ == "__main__":
    package.main()
