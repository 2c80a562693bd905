# SPDX-License-Identifier: MIT
"""The plugin: a few files, the list of runs, and their reports. Plain WSGI; nothing is written anywhere."""
import gzip
import hashlib
import http.client
import json
import logging
import os
import threading
import time
import urllib.parse

from tensorboard.plugins import base_plugin

from tensorboard_plugin_tpusight import remote, reports, runs, served, traces

STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
FILES = {"/index.js": "text/javascript", "/page.js": "text/javascript", "/page.css": "text/css"}
FIRST_LOOK_S = 0.3  # TensorBoard's page asks once for its tabs: the first answer waits so long for the search
LOOK_AGAIN_S = 15  # between looks for a first profile, while there is none
MOST_FIELDS = 16  # of an address
NO_RUN = "no run has this name (reload the page)"
NO_TRACE = "this run has no trace of this name (reload the page)"
SAFE = [("Cache-Control", "no-cache"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin")]
EXTRA = {"405": [("Allow", "GET, HEAD")], "503": [("Retry-After", "1")]}

_log = logging.getLogger("tpusight")


class TpusightPlugin(base_plugin.TBPlugin):
    plugin_name = "tpusight"

    def __init__(self, context):
        is_url = remote.IS_URL.match(context.logdir)
        self._remote = remote.Remote(context.logdir) if is_url else None
        self._logdir = context.logdir if is_url else os.path.abspath(context.logdir)  # sessions go by whole paths too
        self._reports = reports.Reports(self._logdir)
        self._served = served.Served(self._logdir)
        self._ui = getattr(getattr(context, "flags", None), "tpusight_perfetto_ui", None) or traces.UI
        self._active = False
        self._patience_s = FIRST_LOOK_S
        self._looked_at = float("-inf")
        self._looking = threading.Lock()
        self._has_looked = threading.Event()
        self._start_to_look()

    def is_active(self):
        """TensorBoard asks often: the search runs aside, and stops at the first profile."""
        self._start_to_look()
        if not self._has_looked.wait(self._patience_s):
            self._patience_s = 0
        return self._active

    def _start_to_look(self):
        if not self._active and time.monotonic() - self._looked_at > LOOK_AGAIN_S and self._looking.acquire(blocking=False):
            threading.Thread(target=self._look, daemon=True, name="tpusight").start()

    def _look(self):
        try:
            self._active = self._remote.has_runs() if self._remote else any(True for _ in runs.find(self._logdir))
        except (reports.ReportError, OSError, http.client.HTTPException) as e:
            _log.warning("%s: %s", self._logdir, e)
        finally:
            self._looked_at = time.monotonic()
            self._looking.release()
            self._has_looked.set()

    def close(self):
        """Ends what was started; TensorBoard does not call it, and the child ends with this process."""
        self._served.close()
        if self._remote:
            self._remote.close()

    def frontend_metadata(self):
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="TPUsight")

    def get_plugin_apps(self):
        apps = {**dict.fromkeys(FILES, self._file), "/runs": self._runs, "/report": self._report,
                "/traces": self._traces, "/trace": self._trace, **{route: self._of_events(route) for route in served.ROUTES}}
        if self._remote:
            apps.update({route: self._hand_on(self._remote, route) for route in remote.ROUTES})
        return {route: _guarded(app) for route, app in apps.items()}

    @staticmethod
    def _hand_on(server, route):
        """The same answers, of the server that reads the bucket."""
        def app(environ, start_response):
            fields = _fields(environ)
            try:
                if route != "/trace":
                    return _send(environ, start_response, *server.get(route, fields))
                answer = server.ask(route, fields)
            except (reports.ReportError, OSError, http.client.HTTPException) as e:
                return _send(environ, start_response, "422 Unprocessable Entity", reports.message(_words(e)))
            if answer.status != 200:
                return _send(environ, start_response, "404 Not Found", reports.message(NO_TRACE))
            start_response("200 OK", [("Content-Type", "application/octet-stream"),
                                      ("Content-Length", answer.getheader("Content-Length")), *SAFE])
            if environ.get("REQUEST_METHOD") == "HEAD":
                answer.close()
                return [b""]
            return remote.pieces(answer)
        return app

    def _file(self, environ, start_response):
        name = "/" + environ["PATH_INFO"].rsplit("/", 1)[-1]
        try:
            with open(os.path.join(STATIC, name[1:]), "rb") as f:
                text = f.read()
        except OSError:
            return _send(environ, start_response, "404 Not Found",
                         reports.message(f"{name} is not in this installation (pip install the plugin again)"))
        return _send(environ, start_response, "200 OK", gzip.compress(text, 6), FILES[name])

    def _runs(self, environ, start_response):
        found = []
        for session in runs.find(self._logdir):
            try:
                found.append((session, session.describe()))
            except OSError:
                continue  # it was removed while we looked
        known = self._served.with_figures(found)
        listed = [description for _, description in found]
        listed.sort(key=lambda s: (s["session"], s["run"]), reverse=True)
        return _send(environ, start_response, "200 OK", gzip.compress(json.dumps({"runs": listed, **known}).encode(), 6))

    def _of_events(self, route):
        """What `tpusight serve` answers of the log directory."""
        def app(environ, start_response):
            try:
                status, packed = self._served.get(route, _fields(environ), runs.find(self._logdir))
            except served.UnknownRunError:
                return _send(environ, start_response, "404 Not Found", reports.message(NO_RUN))
            except (reports.ReportError, OSError, http.client.HTTPException) as e:
                return _send(environ, start_response, "422 Unprocessable Entity", reports.message(_words(e)))
            return _send(environ, start_response, status, packed)
        return app

    def _session(self, fields):
        return next((s for s in runs.find(self._logdir) if s.id == fields.get("run", [""])[0]), None)

    def _report(self, environ, start_response):
        fields = _fields(environ)
        if served.is_part(fields):
            return self._of_events("/report")(environ, start_response)
        session = self._session(fields)
        if not session:
            return _send(environ, start_response, "404 Not Found", reports.message(NO_RUN))
        try:
            return _send(environ, start_response, "200 OK", self._reports.get(session))
        except reports.BusyError as e:
            return _send(environ, start_response, "503 Service Unavailable", reports.message(str(e)))
        except (reports.ReportError, OSError) as e:
            return _send(environ, start_response, "422 Unprocessable Entity", reports.message(_words(e)))


    def _traces(self, environ, start_response):
        session = self._session(_fields(environ))
        if not session:
            return _send(environ, start_response, "404 Not Found", reports.message(NO_RUN))
        found = {"ui": self._ui, "traces": list(traces.find(self._logdir, session))}
        return _send(environ, start_response, "200 OK", gzip.compress(json.dumps(found).encode(), 6))

    def _trace(self, environ, start_response):
        fields = _fields(environ)
        session, name = self._session(fields), fields.get("file", [""])[0]
        found = next((t for t in traces.find(self._logdir, session) if t["file"] == name), None) if session else None
        if not found:
            return _send(environ, start_response, "404 Not Found", reports.message(NO_TRACE))
        start_response("200 OK", [("Content-Type", "application/octet-stream"), ("Content-Length", str(found["bytes"])), *SAFE])
        if environ.get("REQUEST_METHOD") == "HEAD":
            return [b""]
        return traces.pieces(os.path.join(self._logdir, found["path"]), found["bytes"])


class _ManyFieldsError(Exception):
    pass


def _fields(environ):
    try:
        return urllib.parse.parse_qs(environ.get("QUERY_STRING", ""), max_num_fields=MOST_FIELDS)
    except ValueError as e:
        raise _ManyFieldsError from e


def _words(error):
    """What is wrong, without the place of the file on the machine."""
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)


def _guarded(app):
    """Only GET and HEAD; an error of ours is logged here, and the client gets no trace of it."""
    def guarded(environ, start_response):
        if environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
            return _send(environ, start_response, "405 Method Not Allowed", reports.message("only GET and HEAD are answered here"))
        try:
            return app(environ, start_response)
        except _ManyFieldsError:
            return _send(environ, start_response, "400 Bad Request", reports.message("the address has too many fields"))
        except Exception:
            _log.exception("%s failed", environ.get("PATH_INFO"))
            return _send(environ, start_response, "500 Internal Server Error",
                         reports.message("TPUsight failed; TensorBoard's log says where"))
    return guarded


def _takes_gzip(environ):
    return any(part.split(";")[0].strip() == "gzip" for part in environ.get("HTTP_ACCEPT_ENCODING", "").split(","))


def _send(environ, start_response, status, packed, kind="application/json"):
    """PACKED is sent as it is to whom takes it, unpacked to others; 304 to whom has it."""
    etag = '"' + hashlib.sha256(packed).hexdigest()[:24] + '"'
    headers = [("Content-Type", f"{kind}; charset=utf-8"), ("Vary", "Accept-Encoding"), *SAFE]
    headers += EXTRA.get(status[:3], [])
    if status.startswith("200"):
        headers.append(("ETag", etag))
        if etag in environ.get("HTTP_IF_NONE_MATCH", ""):
            start_response("304 Not Modified", headers)
            return [b""]
    body = packed
    if _takes_gzip(environ):
        headers.append(("Content-Encoding", "gzip"))
    else:
        body = gzip.decompress(packed)
    headers.append(("Content-Length", str(len(body))))
    start_response(status, headers)
    return [b"" if environ.get("REQUEST_METHOD") == "HEAD" else body]
