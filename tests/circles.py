#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Circles among the objects of libtpusight.a, as the linker sees them: files that need one another.

usage: circles.py [BUILD]	(the build folder; default: here)

Each circle is printed with the symbols that make it. The exit status is 1 when there is a circle
that ALLOWED does not have, or when ALLOWED has a line that is not needed any more.
"""
import collections
import os
import shutil
import subprocess
import sys

# A circle is named by its files. A line that ends in "*" allows every circle inside that folder.
ALLOWED = {
    "src/model/cost src/model/cost_fusion src/model/cost_rules":
        "a fusion costs what its computation costs: recursion",
}


def objects_of(build):
    """The objects below src/ that have a source: an old build folder has more."""
    top = os.environ.get("srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    names = (os.path.relpath(os.path.join(folder, name), build)[:-2]
             for folder, _, files in os.walk(os.path.join(build, "src"))
             for name in files if name.endswith(".o"))
    return sorted(name for name in names
                  if any(os.path.exists(os.path.join(root, name + ".c")) for root in (top, build)))


def symbols(build, objects):
    """Who defines each external symbol, and what each object needs."""
    defined, needed = {}, collections.defaultdict(set)
    text = subprocess.run(["nm", "-P", "-A", "-g", *(name + ".o" for name in objects)], cwd=build,
                          check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        path, symbol, kind = line.split()[:3]
        name = path.split(".o:")[0]
        if kind == "U":
            needed[name].add(symbol)
        else:
            defined[symbol] = name
    return defined, needed


def arrows(defined, needed):
    """object -> object that it needs -> the symbols."""
    graph = collections.defaultdict(lambda: collections.defaultdict(set))
    for name, wanted in needed.items():
        for symbol in wanted:
            if defined.get(symbol, name) != name:
                graph[name][defined[symbol]].add(symbol)
    return graph


def reachable(graph, start):
    """All that START needs, directly or not."""
    seen, left = set(), [start]
    while left:
        for other in graph.get(left.pop(), ()):
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen


def circles_of(graph):
    """Sets of objects that all need one another, the largest first."""
    reach = {name: reachable(graph, name) for name in graph}
    found, done = [], set()
    for name in sorted(graph):
        if name in done or name not in reach[name]:
            continue
        circle = {other for other in reach[name] if name in reach.get(other, ())}
        found.append(sorted(circle))
        done |= circle
    return sorted(found, key=lambda circle: (-len(circle), circle))


def rule_for(circle):
    """The line of ALLOWED that has this circle, or None."""
    exact = " ".join(circle)
    if exact in ALLOWED:
        return exact
    for rule in ALLOWED:
        if rule.endswith("*") and all(name.startswith(rule[:-1]) for name in circle):
            return rule
    return None


def show(graph, circle, rule):
    print(f"{len(circle)} files need one another" +
          (f" (allowed: {ALLOWED[rule]})" if rule else ""))
    for name in circle:
        for other in sorted(set(graph[name]) & set(circle)):
            print(f"  {name} needs {other}: {' '.join(sorted(graph[name][other]))}")


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "."
    if not shutil.which("nm"):
        print("nm is missing: skipped")
        return 77
    objects = objects_of(build)
    if not objects:
        print(f"{build}: no objects below src/: skipped")
        return 77
    graph = arrows(*symbols(build, objects))
    used, bad = set(), False
    for circle in circles_of(graph):
        rule = rule_for(circle)
        used.add(rule)
        bad |= rule is None
        show(graph, circle, rule)
    for rule in sorted(set(ALLOWED) - used):
        print(f"{rule}: there is no such circle any more (remove the line from ALLOWED)")
        bad = True
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
