#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every source file says its licence in its first line, or in the second where #! is the first: spdx.py [--add] [TOP]

Without --add the files that lack the line are named, and the exit status is 1. --add writes it, also in place of a line that
names another licence. Files are those of the checkout,
new ones as well. What users are shown as it stands has no such line: advice, questions for Perfetto, documents, data, what a
golden case prints, and what the program makes.
"""
import os
import re
import subprocess
import sys

KEY = "SPDX-License-Identifier: "
LINE = KEY + "MIT"
FORMS = {  # how a comment is written, by the end of a file's name
    "/* {} */": (".c", ".h", ".def", ".css"),
    "// {}": (".js", ".mjs", ".jsx", ".ts", ".proto"),
    "# {}": (".py", ".pyi", ".sh", ".mk", ".am", ".toml", ".yaml", "bootstrap", ".ci/run", "Containerfile", "debian/rules"),
    "dnl {}": (".ac", ".m4"),
}
SHOWN = (r"src/analysis/advice/.*\.py|tests/(cases|data)/.*|tests/fuzz/seeds/.*")


def form_of(path):
    """The line that the file must have; None: it needs none."""
    if re.fullmatch(SHOWN, path):
        return None
    for form, ends in FORMS.items():
        if path.endswith(ends):
            return form.format(LINE)
    return None


def place_of(lines):
    """Behind #!."""
    return 1 if lines and lines[0].startswith("#!") else 0


def lacks(path, text):
    form, lines = form_of(path), text.splitlines()
    at = place_of(lines)
    return form is not None and lines[at:at + 1] != [form]


def added(path, text):
    lines = text.splitlines(keepends=True)
    at = place_of(lines)
    others = 1 if lines[at:] and KEY in lines[at] else 0
    lines[at:at + others] = [form_of(path) + "\n"]
    return "".join(lines)


def sources(top):
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"], cwd=top,
                           capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in names if name and form_of(name) and os.path.isfile(os.path.join(top, name))]


def main(arguments):
    add = "--add" in arguments
    rest = [argument for argument in arguments if argument != "--add"]
    top = rest[0] if rest else os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    missing = []
    for name in sources(top):
        path = os.path.join(top, name)
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
        if not lacks(name, text):
            continue
        missing.append(name)
        if add:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(added(name, text))
    for name in missing:
        print(f"{name}: {'the line was added' if add else 'the line ' + form_of(name) + ' is missing (tests/house/spdx.py --add)'}")
    return 1 if missing and not add else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
