#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The list of what a release is made of is well-formed, whole, and the same each time: sbom_test.py

It is held against CycloneDX's own schema where a Python with cyclonedx-python-lib is there ($TS_VIEWERS_PYTHON, else this one); a
list with a fault must be refused by it. What bin/tpusight is linked with, and what the page's lock file names, must be in it.
Run in the build folder.
"""
import json
import os
import re
import subprocess
import sys

import hardening_test
import sbom

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import ended, must, skip

TOP = os.path.abspath(os.environ.get("srcdir") or os.path.dirname(os.path.dirname(sbom.HERE)))
SYSTEM = {"c", "m", "pthread", "dl", "rt"}  # the C library's own
JUDGE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as f:
        found = JsonStrictValidator(SchemaVersion.V1_5).validate_str(f.read())
    print("good" if found is None else str(found).splitlines()[0])
"""


def made(**environment):
    done = subprocess.run([sys.executable, os.path.join(sbom.HERE, "sbom.py"), TOP], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        print(done.stderr)
        sys.exit(1)
    return done.stdout


def linked(program):
    """-lNAME of each library that the program itself asks for."""
    elf = hardening_test.Elf(program)
    begin = elf.at(elf.dynamic[hardening_test.DT_STRTAB])
    names = set()
    for _, _, offset, _, _, n, _, _ in elf.of_type(hardening_test.PT_DYNAMIC):
        for at in range(offset, offset + n - 15, 16):
            tag, value = (int.from_bytes(elf.bytes[at + i:at + i + 8], "little") for i in (0, 8))
            if tag == 1:
                names.add(elf.bytes[begin + value:elf.bytes.index(0, begin + value)].decode())
    return {re.match(r"lib([\w+-]+)\.so", name).group(1) for name in names if name.startswith("lib")}


def whole(bill):
    parts = {part["bom-ref"]: part for part in bill["components"]}
    libraries = [part for part in parts.values() if ":" not in part["bom-ref"]]
    flags = sbom.output("pkg-config", "--libs-only-l", *(part["name"] for part in libraries))
    known = {flag[2:] for flag in flags.split()} | SYSTEM
    must(linked("bin/tpusight") <= known, f"bin/tpusight is linked with {linked('bin/tpusight') - known}, which is not listed")
    with open(os.path.join(TOP, "plugin", "page", "package.json"), encoding="utf-8") as f:
        page = json.load(f)
    for name, version in page["dependencies"].items():
        part = parts.get(f"npm:{name}", {})
        must(part.get("version") == version and part.get("scope") == "required", f"{name} {version} of the page is not listed")
    for part in parts.values():
        must(part["licenses"] and part["purl"], f"{part['name']} has no licence or no address")
    with open(os.path.join(TOP, "docs", "dependencies.md"), encoding="utf-8") as f:
        docs = f.read()
    for part in parts.values():
        must(f"| {part['name']} |" in docs, f"docs/dependencies.md has no row | {part['name']} |")


def judged(text):
    """By the schema: the list is good, and lists with a fault are not. None: there is no judge."""
    python = os.environ.get("TS_VIEWERS_PYTHON") or sys.executable
    faulty = [text.replace('"CycloneDX"', '"Cyclone"'), text.replace('"library"', '"book"', 1), text.replace('"scope"', '"scoop"', 1)]
    paths = []
    for i, content in enumerate([text, *faulty]):
        paths.append(f"sbom_test.{i}.json")
        with open(paths[-1], "w", encoding="utf-8") as f:
            f.write(content)
    done = subprocess.run([python, "-c", JUDGE, *paths], capture_output=True, text=True, check=False)
    for path in paths:
        os.unlink(path)
    if done.returncode != 0:
        return None
    said = done.stdout.splitlines()
    must(said[0] == "good", f"the schema refuses it: {said[0]}")
    must("good" not in said[1:], f"the schema takes a list with a fault: {said[1:]}")
    return said


def main():
    try:
        subprocess.run(["pkg-config", "--version"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        skip("pkg-config is missing")
    text = made(SOURCE_DATE_EPOCH="1")
    must(text == made(SOURCE_DATE_EPOCH="1"), "two lists of one release differ")
    bill = json.loads(text)
    must(bill["metadata"]["timestamp"] == "1970-01-01T00:00:01Z", f"its time is {bill['metadata']['timestamp']}")
    whole(bill)
    if judged(text) is None:
        print("not held against the schema: no Python with cyclonedx-python-lib (pip install -r tests/requirements.txt)")
    print(f"{len(bill['components'])} parts")
    return ended()


if __name__ == "__main__":
    sys.exit(main())
