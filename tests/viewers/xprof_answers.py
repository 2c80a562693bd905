#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks the real XProf (PyPI) about a session: xprof_answers.py SESSION_DIR TOOL... [-o OUTDIR]

Writes OUTDIR/TOOL.json for each tool (without -o only sizes and digests are printed). The session is copied to a scratch
folder first, as XProf leaves files behind. Exit 77 when xprof is not installed.

As a module: answers(session, tools) -> {tool: text}; canonical(text) -> text that is equal for equal answers: XProf orders
some lists as its threads come in, and numbers flows (bind_id) anew each time. The digests printed are of the canonical form.
"""
import argparse
import glob
import hashlib
import json
import os
import shutil
import sys
import tempfile

SKIP = 77
TOOLS = ["trace_viewer@", "hlo_stats", "op_profile", "overview_page", "framework_op_stats", "roofline_model",
         "input_pipeline_analyzer", "smart_suggestion"]


def answers(session, tools):
    """As a server would answer for all hosts of the session together; the trace one host after another."""
    try:
        from xprof.convert import raw_to_tool_data
    except ImportError:
        print("xprof is not installed (pip install -r tests/requirements.txt): skipped", file=sys.stderr)
        sys.exit(SKIP)
    out = {}
    with tempfile.TemporaryDirectory() as scratch:
        # Same name as the session: XProf puts it into some answers.
        copy = shutil.copytree(session, os.path.join(scratch, os.path.basename(os.path.normpath(session))))
        files = sorted(glob.glob(os.path.join(copy, "*.xplane.pb")) + glob.glob(os.path.join(copy, "*.xplane.riegeli")))
        if not files:
            raise SystemExit(f"{session}: no *.xplane.pb, no *.xplane.riegeli")
        for tool in tools:
            # The whole trace, not what fits the default view.
            options = {"tqx": "out:json;"}
            if tool.startswith("trace_viewer"):
                options["trace_viewer_options"] = {"resolution": "0"}
            parts = [[f] for f in files] if tool.startswith("trace_viewer") else [files]
            got = []
            for part in parts:
                data, _ = raw_to_tool_data.xspace_to_tool_data(part, tool, dict(options))
                got.append(data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data))
            # Where the copy lay is not part of the answer.
            out[tool] = "\n".join(got).replace(copy, "SESSION")
    return out


def sorted_deep(value):
    if isinstance(value, dict):
        return {k: v if k != "bind_id" else "some" for k, v in ((k, sorted_deep(v)) for k, v in value.items())}
    if isinstance(value, list):
        return sorted((sorted_deep(v) for v in value), key=lambda v: json.dumps(v, sort_keys=True))
    return value


def canonical(text):
    try:
        return json.dumps([sorted_deep(json.loads(part)) for part in text.splitlines() or [text]], sort_keys=True)
    except ValueError:
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("session")
    parser.add_argument("tools", nargs="*", default=TOOLS)
    parser.add_argument("-o", metavar="OUTDIR")
    args = parser.parse_args()
    if args.o:
        os.makedirs(args.o, exist_ok=True)
    for tool, text in answers(args.session, args.tools or TOOLS).items():
        print(tool, len(text), hashlib.sha256(canonical(text).encode()).hexdigest()[:16])
        if args.o:
            with open(os.path.join(args.o, tool + ".json"), "w") as f:
                f.write(text)


if __name__ == "__main__":
    main()
