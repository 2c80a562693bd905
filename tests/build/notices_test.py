#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What others made is named with its licence where it is linked or bundled: notices_test.py

notices/list is held against configure.ac, against what bin/tpusight asks the loader for, against the lock file of the page and
against docs/dependencies.md; what the programs print is held against it, and so is the foot of a page that is
one file. A library that the list lacks must be complained of. Run in the build folder.
"""
import html
import json
import os
import subprocess
import sys
import tempfile

import sbom
import sbom_test

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import skip

TOP = sbom_test.TOP
HOW = {"linked", "static", "page"}


def read(*path):
    return sbom.text_of(TOP, *path)


def of_list(rows, texts):
    for name, row in rows.items():
        if len(row) != 5 or not all(row) or row[1] not in HOW:
            yield f"notices/list: the row of {name} is not: name | linked, static or page | licence | what for | address"
        if not texts.get(name, "").strip():
            yield f"notices/{name}.txt is missing or empty: the licence of {name} in full"
    for name in texts.keys() - rows.keys():
        yield f"notices/{name}.txt has no row in notices/list"


def of_libraries(rows, configure):
    asked = {name for name, _ in sbom.libraries(configure)}
    listed = {name for name, row in rows.items() if row[1] == "linked"}
    for name in asked - listed:
        yield f"notices/list: a row for {name} is missing, which configure.ac asks for"
    for name in listed - asked:
        yield f"notices/list: {name} is not asked for by configure.ac"


def of_page(rows, lock):
    packages = json.loads(lock)["packages"]
    bundled = {path.split("node_modules/")[-1]: package for path, package in packages.items()
               if path and not package.get("dev") and not package.get("optional")}
    listed = {name for name, row in rows.items() if row[1] == "page"}
    for name in bundled.keys() - listed:
        yield f"notices/list: a row for {name} is missing, which is bundled into the page"
    for name in listed - bundled.keys():
        yield f"notices/list: {name} is not bundled into the page"
    for name in bundled.keys() & listed:
        if bundled[name]["license"] != rows[name][2]:
            yield f"notices/list: {name} is under {bundled[name]['license']} as its package says, and not {rows[name][2]}"


def of_documents(rows, docs):
    for name, row in rows.items():
        if row[1] != "static" and not any(line.startswith(f"| {name} |") and f"| {row[2]} |" in line for line in docs.splitlines()):
            yield f"docs/dependencies.md: no row of {name} says {row[2]}"


def of_static(rows, libraries):
    """Programs that are one file have their libraries inside."""
    for line in libraries.splitlines():
        name = line.split("|")[-1]
        if not line.startswith("#") and rows.get(name, ["", ""])[1] not in ("linked", "static"):
            yield f"notices/list: a row for {name} is missing, which packaging/static.sh links"


def of_program(rows, needed):
    """NEEDED: what the loader is asked for, without lib and .so; a program that is one file asks for nothing."""
    names = [name for name, row in rows.items() if row[1] == "linked"]
    flags = sbom.output("pkg-config", "--libs-only-l", *names)
    known = {flag[2:] for flag in flags.split()} | sbom_test.SYSTEM
    if flags:
        for name in needed - known:
            yield f"notices/list: bin/tpusight is linked with {name}, which no row names"


def of_prints(rows, texts):
    wanted = subprocess.run(["sh", os.path.join(TOP, "notices", "text.sh")], capture_output=True, text=True, check=True).stdout
    for command in (["bin/tpusight"], ["bin/tpusight", "report"], ["bin/tpusight-annotate"]):
        done = subprocess.run([*command, "--licenses"], capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stdout != wanted:
            yield f"{' '.join(command)} --licenses does not print what notices/text.sh does"
    for name in rows:
        if texts.get(name, "missing") not in wanted:
            yield f"notices/text.sh leaves out the licence of {name}"
    if read("LICENSE") not in wanted:
        yield "notices/text.sh leaves out LICENSE"


def of_foot(rows, texts, foot):
    """The page of a report goes where no program of ours is: its foot has the licences of what is bundled into it."""
    for name, row in rows.items():
        if row[1] == "page" and texts.get(name, "missing") not in foot:
            yield f"the foot of a page that is one file leaves out the licence of {name}"


def foot_of_page():
    """None: this program has no page."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.html")
        sample = os.path.join(TOP, "tests", "data", "sample")
        done = subprocess.run(["bin/tpusight", "report", "-q", "-o", path, sample], capture_output=True, text=True, check=False)
        if "without its page" in done.stderr:
            return None
        text = sbom.text_of(folder, "report.html")
        return html.unescape(text[text.index("<footer>"):text.index("</footer>")])


def texts_there():
    folder = os.path.join(TOP, "notices")
    return {name[:-4]: read("notices", name) for name in os.listdir(folder) if name.endswith(".txt")}


def planted(rows, lock):
    """An omission that nothing complains of."""
    configure = "TS_REQUIRE_LIB([CRUMBS], [libcrumbs], [libcrumbs-dev], [crumbs])\n"
    page = json.loads(lock)
    page["packages"]["node_modules/crumbs"] = {"version": "1", "license": "MIT"}
    plants = [
        (of_libraries(rows, configure), "libcrumbs is missing"), (of_page(rows, json.dumps(page)), "crumbs is missing"),
        (of_list({**rows, "crumbs": ["crumbs", "linked", "MIT", "x", "y"]}, {}), "crumbs.txt is missing"),
        (of_list(rows, {"crumbs": "x"}), "crumbs.txt has no row"), (of_documents(rows, ""), "no row of zlib"),
        (of_program(rows, {"crumbs"}), "linked with crumbs"), (of_static(rows, "x|x|x|crumbs"), "static.sh links"),
        (of_foot(rows, {"preact": "x", "uplot": "y"}, "x"), "licence of uplot"),
    ]
    for complaints, words in plants:
        if not any(words in complaint for complaint in complaints):
            yield f"an omission was planted and not named: {words}"


def main():
    if not sbom.output("pkg-config", "--version"):
        skip("pkg-config is missing")
    rows, texts, lock = sbom.notices(TOP), texts_there(), read("plugin", "page", "package-lock.json")
    wrong = [*of_list(rows, texts), *of_libraries(rows, read("configure.ac")), *of_page(rows, lock),
             *of_static(rows, read("packaging", "libraries.txt")), *of_documents(rows, read("docs", "dependencies.md")),
             *of_program(rows, sbom_test.linked("bin/tpusight")),
             *of_prints(rows, texts), *planted(rows, lock)]
    foot = foot_of_page()
    if foot is None:
        print("this program has no page: its foot is not looked at")
    else:
        wrong += of_foot(rows, texts, foot)
    for line in wrong:
        print(line)
    print(f"{len(rows)} parts, {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
