#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Open in Perfetto, in real Chromium: perfetto_test.py [DOOR...]

Doors: serve (tpusight serve), file (an HTML report). The door "plugin" is perfetto_plugin_test.py. ui.perfetto.dev is not asked: a
page of this test, of another origin, speaks what google/perfetto's sources say that it takes (MESSAGE, ARGS, COMMANDS below), refuses
all else, and keeps what it got. The bytes must be those of the file, the time that of a slice of the finding's op in the file. Besides:
a page that does not answer, or late; a browser that opens no window; a file that is gone; a run without a trace. $TS_SHOTS: a folder
for screenshots.
"""
import contextlib
import gzip
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

import doors

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import must, wrong

# ui/src/frontend/post_message_handler.ts: struct PostedTrace, and what isPostedTraceWrapped() wants of it.
MESSAGE = {"buffer": "ArrayBuffer", "title": "String", "fileName": "String", "url": "String", "appStateHash": "String",
           "localOnly": "Boolean", "keepApiOpen": "Boolean", "pluginArgs": "Object"}
NEEDED = {"buffer", "title"}
# ui/src/public/route_schema.ts, of those that are read when a trace was posted (dev.perfetto.DeeplinkQuerystring, load_trace.ts).
ARGS = {"table", "ts", "dur", "query", "visStart", "visEnd", "startupCommands"}
# ui/src/core/startup_command_allowlist.ts, with the number of arguments in docs/visualization/commands-automation-reference.md.
COMMANDS = {"dev.perfetto.PinTracksByRegex": (1, 2), "dev.perfetto.AddNoteAtTimestamp": (2, 2), "dev.perfetto.RunQueryAndShowTab": (1, 2)}
TRUSTED = ("localhost", "127.0.0.1", "[::1]")  # isTrustedOrigin(): others are asked about

# As postMessageHandler(): messages of the opener alone, when the page is complete; the first trace is the last.
PAGE = """<!doctype html><meta charset="utf-8"><title>stands for Perfetto</title><script>
globalThis.got = [];
globalThis.silent = SILENT;
const kind = (v) => Object.prototype.toString.call(v).slice(8, -1);
addEventListener("message", async function handler(e) {
	if (globalThis.silent || document.readyState !== "complete" || e.source !== window.opener) return;
	if (e.data === "PING") return e.source.postMessage("PONG", "*");
	const posted = e.data.perfetto;
	if (kind(posted?.buffer) !== "ArrayBuffer" || kind(posted.title) !== "String") return globalThis.got.push({ bad: String(e.data) });
	const got = { origin: e.origin, keys: Object.keys(e.data), kinds: {}, bytes: posted.buffer.byteLength, fileName: posted.fileName,
		localOnly: posted.localOnly, referrer: document.referrer };
	for (const name of Object.keys(posted)) got.kinds[name] = kind(posted[name]);
	const hash = await crypto.subtle.digest("SHA-256", posted.buffer);
	got.hash = [...new Uint8Array(hash)].map((b) => b.toString(16).padStart(2, "0")).join("");
	globalThis.got.push(got);
});
</script>"""

REFEREE = os.environ.get("TS_TRACE_PROCESSOR")  # Perfetto's trace processor is asked, too, where it is there


@contextlib.contextmanager
def perfetto():
    """A server of the page; /silent/ has one that does not answer. Yields its address, and the targets that it was asked for."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = PAGE.replace("SILENT", str("silent" in self.path).lower()).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(OSError):  # the window was closed before
                self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}", asked
    finally:
        server.shutdown()


def logdir(folder):
    """sample: annotated; own: in Perfetto's own form; bare: not; torch: a trace and its copy."""
    logs = doors.logdir(folder, {"sample": doors.SAMPLE, "own": doors.SAMPLE})
    os.makedirs(os.path.join(logs, "torch"))
    shutil.copyfile(doors.TRACE, os.path.join(logs, "torch", "rank0.1700000000.pt.trace.json"))
    subprocess.run([doors.PROGRAM, "annotate", "-q", logs], check=True)
    subprocess.run([doors.PROGRAM, "annotate", "-q", "--perfetto=pftrace", os.path.join(logs, "own")], check=True)
    return doors.logdir(logs, {"bare": doors.SAMPLE})


def find(logs, name):
    return next(os.path.join(folder, name) for folder, _, names in os.walk(logs) if name in names)


def drive(jobs, folder):
    path = os.path.join(folder, "perfetto-jobs.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(jobs, f)
    done = doors.node("perfetto.mjs", path)
    if done.returncode == doors.SKIP:
        doors.skip(done.stderr.strip().removesuffix(": skipped"))
    wrong.extend(done.stderr.splitlines())
    return json.loads(done.stdout) if done.returncode in (0, 1) and done.stdout else {}


def parsed(url):
    """Perfetto's arguments (Router.parseUrl() of ui/src/core/router.ts): those of the fragment."""
    address, _, fragment = url.partition("#!/?")
    args = dict(urllib.parse.parse_qsl(fragment, keep_blank_values=True, strict_parsing=True))
    return urllib.parse.urlsplit(address), args, json.loads(args["startupCommands"])


def check_message(where, got, path):
    must(len(got) == 1, f"{where}: {len(got)} messages came: {got}")
    message = got[0]
    must(message.get("keys") == ["perfetto"], f"{where}: the message is {message}")
    kinds = message["kinds"]
    must(set(kinds) >= NEEDED and all(MESSAGE.get(name) == kind for name, kind in kinds.items()), f"{where}: it has {kinds}")
    must(message["localOnly"] is True, f"{where}: Perfetto would offer to upload the trace")
    must(urllib.parse.urlsplit(message["origin"]).hostname in TRUSTED, f"{where}: {message['origin']} is not trusted")
    must(message["referrer"] == "", f"{where}: the window was told {message['referrer']}")
    with open(path, "rb") as f:
        text = f.read()
    same = message["hash"] == hashlib.sha256(text).hexdigest() and message["bytes"] == len(text)
    must(same, f"{where}: the bytes are not those of {path}")
    must(message["fileName"] == os.path.basename(path), f"{where}: it goes by {message['fileName']}")


def check_commands(where, commands):
    for command in commands:
        least, most = COMMANDS.get(command["id"], (1, 0))
        good = set(command) == {"id", "args"} and all(isinstance(arg, str) for arg in command["args"])
        must(good and least <= len(command["args"]) <= most, f"{where}: {command} is not a startup command")
    must(re.fullmatch(r"\^TPUsight: \(Steps\|Critical path\|(\[1-6\]|\d+) \[a-z\]\+\)\$", commands[0]["args"][0]),
         f"{where}: {commands[0]} pins more than eight rows, or others")


def check_address(where, url, ui, finding):
    """What a server is asked for names nothing; what Perfetto reads is behind the #."""
    at, args, commands = parsed(url)
    must(f"{at.scheme}://{at.netloc}" == ui and at.path == "/" and at.query == "testing=1", f"{where}: it asks for {at.geturl()}")
    must(set(args) <= ARGS, f"{where}: the address has {sorted(args)}")
    check_commands(where, commands)
    if not finding:
        must(set(args) == {"startupCommands"} and len(commands) == 1, f"{where}: the run is opened by {args}")
        return None
    start, end = int(args["visStart"]), int(args["visEnd"])
    must(start < end, f"{where}: {start} to {end} is not a time")
    selected = int(args["ts"]), int(args["dur"])
    must(selected == (start, end - start), f"{where}: {selected} is not the slice from {start} to {end}")
    by_id = {c["id"]: c["args"] for c in commands}
    must(by_id.get("dev.perfetto.AddNoteAtTimestamp") == [str(start), finding["title"]], f"{where}: the note is {commands}")
    query = [finding["links"]["perfetto_sql"], finding["title"]]
    must(by_id.get("dev.perfetto.RunQueryAndShowTab") == query, f"{where}: the query is {commands}")
    return start, end


def events_of(path):
    """{name: {(start, end) in ns}} of a trace in JSON."""
    with gzip.open(path) as f:
        trace = json.load(f, parse_float=lambda text: text, parse_int=lambda text: text)
    found = {}
    for e in trace["traceEvents"]:
        if e.get("ph") == "X":
            ts, dur = (round(float(e[key]) * 1000) for key in ("ts", "dur"))
            found.setdefault(e["name"], set()).add((ts, ts + dur))
    return found


def of_an_op(report):
    """A finding that is shown at an execution of its first op."""
    return next(f for f in report["doctor"]["findings"] if f["where"] and f["time_ranges"] and f["time_ranges"][0]["example"])


def check_open(where, answer, ui, path, finding=None):
    must("nothing was uploaded" in answer["words"], f"{where}: the page says {answer['words']!r}")
    check_message(where, answer["got"], path)
    span = check_address(where, answer["url"], ui, finding)
    if finding and path.endswith(".gz"):
        slices = set().union(*(events_of(path).get(w["op"], set()) for w in finding["where"]))
        there = any(abs(start - span[0]) <= 1 and abs(end - span[1]) <= 1 for start, end in slices)
        must(there, f"{where}: no slice of {finding['where'][0]['op']} is at {span}")
    if finding and REFEREE:
        ask_referee(where, path, finding, *span)


def ask_referee(where, path, finding, start, end):
    """Perfetto takes a time within the trace alone, the finding's query must give rows, and a slice of its op be at the time."""
    sql = finding["links"]["perfetto_sql"]
    names = ", ".join("'" + w["op"].replace("'", "''") + "'" for w in finding["where"])
    told = [subprocess.run([REFEREE, "query", path, query], capture_output=True, text=True, check=True).stdout.split("\n") for query in (
        f"select trace_start() <= {start} and {end} <= trace_end()", f"select count(*) > 0 from ({sql})",
        f"select count(*) > 0 from slice where name in ({names}) and abs(ts - {start}) <= 1 and abs(ts + dur - {end}) <= 1")]
    says = [lines[1] for lines in told]
    must(says == ["1"] * 3, f"{where}: of the time, the query and the slice Perfetto says {says}")


def check_asked(asked):
    must(set(asked) <= {"/?testing=1", "/silent/?testing=1", "/favicon.ico"}, f"the server of Perfetto's page was asked for {set(asked)}")


def reports(url, api):
    """{run: (id, report)}"""
    runs = json.load(doors.get(f"{url}{api}runs"))["runs"]
    of = f"{url}{api}report?run="
    return {r["run"] if r["run"] != "." else r["session"]: (r["id"], json.load(doors.get(of + urllib.parse.quote(r["id"])))) for r in runs}


def check_opened(told, known, files, ui):
    """A run and a finding of each of FILES were opened."""
    for name, path in files.items():
        finding = of_an_op(known[name][1])
        must(len(told.get(name, [])) == 2, f"{name}: {told.get(name)}")
        for answer, what in zip(told.get(name, []), (None, finding)):
            check_open(name, answer, ui, path, what)


def job_of(known, name, *does):
    """TEXT: what the page calls the run."""
    run_id, report = known[name]
    run = report["run"]
    text = (run["run"] if run["run"] != "." else "") or run["session"] or run["hosts"][0]["name"]
    return {"name": name, "text": text, "run": run_id, "does": does}


def opening(known, name):
    return job_of(known, name, ["open", ""], ["open", of_an_op(known[name][1])["id"]])


def by_serve(folder, ui, shots):
    logs = logdir(os.path.join(folder, "logs"))
    copy, trace = find(logs, "rank0.1700000000.pt.trace.tpusight.json.gz"), find(os.path.join(logs, "sample"), "perfetto_trace.json.gz")
    with doors.serving("--perfetto-ui", ui, logs) as (url, _):
        known = reports(url, "api/")
        jobs = [{**opening(known, "sample"), "axe": True}, opening(known, "torch"), opening(known, "own"),
                {**job_of(known, "bare", ["words", ""]), "axe": True},
                {**job_of(known, "sample", ["gone", ""]), "name": "gone", "path": trace},
                {**job_of(known, "sample", ["blocked", ""]), "name": "blocked"}]
        told = drive([{**job, "url": url, "shots": shots} for job in jobs], folder)
    check_opened(told, known, {"sample": trace, "torch": copy, "own": find(logs, "perfetto_trace.pftrace")}, ui)
    for answer in told.get("bare", []):
        must(answer["buttons"] == 0 and "tpusight-annotate" in answer["words"], f"a run without a trace: {answer}")
    for answer in told.get("gone", []):
        must("no trace of this name" in answer["words"], f"a trace that is gone: {answer}")
    with doors.serving("--perfetto-ui", f"{ui}/silent/", logs) as (url, _):
        job = {**job_of(known, "torch", ["silent", ""], ["late", ""]), "name": "silent", "axe": True}
        silent, late = drive([{**job, "url": url, "shots": shots}], folder).get("silent") or [{"words": ""}, {"got": 0}]
    must(copy in silent["words"], f"a page that does not answer: {silent}")
    must(late["got"] == 1, f"a page that answers late: {late}")


def check_hand(where, answer, profile, file, finding):
    says = (file, os.path.dirname(profile), "https://ui.perfetto.dev", "nothing is uploaded")
    must(answer["buttons"] == 0 and all(text in answer["words"] for text in says), f"{where}: {answer}")
    query, commands = answer["texts"][-2], json.loads(answer["texts"][-1])
    check_commands(where, commands)
    must(commands[-1]["args"][0] == finding["links"]["perfetto_sql"] == query, f"{where}: the query is {commands}")


def by_file(folder, _ui, shots):
    """No server is there to ask: words, and commands to paste."""
    files = {"xplane": (doors.SAMPLE, "perfetto_trace.json.gz"), "trace": (doors.TRACE, "hand_made.pt.trace.tpusight.json.gz")}
    for name, (profile, file) in files.items():
        page = doors.html(profile, os.path.join(folder, f"{name}.html"))
        finding = of_an_op(doors.report(profile))
        job = {"name": f"file-{name}", "url": f"file://{page}", "shots": shots, "axe": True, "does": [["hand", finding["id"]]]}
        for answer in drive([job], folder).get(job["name"], []):
            check_hand(name, answer, profile, file, finding)


DOORS = {"serve": by_serve, "file": by_file}


def main():
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder, perfetto() as (ui, asked):
        for door in sys.argv[1:] or DOORS:
            DOORS[door](folder, ui, os.environ.get("TS_SHOTS"))
        check_asked(asked)
    return doors.ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
