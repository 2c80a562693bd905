#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/limits.md says of each limit of src/base/limits.h what its value is, and names no other; each limit is used, and
each has a reason in the header."""
import os
import re
import sys

TOP = os.environ.get("srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def text(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


def number(words):
    """Of "64 MiB" or "4,194,304"."""
    digits, unit = re.fullmatch(r"([\d,]+) ?(\w*)", words).groups()
    return int(digits.replace(",", "")) * UNITS[unit]


def value(expression):
    """Of a constant of C: whole numbers, shifts and products alone."""
    plain = re.sub(r"U?INT64_C\((\d+)\)|\b(\d+)u\b", r"\1\2", expression)
    if not re.fullmatch(r"[\d()<* ]+", plain):
        raise ValueError(f"src/base/limits.h: {expression} is not a plain constant")
    return eval(plain)


def in_header():
    """{name: (value, has a comment above it or above its neighbour)}"""
    found, reason = {}, False
    for line in text("src/base/limits.h").splitlines():
        row = re.match(r"#define (TS_LIMIT_\w+)\s+(.*)", line)
        if row:
            found[row.group(1)] = value(row.group(2)), reason
        else:
            reason = line.endswith("*/") and not line.startswith("/* ---")
    return found


def in_page():
    rows = re.findall(r"^\| `(TS_LIMIT_\w+)` \| ([^|]+) \|", text("docs/limits.md"), re.M)
    return {name: number(words.strip()) for name, words in rows}


def sources():
    for folder, _, names in os.walk(os.path.join(TOP, "src")):
        for name in names:
            if name.endswith((".c", ".h")) and name != "limits.h":
                yield text(os.path.relpath(os.path.join(folder, name), TOP))


def complaints():
    header, page, used = in_header(), in_page(), set(re.findall(r"\bTS_LIMIT_\w+", "".join(sources())))
    if not header:
        yield "src/base/limits.h: no limit was found"
    for name, (said, has_reason) in header.items():
        if page.get(name) != said:
            yield f"docs/limits.md: {name} is {page.get(name)} there and {said} in src/base/limits.h"
        if not has_reason:
            yield f"src/base/limits.h: {name} has no reason above it"
        if name not in used:
            yield f"src/base/limits.h: {name} is not used"
    for name in (page.keys() | used) - header.keys():
        yield f"{name} is named, and src/base/limits.h does not have it"


def main():
    found = list(complaints())
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
