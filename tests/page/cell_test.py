#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page in a notebook's cell, in real Chromium: cell_test.py

What Session.dashboard() puts into a cell, in pages built as notebooks build theirs: Jupyter (the output stands in the page), Colab (the
output is a frame with a sandbox) and VS Code (a page with a policy that lets inline scripts in and frames of https: only). In each
the page shows, its tabs work, and it cannot reach the notebook. Run in the build folder; $TPUSIGHT names the program. Exit 77: a tool
is missing.
"""
import functools
import http.server
import os
import subprocess
import sys
import tempfile
import threading

import doors

sys.path.insert(0, os.path.join(doors.HERE, "..", "..", "plugin"))
sys.dont_write_bytecode = True
os.environ["TPUSIGHT"] = doors.PROGRAM

import tpusight
from tpusight import _notebook

PAGE = "<!DOCTYPE html><meta charset=utf-8><title>{name}</title>{head}<body>{output}"
COLAB = ('<iframe src="colab_output.html" width="900" height="700" sandbox="allow-downloads allow-forms allow-pointer-lock allow-popups '
         'allow-same-origin allow-scripts allow-storage-access-by-user-activation"></iframe>')
VS_CODE = ("<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
           "style-src 'self' 'unsafe-inline'; img-src 'self' https: http: data:; font-src 'self' https:; connect-src https:; "
           "child-src https: data:;\">")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, without a word."""

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


def write(folder, **pages):
    for name, text in pages.items():
        with open(os.path.join(folder, name + ".html"), "w", encoding="utf-8") as file:
            file.write(text)


def main():
    doors.need_tools()
    session = tpusight.Session(doors.SAMPLE)
    output = _notebook.frame(session.page(), 600)
    with tempfile.TemporaryDirectory() as folder:
        write(folder, jupyter=PAGE.format(name="Jupyter", head="", output=output + session._repr_html_()),
              colab=PAGE.format(name="Colab", head="", output=COLAB), colab_output=PAGE.format(name="output", head="", output=output),
              vscode=PAGE.format(name="VS Code", head=VS_CODE, output=output))
        handler = functools.partial(Quiet, directory=folder)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            base = f"http://127.0.0.1:{server.server_address[1]}/"
            done = subprocess.run(["node", os.path.join(doors.HERE, "cell.mjs"),
                                   *(f"{name}={base}{name}.html" for name in ("jupyter", "colab", "vscode"))], check=False)
            server.shutdown()
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
