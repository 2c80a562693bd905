#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Open in Perfetto from TensorBoard's tab: perfetto_test.py by another door. It needs a Python with TensorBoard, $TS_VIEWERS_PYTHON."""
import os
import subprocess
import sys
import tempfile

import doors
import perfetto_test
import plugin_test
from perfetto_test import must

API = "data/plugin/tpusight/"


def main():
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder, perfetto_test.perfetto() as (ui, asked):
        python = plugin_test.installed(folder)
        logs = perfetto_test.logdir(os.path.join(folder, "logs"))
        files = {"sample": perfetto_test.find(os.path.join(logs, "sample"), "perfetto_trace.json.gz"),
                 "torch": perfetto_test.find(logs, "rank0.1700000000.pt.trace.tpusight.json.gz")}
        with plugin_test.tensorboard(python, logs, folder, "--tpusight_perfetto_ui", ui) as url:
            known = perfetto_test.reports(url, API)
            jobs = [perfetto_test.opening(known, name) for name in files]
            jobs.append(perfetto_test.job_of(known, "bare", ["words", ""]))
            shots = os.environ.get("TS_SHOTS")
            more = {"url": url + "#tpusight", "ours": ["/tpusight", "name=tpusight"], "shots": shots and os.path.join(shots, "plugin")}
            told = perfetto_test.drive([{**job, **more} for job in jobs], folder)
            perfetto_test.check_opened(told, known, files, ui)
            for answer in told.get("bare", []):
                must(answer["buttons"] == 0 and "tpusight-annotate" in answer["words"], f"a run without a trace: {answer}")
            for wanted in (f"run={known['sample'][0]}&file=../../secret", f"run=nothing&file={os.path.basename(files['sample'])}", ""):
                status = plugin_test.answer(f"{url}{API}trace?{wanted}")[0]
                must(status == 404, f"trace?{wanted} gives {status}")
        perfetto_test.check_asked(asked)
        refused = subprocess.run([python, "-m", "tensorboard.main", "--logdir", logs, "--tpusight_perfetto_ui", "javascript:1"],
                                 capture_output=True, text=True, check=False, timeout=doors.PATIENCE_S)
        must(refused.returncode != 0 and "javascript:1" in refused.stderr, f"javascript: is taken for a page: {refused.stderr[-200:]}")
    return doors.ended(perfetto_test.wrong)


if __name__ == "__main__":
    sys.exit(main())
