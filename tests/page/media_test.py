#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page on paper, on a phone, and in a TensorBoard that is dark, in real Chromium: media_test.py

On paper each view is white though the page was dark, findings are open, colours are printed, nothing passes the right edge, and
there is no button; behind that the page is what it was. On 390 pixels the heading has two lines, the tabs one, and nothing is
wider than the screen. In a frame of a page whose body has TensorBoard's class for dark mode the page is dark, follows it, and has
no switch of its own. Of a GPU no figure stands twice, in whole microseconds too. $TPUSIGHT names the program, $TS_SHOTS a folder
for screenshots. Exit 77: a tool is missing.
"""
import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import doors

STATIC = os.path.join(doors.HERE, "..", "..", "plugin", "tensorboard_plugin_tpusight", "static", "index.js")
DIST = os.path.join(os.path.dirname(os.path.dirname(doors.PROGRAM)), "plugin", "page", "dist")
OUTER = """<!DOCTYPE html><title>TensorBoard</title><body class="dark-mode"><iframe src="tab.html" width="1200" height="700"></iframe>"""
TAB = """<!DOCTYPE html><body><script type="module">import { render } from "./index.js"; render();</script>"""


def tensorboard(folder):
    """What TensorBoard does for a tab: a frame of the same origin, whose module makes the page."""
    for path in (STATIC, os.path.join(DIST, "page.js"), os.path.join(DIST, "page.css")):
        shutil.copy(path, folder)
    made = {"outer.html": OUTER, "tab.html": TAB, "runs": json.dumps({"runs": [{"id": "a", "title": "a", "name": "a"}]}),
            "traces": json.dumps({"ui": "", "traces": []}), "report": json.dumps(doors.report(doors.SAMPLE))}
    for name, text in made.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, without a word."""

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


def main():
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder:
        page, gpu = os.path.join(folder, "page.html"), os.path.join(folder, "gpu.html")
        doors.html(doors.SAMPLE, page)
        doors.html(doors.TRACE, gpu)
        tensorboard(folder)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        outer = f"http://127.0.0.1:{server.server_address[1]}/outer.html"
        status = subprocess.call(["node", os.path.join(doors.HERE, "media.mjs"), "file://" + page, outer, "file://" + gpu,
                                  os.environ.get("TS_SHOTS", "")])
        server.shutdown()
    return status


if __name__ == "__main__":
    sys.exit(main())
