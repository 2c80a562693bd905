#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts the tables of the schema into the pages that have a place for them: pages.py PAGE... < TABLES

TABLES is what `tpusight schema --format tables` prints. A place is all between "<!-- schema RESULT.TABLE -->", or several such lines,
and "<!-- end -->"; of several forms of a table the page has each.
"""
import re
import sys

PLACE = re.compile(r"((?:<!-- schema [\w.]+ -->\n)+).*?<!-- end -->\n", re.DOTALL)
NAME = re.compile(r"<!-- schema ([\w.]+) -->\n")


def tables_of(text):
    tables = {}
    parts = NAME.split(text)[1:]
    for name, table in zip(parts[::2], parts[1::2]):
        tables[name] = tables.get(name, "") + table
    return tables


def filled(page, tables):
    """A page with each table as TABLES has it."""
    return PLACE.sub(lambda place: place[1] + "".join(tables[name] for name in NAME.findall(place[1])) + "\n<!-- end -->\n", page)


def main():
    tables = tables_of(sys.stdin.read())
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            old = file.read()
        new = filled(old, tables)
        if new != old:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)


if __name__ == "__main__":
    main()
