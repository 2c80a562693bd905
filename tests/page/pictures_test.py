#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every view as people see it, in real Chromium: pictures_test.py [NAME...]

The sample is looked at in three widths and both themes, and on a wide screen; a pod, 64 hosts, a GPU's trace and, where the
corpus is there, the v6e profile, that of eight GPUs and a PyTorch trace in fewer. No text is cut or lies on another one, nothing
is wider than the window, no chart is blank, no text is too pale, no two boxes of help are open at once, a table shows its source,
and what stands beside rows and over tables tells them apart (sights.js). A long view has a list of its parts that leads to each,
and a table can be folded, which a link keeps. The README shows a picture of each view (make pictures), in words too, and all of
them together have at most 1.5 MB. $TPUSIGHT names the program, $TS_SHOTS a folder for the pictures. Exit 77: a tool is missing.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import doors
import views_test

SIZES = {390: 844, 1280: 900, 1920: 1080, 2560: 1300}
ALL = [(width, theme) for width in (390, 1280, 1920) for theme in ("light", "dark")]
FEW = [(1280, "light"), (390, "dark")]
PARTS = {"sample": {"view": "time", "last": "Rematerialization"}}
THOROUGH = {("sample", 1280, "light"), ("sample", 1280, "dark"), ("v6e", 1280, "light"), ("pod", 1280, "light"), ("trace", 1280, "light")}


def pages(folder):
    """{name: (page, states)}"""
    found = doors.profiles()
    two = doors.html(views_test.planted("two_hosts", folder), os.path.join(folder, "two.html"))
    made = {"sample": (doors.html(doors.SAMPLE, os.path.join(folder, "sample.html")), ALL),
            "wide": (doors.html(doors.SAMPLE, os.path.join(folder, "wide.html")), [(2560, "light")]),
            "trace": (doors.html(doors.TRACE, os.path.join(folder, "trace.html")), FEW),
            "two": (two, [(1280, "light")]),
            "pod": (views_test.with_report(two, os.path.join(folder, "pod.html"), views_test.pod), [*FEW, (1920, "light")])}
    many = os.path.join(folder, "many")
    fixture = os.path.join(doors.HERE, "..", "fixtures", "pod.py")
    subprocess.run([sys.executable, fixture, many, "64"], check=True, stdout=subprocess.DEVNULL)
    made["hosts"] = (doors.html(os.path.join(many, "pod"), os.path.join(folder, "hosts.html")), [(1280, "dark"), (390, "light")])
    for name in ("v6e", "mi300x", "mi300"):
        if name in found:
            made[name] = (doors.html(found[name], os.path.join(folder, f"{name}.html")), FEW)
    return made


def jobs(folder, names):
    for name, (path, states) in pages(folder).items():
        if names and name not in names:
            continue
        ops = views_test.page_of(path)[1].get("ops") or []
        op = max(ops, key=lambda o: o.get("self_time_ps") or 0, default=None)
        yield {"name": name, "url": f"file://{path}", "parts": PARTS.get(name), "op": op and f"{op['module']}/{op['name']}",
               "states": [(w, SIZES[w], theme, "all" if (name, w, theme) in THOROUGH else "") for w, theme in states]}


TOP = os.path.join(doors.HERE, "..", "..")
MOST_BYTES = 1_500_000
PAGES = {"runs", "compare", "trend", "op"}  # beside the views that have a tab


def shown():
    """What is wrong with the pictures of the documents."""
    folder = os.path.join(TOP, "docs", "pictures")
    there = {name.removesuffix(".png") for name in os.listdir(folder)} if os.path.isdir(folder) else set()
    with open(os.path.join(TOP, "plugin", "page", "src", "views", "index.js"), encoding="utf-8") as file:
        views = set(re.findall(r'^\t\{ name: "(\w+)", place', file.read(), re.MULTILINE)) | PAGES
    said = {}
    for name in ("README.md", "docs/use.md"):
        with open(os.path.join(TOP, name), encoding="utf-8") as file:
            said.update(re.findall(r"!\[([^\]]+)\]\((?:docs/)?pictures/(\w+)\.png\)", file.read()))
    size = sum(os.path.getsize(os.path.join(folder, f"{name}.png")) for name in there)
    wrong = [f"no picture of {view}: make pictures" for view in sorted(views - there)]
    wrong += [f"a picture of {name}, which is no view" for name in sorted(there - views)]
    wrong += [f"{name} is not in README.md or docs/use.md" for name in sorted(there - set(said.values()))]
    wrong += [f"{name} of a document is not there" for name in sorted(set(said.values()) - there)]
    return wrong + ([f"the pictures have {size:,} bytes and not {MOST_BYTES:,} at most"] if size > MOST_BYTES else [])


def main():
    wrong = shown()
    for line in wrong:
        print(line, file=sys.stderr)
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "jobs.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(list(jobs(folder, sys.argv[1:])), file)
        looked = subprocess.call(["node", os.path.join(doors.HERE, "pictures.mjs"), path, *filter(None, [os.environ.get("TS_SHOTS")])])
    return looked or int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
