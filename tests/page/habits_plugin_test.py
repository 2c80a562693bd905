#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The address is all that one sees, in TensorBoard too: the habit "share" of habits_test.py by another door.

It needs a Python with TensorBoard, $TS_VIEWERS_PYTHON. Exit 77: a tool is missing.
"""
import os
import sys
import tempfile

import doors
import habits_test
import plugin_test

RUN = "first/2026_01_01_00_00_00"


def main():
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder:
        python = plugin_test.installed(folder)
        logdir = doors.logdir(os.path.join(folder, "logs"), {"first": doors.SAMPLE, "second": doors.SAMPLE})
        with plugin_test.tensorboard(python, logdir, folder) as url:
            way = {"name": "TensorBoard", "url": url + "#tpusight", "inside": [url], "ours": ["/tpusight", "name=tpusight"], "run": RUN,
                   "title": "first"}
            return habits_test.run({"file": url, "flame": url, "named": url, "doors": [way], "habits": ["share"], "want": {},
                                    "shots": os.environ.get("TS_SHOTS")}, folder)


if __name__ == "__main__":
    sys.exit(main())
