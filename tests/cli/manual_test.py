#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Manual pages and completions are made by the build, and shells complete by them: manual_test.py

manual/ must hold what `tpusight manual` prints of each command and for each shell; groff must have no complaint of a page; bash,
zsh and fish, those that are there, must complete what stands in the tables. Run in the build folder.
"""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import must, wrong

TOP = os.path.abspath(os.environ.get("srcdir") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PLACES = [os.path.abspath("manual"), os.path.join(TOP, "manual")]  # the second: they came in a tarball
MANUAL = next((place for place in PLACES if os.path.isdir(place)), PLACES[0])
PROGRAM = os.path.abspath("bin/tpusight")
PROGRAMS = ("tpusight", "tpusight-annotate")
SHELLS = {"bash": ["bash/" + name for name in PROGRAMS], "zsh": ["_tpusight"], "fish": [name + ".fish" for name in PROGRAMS]}
PATIENCE = 120  # seconds for a shell on a busy machine


def printed(*arguments):
    done = subprocess.run([PROGRAM, "manual", *arguments], capture_output=True, text=True, check=False)
    must(done.returncode == 0 and done.stderr == "", f"tpusight manual {' '.join(arguments)}: {done.returncode} {done.stderr}")
    return done.stdout


def text_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def commands():
    return re.findall(r"^\tX\((\w+)\)", text_of(os.path.join(TOP, "src", "cli", "list.h")), re.M)


def pages():
    """{path below manual/: what the program prints of it}"""
    made = {"tpusight.1": printed()}
    made |= {f"tpusight-{name}.1": printed(name) for name in commands()}
    return made | {path: printed(f"--completion={shell}") for shell, paths in SHELLS.items() for path in paths}


def of_build(made):
    for path, text in made.items():
        must(text_of(os.path.join(MANUAL, path)) == text, f"manual/{path} is not what the program prints (make)")


def of_groff(made):
    if not shutil.which("groff"):
        print("groff is missing: pages were not read by it")
        return
    for path, text in made.items():
        if path.endswith(".1"):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=text, capture_output=True, text=True, check=False)
            must(done.stderr == "", f"groff complains of {path}: {done.stderr}")
            must(not re.search(r"^\.[A-Z]", done.stdout, re.M), f"groff shows marks of {path}")


def of_options(made):
    """Each option that --help lists is in the page and in the script of each shell."""
    for name in commands():
        said = subprocess.run([PROGRAM, name, "--help"], capture_output=True, text=True, check=True).stdout
        for option in re.findall(r"^ {2}(?:-\w, | {4})--([\w-]+)", said, re.M):
            page = made[f"tpusight-{name}.1"].replace("\\-", "-")
            must(f"--{option}\\fR" in page, f"the page of {name} lacks --{option}")
            must(re.search(rf"__fish_seen_subcommand_from {name}' -l {option}\b", made[SHELLS["fish"][0]]),
                 f"fish does not know --{option} of {name}")
            row = re.search(rf"^\t{name}\) echo '(.*)' ;;", made[SHELLS["bash"][0]], re.M)
            must(row and re.search(rf" --{option}(=| |$)", row.group(1)), f"bash does not know --{option} of {name}")
            body = re.search(rf"^_tpusight_{name}\(\) {{\n(.*?)^}}", made[SHELLS["zsh"][0]], re.M | re.S)
            must(body and re.search(rf"--{option}[=\[}}]", body.group(1)), f"zsh does not know --{option} of {name}")


CASES = [  # a line as it is typed, what must be offered, and what must not
    ("tpusight rep", {"report"}, {"reduce"}),
    ("tpusight report --form", {"--format="}, {"--fail-if="}),
    ("tpusight report --format ", {"text", "json", "html", "csv"}, {"--format="}),
    ("tpusight report -f js", {"json"}, {"html"}),
    ("tpusight compare --fail", {"--fail-if="}, {"--format="}),
    ("tpusight report --view ro", {"roofline"}, {"ops"}),
    ("tpusight report --threshold idle_h", {"idle_high="}, {"json"}),
    ("tpusight-annotate --stri", {"--strip"}, {"--format="}),
    ("tpusight-annotate --perfetto ", {"json", "pftrace", "both", "none"}, set()),
]
BY_BASH = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_tpusight "$1" "${COMP_WORDS[COMP_CWORD]}"; printf '%s\n' "${COMPREPLY[@]}"
"""
EQUAL = [(["tpusight", "report", "--format", "=", "js"], "json"), (["tpusight", "report", "--format", "="], "html")]


def offered_by_bash(script, words):
    done = subprocess.run(["bash", "--norc", "-c", BY_BASH, "bash", script, *words], capture_output=True, text=True, check=False)
    must(done.stderr == "", f"bash: {words}: {done.stderr}")
    return set(done.stdout.split())


def offered_by_fish(script, line):
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(["fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"', script, line],
                              capture_output=True, text=True, check=False, env={**os.environ, "HOME": home})
    must(done.stderr == "", f"fish: {line}: {done.stderr}")
    return {row.split("\t")[0] for row in done.stdout.splitlines()}


def judge(shell, line, offered, wanted, unwanted):
    must(wanted <= offered, f"{shell}: {line!r} is not completed to {sorted(wanted - offered)}; it offers {sorted(offered)[:20]}")
    must(not unwanted & offered, f"{shell}: {line!r} is completed to {sorted(unwanted & offered)}")


class Terminal:
    """A shell that believes that somebody types."""

    def __init__(self, command, folder):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, {"PATH": os.environ["PATH"], "HOME": folder, "TERM": "dumb", "LC_ALL": "C.UTF-8"})

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, pattern):
        """What was shown, up to the pattern; None: it did not come."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = re.search(pattern, self.text)
            if found:
                said, self.text = self.text[:found.end()], self.text[found.end():]
                return said
            if select.select([self.fd], [], [], 1)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
        return None

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


TYPED = [("tpusight repo\t", "tpusight report "), ("--form\t", "--format="), ("js\t", "json")]


def typed_into(shell, command, load, script):
    """A command is typed with tabs, and what stands in the line at the end is asked for by running it: echo takes its place."""
    with tempfile.TemporaryDirectory() as folder:
        terminal = Terminal(command, folder)
        terminal.type(load.replace("SCRIPT", script) + "; tpusight() { echo \"GOT:$*:\"; }; echo lo''aded\r")
        must(terminal.wait_for("loaded\r") is not None, f"{shell} does not load {script}: {terminal.text}")
        for keys, shown in TYPED:
            terminal.type(keys)
            said = terminal.wait_for(re.escape(shown.split()[-1]))
            must(said is not None, f"{shell}: {keys!r} does not lead to {shown!r}: {terminal.text!r}")
        terminal.type("\r")
        said = terminal.wait_for("GOT:[^:]*:")
        must(said and said.endswith("GOT:report --format=json:"), f"{shell}: the line that was typed became {said!r} {terminal.text!r}")
        terminal.close()


def of_bash():
    script = os.path.join(MANUAL, SHELLS["bash"][0])
    for line, wanted, unwanted in CASES:
        judge("bash", line, offered_by_bash(script, line.split(" ")), wanted, unwanted)
    for words, wanted in EQUAL:
        judge("bash", " ".join(words), offered_by_bash(script, words), {wanted}, set())
    typed_into("bash", ["bash", "--norc", "--noprofile", "-i"], "source 'SCRIPT'", script)


def of_zsh():
    load = "autoload -Uz compinit; compinit -u -D; source 'SCRIPT'"
    typed_into("zsh", ["zsh", "-f", "-i"], load, os.path.join(MANUAL, SHELLS["zsh"][0]))


def of_fish():
    script = os.path.join(MANUAL, SHELLS["fish"][0])
    for line, wanted, unwanted in CASES:
        offered = {word.split("=")[0] for word in offered_by_fish(script, line)}  # fish writes no = behind an option
        judge("fish", line, offered, {word.split("=")[0] for word in wanted}, {word.split("=")[0] for word in unwanted})


def main():
    made = pages()
    of_build(made)
    of_groff(made)
    of_options(made)
    for shell, judge_of in (("bash", of_bash), ("zsh", of_zsh), ("fish", of_fish)):
        if shutil.which(shell):
            judge_of()
        else:
            print(f"{shell} is missing: its completion was not tried")
    for line in wrong:
        print(line)
    print(f"{len(made)} pages and scripts, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
