#!/usr/bin/env python3
"""tpusight serve, asked by all kinds of clients: serve_test.py

  - 200 clients at once for one report get the same one; it is analysed once
  - a client that drips a byte a second, one that goes away in the middle and garbage do not disturb other clients
  - Host, Origin, methods, paths, HEAD, ETag, gzip; unknown and damaged runs; a run that changes
  - SIGTERM ends it with status 0, also while a client is connected
Run in the build folder; $TPUSIGHT names the program (default bin/tpusight). With a build of --enable-sanitize, leaks and
errors end in another status.
"""
import concurrent.futures
import gzip
import http.client
import json
import os
import shutil
import socket
import sys
import tempfile
import time

import doors
import profiles

CLIENTS = 200
wrong = []


def must(good, text):
    if not good:
        wrong.append(text)


def ask(url, path, method="GET", **headers):
    """(status, headers, body)"""
    host, port = url.split("/")[2].split(":")
    client = http.client.HTTPConnection(host, int(port), timeout=doors.PATIENCE_S)
    client.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
    for name, value in headers.items():
        client.putheader(name.replace("_", "-"), value)
    client.endheaders()
    answer = client.getresponse()
    body = answer.read()
    client.close()
    return answer.status, answer.headers, body


def error_of(url, path, **more):
    """The status; an error must say so in JSON."""
    status, headers, body = ask(url, path, **more)
    if status >= 400 and more.get("method") != "HEAD":
        must(headers["Content-Type"] == "application/json" and json.loads(body)["error"]["message"],
             f"{path}: {body[:80]} is not a JSON error")
    return status


def raw(url, data, linger=0.0):
    """What comes back for these bytes, or b"" when the server hangs up."""
    host, port = url.split("/")[2].split(":")
    with socket.create_connection((host, int(port)), timeout=5) as s:
        s.sendall(data)
        time.sleep(linger)
        try:
            return s.recv(1 << 16)
        except OSError:
            return b""


def connection(url):
    host, port = url.split("/")[2].split(":")
    return socket.create_connection((host, int(port)), timeout=doors.PATIENCE_S)


def cpu_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def many(url, server, run, twin):
    """One analysis for all: together they cost the processor far less than two hundred of it, as TWIN's tells, would."""
    path, begin = f"/api/report?run={run}", cpu_s(server.pid)
    ask(url, f"/api/report?run={twin}")
    once, begin = cpu_s(server.pid) - begin, cpu_s(server.pid)
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(lambda _: ask(url, path, Accept_Encoding="gzip"), range(CLIENTS)))
    all_s = cpu_s(server.pid) - begin
    must(all_s < CLIENTS / 2 * max(once, 0.02), f"{CLIENTS} clients cost {all_s:.2f} s of processor, one {once:.2f} s")
    must({a[0] for a in answers} == {200}, f"{CLIENTS} clients got {sorted({a[0] for a in answers})}")
    must(len({a[2] for a in answers}) == 1 and len({a[1]["ETag"] for a in answers}) == 1, f"{CLIENTS} clients got different reports")
    must(json.loads(gzip.decompress(answers[0][2]))["schema"] == "tpusight/1", "what they got is not a report")


def rude(url, run):
    """Others are answered while these are at it."""
    slow, gone = connection(url), connection(url)
    gone.sendall(f"GET /api/report?run={run} HTTP/1.1\r\nHost: {url.split('/')[2]}\r\n\r\n".encode())
    gone.recv(100)
    gone.close()  # the rest of the answer has nowhere to go
    for c in b"GET /":
        slow.sendall(bytes([c]))
        must(ask(url, "/api/runs")[0] == 200, "a slow client holds up the others")
        time.sleep(1)
    for data in (b"\x00" * 5000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01",
                 b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
                 b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 20000 + b"\r\n", b"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\nxxxx"):
        reply = raw(url, data)
        must(not reply.startswith(b"HTTP/1.1 200"), f"{data[:20]} was answered with {reply[:40]}")
    must(ask(url, "/api/runs")[0] == 200, "it does not answer after garbage")
    return slow  # still connected when the server is ended


def manners(url, run):
    own = url.split("/")[2]
    port = own.split(":")[1]
    report = f"/api/report?run={run}"
    status, headers, body = ask(url, report)
    must(status == 200 and headers["Content-Encoding"] is None and json.loads(body)["ops"], "the report, unpacked")
    must(ask(url, report, Accept_Encoding="gzip;q=0")[1]["Content-Encoding"] is None, "gzip was sent to who refuses it")
    head = ask(url, report, method="HEAD")
    must(head[0] == 200 and head[2] == b"" and head[1]["Content-Length"] == str(len(body)), "HEAD is not GET without the body")
    again = ask(url, report, If_None_Match=headers["ETag"])
    must(again[0] == 304 and again[2] == b"", f"who has it gets {again[0]}")
    must(ask(url, report, If_None_Match='"another"')[0] == 200, "who has another one does not get this one")
    for path in ("/", "/index.html", "/page.js", "/page.css"):
        status, headers, _ = ask(url, path)
        must(status == 200 and headers["X-Content-Type-Options"] == "nosniff", f"{path}: {status}")
        must("default-src 'none'" in headers["Content-Security-Policy"] and "unsafe-inline'; connect" in headers["Content-Security-Policy"],
             f"{path}: {headers['Content-Security-Policy']}")
    refused = [dict(Host="evil.example"), dict(Host=f"evil.example:{port}"), dict(Host="127.0.0.1:1"), dict(Host=""), dict(Host=own, Origin="http://evil.example"),
               dict(Host=own, Origin="null"), dict(Host=own, Origin=f"https://{own}"), dict(Host=own, Origin=f"http://{own}.evil.example")]
    for headers in refused:
        must(error_of(url, report, **headers) == 403, f"{headers} is let in")
    for headers in (dict(Host=f"localhost:{port}"), dict(Host=own, Origin=f"http://{own}")):
        must(ask(url, report, **headers)[0] == 200, f"{headers} is kept out")
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        must(error_of(url, "/api/runs", method=method) == 405, f"{method} is taken")


def paths(url, names):
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/api", "/api/", "/api/runs/",
                 "/" + "a" * 2000, "/nothing"):
        must(error_of(url, path) == 404, f"{path[:40]} is there")
    for run in ("nothing", "../../etc/passwd", "a" * 1000, "0" * 16, "%ff%fe"):
        must(error_of(url, f"/api/report?run={run}") == 404, f"run {run[:40]} is there")
    for query in ("", "?run=", "?run=%00", "?walk=1"):
        must(error_of(url, f"/api/report{query}") == 400, f"/api/report{query}")
    must(error_of(url, f"/api/report?run={names['damaged']}") == 422, "a damaged profile has a report")
    status, _, body = ask(url, f"/api/report?run={names['hostile']}")
    must(status == 200 and b"<" not in body, "markup of a profile is sent as it is")


def parts(url, run):
    whole = json.loads(ask(url, f"/api/report?run={run}")[2])
    for name, keys in {"memory": ["memory", "capacity", "tracks"], "timeline": ["time", "steps", "tracks"],
                       "kernels": ["ops"], "compile": ["cache"], "flame": ["flame"]}.items():
        status, _, body = ask(url, f"/api/profiler/{name}?run={run}")
        part = json.loads(body)
        must(status == 200 and part["schema"] == "tpusight/1" and part["run"] == whole["run"], f"{name}: {status}")
        for key in keys:
            must(part.get(key) and (key in ("tracks", "flame") or part[key] == whole[key]), f"{name}: {key} is not the report's")
        must("doctor" not in part and "fusion" not in part, f"{name} has more than its part")
    must(error_of(url, f"/api/profiler/nothing?run={run}") == 404 and error_of(url, "/api/profiler/memory") == 400, "what is not there")


def alone(url):
    """The addresses that HTTP clients of profilers know: without a run, where there is only one."""
    run = json.loads(ask(url, "/api/runs")[2])["runs"][0]["id"]
    for name in ("flame", "memory", "timeline", "kernels", "hta", "compile"):
        status, _, body = ask(url, f"/api/profiler/{name}")
        must(status == 200 and body == ask(url, f"/api/profiler/{name}?run={run}")[2], f"/api/profiler/{name} without a run: {status}")
    must(ask(url, "/api/report")[2] == ask(url, f"/api/report?run={run}")[2], "/api/report without a run")
    must(error_of(url, "/api/report?run=nothing") == 404, "a run that is not there is taken for the only one")


def changed(url, logdir, run):
    before = ask(url, f"/api/report?run={run}")
    session, other = (os.path.join(logdir, name, "plugins", "profile", "2026_01_01_00_00_00") for name in ("sample", "hostile"))
    shutil.copyfile(os.path.join(other, "host.xplane.pb"), os.path.join(session, "new"))
    os.replace(os.path.join(session, "new"), os.path.join(session, "host.xplane.pb"))
    after = ask(url, f"/api/report?run={run}", If_None_Match=before[1]["ETag"])
    must(after[0] == 200 and after[1]["ETag"] != before[1]["ETag"], "a run that changed has its old report")
    must(len(json.loads(after[2])["steps"]) == 6, "a run that changed has not the new one's steps")


def main():
    if not os.access(doors.PROGRAM, os.X_OK):
        doors.skip(f"{doors.PROGRAM} is not built")
    with tempfile.TemporaryDirectory() as folder:
        logdir = doors.logdir(os.path.join(folder, "logs"), {"sample": doors.SAMPLE, "twin": doors.SAMPLE,
                                                             "hostile": profiles.hostile(), "damaged": b"\x0a\xff\xff"})
        with doors.serving(logdir) as (url, server):
            names = {r["run"]: r["id"] for r in json.loads(ask(url, "/api/runs")[2])["runs"]}
            must(set(names) == {"sample", "twin", "hostile", "damaged"}, f"the runs are {sorted(names)}")
            many(url, server, names["sample"], names["twin"])
            manners(url, names["sample"])
            parts(url, names["sample"])
            paths(url, names)
            slow = rude(url, names["sample"])
            changed(url, logdir, names["sample"])
            server.terminate()
            status = server.wait(doors.PATIENCE_S)
            must(status == 0, f"SIGTERM ends it with status {status}")
            slow.close()
        with doors.serving(doors.logdir(os.path.join(folder, "one"), {"sample": doors.SAMPLE})) as (url, _):
            alone(url)
        must(not any("tpusight" in n for _, _, found in os.walk(logdir) for n in found), "serving wrote into the log directory")
    return doors.done(wrong)


if __name__ == "__main__":
    sys.exit(main())
