#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each command in the documents runs as it stands there, or says what it needs: commands_test.py

The ```sh blocks of a document run in their order, a command a shell, in a folder that has files of the names they use. A
comment in front of a block names what its commands need that a test does not have, of all of them or of those that begin
with some words:

    <!-- needs: a cluster and kubectl -->
    <!-- needs: `pip install`: the network; `tpusight live --service`: a job with a profiler server -->

Those do not run; the options of ours are looked for in --help. Servers and watches run until they have said where they are.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import examples_test
import package

TIME_S = 900
PACKAGES = ("pod", "mcp", "profile", "before")  # commands of the Python package
ELSEWHERE = {"docs/stories.md"}  # its commands are one job after the other: scripts_test.py
PATTERNS = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/*/*.md", "plugin/README.md")
BLOCK = re.compile(r"(?:^<!-- needs: (?P<needs>.*?) -->\n+)?^```(?:sh|bash|shell|console)\n(?P<text>.*?)^```$", re.M | re.S)


def documents():
    found = {os.path.relpath(path, package.ROOT) for pattern in PATTERNS for path in glob.glob(os.path.join(package.ROOT, pattern))}
    return sorted(found - ELSEWHERE)


def needs_of(text):
    """[(words that a command begins with, what it needs)]"""
    found = re.findall(r"`([^`]+)`: ([^;]+)", text or "")
    return found or ([("", text)] if text else [])


def is_command_of(line):
    return line.strip() and not line.lstrip().startswith("#")


def commands_of(block):
    """The commands without their comments; one that goes on behind a backslash is one."""
    lines = block.replace("\\\n", " ").splitlines()
    return [re.split(r"\s{1,}# ", line)[0].strip() for line in lines if is_command_of(line)]


def blocks(text):
    """[([(command, what it needs or None)], [words of needs that no command begins with])]"""
    found = []
    for match in BLOCK.finditer(text):
        needs = needs_of(match["needs"])
        commands = commands_of(match["text"])
        rows = [(command, next((what for words, what in needs if command.startswith(words)), None)) for command in commands]
        unused = [words for words, _ in needs if not any(command.startswith(words) for command, _ in rows)]
        found.append((rows, unused))
    return found


def is_endless(command):
    """Whether it serves or watches until it is ended."""
    return re.match(r"tpusight (serve|live)\b", command)


def prepared(folder, name):
    """A folder with the files that the commands of the document name."""
    examples_test.lay_out(folder)
    if name in ("README.md", "docs/use.md"):
        examples_test.put_gpu_trace(folder)
    if name == "docs/export.md":
        shutil.copytree(os.path.join(folder, "SESSION"), os.path.join(folder, "run"))
    if name == "docs/map.md":  # the session has the profile that is mapped
        for profile in glob.glob(os.path.join(folder, "SESSION", "*.xplane.pb")):
            os.rename(profile, os.path.join(folder, "SESSION", "HOST.xplane.pb"))


def here(command, folder):
    """As it runs in the folder: there is no cluster, and the usual port may be taken."""
    command = command.replace("/tmp/", folder + "/").replace("~/", folder + "/").replace("--address auto", "--local")
    return re.sub(r"^tpusight serve\b", "tpusight serve --port=0", command)


def run(command, folder, environment):
    """(status, what it said)"""
    done = subprocess.run(here(command, folder), shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=TIME_S, check=False)
    return done.returncode, done.stdout.decode("utf-8", "replace")[-2000:]


def run_until_it_speaks(command, folder, environment):
    """The same of one that goes on: it is ended once it has said something."""
    with package.children.start("exec " + here(command, folder), shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True) as process:
        said = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        said += process.communicate(timeout=TIME_S)[0]
    is_watch = command.startswith("tpusight live") and re.match(r'Watching |{"schema":"tpusight-live/1"', said)
    return 0 if is_watch and process.returncode != 2 else process.returncode, said  # it was ended before a session was at rest


class Commands(unittest.TestCase):
    def options_are_there(self, command):
        """A command of ours that cannot run here has no option that the program does not know."""
        words = command.split()
        if words[0] not in ("tpusight", "tpusight-annotate") or words[1] in PACKAGES:
            return
        asked = [package.PROGRAM, words[1], "--help"] if words[0] == "tpusight" else [package.PROGRAM, "annotate", "--help"]
        said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
        for option in re.findall(r"(?<= )--[\w-]+", command):
            self.assertRegex(said, rf"{option}\b", command)

    def test_each_command_runs_or_says_what_it_needs(self):
        nr_run = nr_need = 0
        for name in documents():
            with open(os.path.join(package.ROOT, name), encoding="utf-8") as f:
                found = blocks(f.read())
            if not found:
                continue
            with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as programs:
                prepared(folder, name)
                environment = examples_test.with_package(programs)
                for rows, unused in found:
                    self.assertEqual(unused, [], f"{name}: no command begins with these words of needs")
                    for command, what in rows:
                        with self.subTest(f"{name}: {command}"):
                            if what:
                                nr_need += 1
                                self.options_are_there(command)
                                continue
                            nr_run += 1
                            status, said = (run_until_it_speaks if is_endless(command) else run)(command, folder, environment)
                            self.assertEqual(status, 0, said)
        print(f"{nr_run} commands ran, {nr_need} say what they need", flush=True)
        self.assertGreater(nr_run, 40)

    def test_the_program_of_a_tpu_vm_runs(self):
        python = os.environ.get("TS_JAX_PYTHON", "")
        if not os.access(python, os.X_OK):
            self.skipTest("TS_JAX_PYTHON names no Python with JAX")
        with tempfile.TemporaryDirectory() as folder:
            status, said = examples_test.run(os.path.join(package.ROOT, "docs", "cloud.md"), python, folder)
            self.assertEqual(status, 0, said)

    def test_blocks_are_read_as_they_stand(self):
        text = ("a\n\n<!-- needs: `b c`: a cloud; `x`: luck -->\n```sh\na --b   # why\nb c d\n# only a comment\n\nb \\\n  x\n```\n"
                "<!-- needs: all of it -->\n\n```bash\nc # d\n```\n```sh\nd '#e'\n```\n")
        self.assertEqual(blocks(text), [([("a --b", None), ("b c d", "a cloud"), ("b    x", None)], ["x"]), ([("c", "all of it")], []),
                                        ([("d '#e'", None)], [])])


if __name__ == "__main__":
    package.main()
