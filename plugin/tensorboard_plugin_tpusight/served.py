# SPDX-License-Identifier: MIT
"""What is asked of events, or of many runs: `tpusight serve LOGDIR` answers it, a child of this process (remote.Remote).

The tab has names of its own for runs; the program's are found by their places, and no place on the machine goes out.
"""
import gzip
import http.client
import json
import logging
import os

from tensorboard_plugin_tpusight import remote, reports

ROUTES = ("/slices", "/compare", "/trend")
OF_A_PART = ("from_ps", "to_ps", "device", "host")
FIGURES = ("is_known", "has_events", "when_unix_ms", "chip", "chips", "program", "is_predicted", "steps", "step_median_ps", "step_p90_ps",
           "wall_ps", "health_score", "verdict", "buckets_pct", "spark", "problem")
NOT_HERE = {"is_known": True, **dict.fromkeys(FIGURES[1:])}

_log = logging.getLogger("tpusight")


class UnknownRunError(Exception):
    """No run has this name."""


def is_part(fields):
    return any(fields.get(name, [""])[0] for name in OF_A_PART)


class Served:
    def __init__(self, logdir):
        self._logdir = logdir
        self._server = remote.Remote(logdir)

    def close(self):
        self._server.close()

    def _listed(self):
        """{place: run as the program lists it}, and the whole answer: is_known, problems"""
        status, packed = self._server.get("/runs", {})
        if not status.startswith("200"):
            raise reports.ReportError("tpusight serve does not list its runs")
        answer = json.loads(gzip.decompress(packed))
        return {os.path.normpath(run["path"]): run for run in answer["runs"]}, answer

    def with_figures(self, described):
        """Puts what is known of each into a list of (session, description). Gives whether that is all, and what is wrong with sessions
        that are not in the list: those without a profile."""
        try:
            listed, answer = self._listed()
        except (reports.ReportError, OSError, ValueError, http.client.HTTPException) as e:
            _log.warning("%s: %s", self._logdir, e)
            listed, answer = {}, {"is_known": True, "problems": []}  # it would not come later
        for session, description in described:
            run = listed.get(os.path.normpath(session.path)) if len(session.asked) == 2 else None
            description.update({name: run[name] for name in FIGURES} if run else NOT_HERE)
        text = reports.without_paths(json.dumps({name: answer[name] for name in ("is_known", "problems")}), self._logdir)
        return json.loads(text)

    @staticmethod
    def _named(fields, sessions, listed):
        """The fields with the program's names of runs, and the tab's by those."""
        ours = {}
        for session in sessions:
            run = listed.get(os.path.normpath(session.path))
            if run and len(session.asked) == 2:  # the ranks of one job are runs of their own there
                ours[session.id] = run["id"]
        asked = dict(fields)
        try:
            if "run" in fields:
                asked["run"] = [ours[fields["run"][0]]]
            if "runs" in fields:
                asked["runs"] = [",".join(ours[name] for name in fields["runs"][0].split(","))]
        except KeyError as e:
            raise UnknownRunError from e
        return asked, {theirs: name for name, theirs in ours.items()}

    def get(self, route, fields, sessions):
        """(status as WSGI has it, body packed by gzip)"""
        sessions = list(sessions)
        listed, _ = self._listed()
        asked, names = self._named(fields, sessions, listed)
        status, packed = self._server.get(route, asked)
        if route not in ("/trend", "/compare") and status.startswith("200"):
            return status, packed
        text = reports.without_paths(gzip.decompress(packed).decode(), self._logdir)
        return status, gzip.compress((_renamed(text, names, sessions) if route == "/trend" else text).encode(), 6)


def _renamed(text, names, sessions):
    titles = {session.id: session.title for session in sessions}
    answer = json.loads(text)
    if "runs" not in answer:
        return text
    answer["runs"] = [run for run in answer["runs"] if run["id"] in names]
    for run in answer["runs"]:
        run.pop("path")
        run["id"] = names[run["id"]]
        run["title"] = titles[run["id"]]
    return json.dumps(answer)
