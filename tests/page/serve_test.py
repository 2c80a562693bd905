#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tpusight serve, asked by all kinds of clients: serve_test.py

  - 200 clients at once for one report get the same one; it is analysed once
  - a client that drips a byte a second, one that goes away in the middle and garbage do not disturb other clients
  - Host, Origin, methods, paths, HEAD, ETag, gzip; unknown and damaged runs; a run that changes
  - Perfetto's page reads the extension server, and nothing else
  - requests that two programs could read in two ways; names that the user allows; links that lead out of what is served
  - SIGTERM ends it with status 0, also while a client is connected
Run in the build folder; $TPUSIGHT names the program (default bin/tpusight). With a build of --enable-sanitize, leaks and
errors end in another status.
"""
import concurrent.futures
import contextlib
import gzip
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import doors
import profiles

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import must, wrong

CLIENTS = 200
PAUSE_S = 30  # a server that does not answer; all others close the connection
TYPES = {"/": "text/html; charset=utf-8", "/index.html": "text/html; charset=utf-8", "/page.js": "text/javascript; charset=utf-8",
         "/page.css": "text/css; charset=utf-8"}
FIXED = {"Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cache-Control": "no-cache",
         "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
         "Cross-Origin-Embedder-Policy": "require-corp"}


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
        must(headers["Content-Type"] == TYPES[path], f"{path} is {headers['Content-Type']}")
        policy = headers["Content-Security-Policy"]
        must("default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, f"{path}: {policy}")
        for name, value in FIXED.items():
            must(headers[name] == value, f"{path}: {name} is {headers[name]}")
        must(headers["Access-Control-Allow-Origin"] is None, f"{path}: other origins may read it")
    fetch = {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}
    for site, status in (("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)):
        must(ask(url, report, **{**fetch, "Sec-Fetch-Site": site})[0] == status, f"a script from {site} does not get {status}")
    must(ask(url, "/", **{"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "cross-site"})[0] == 200, "a link to the page is not followed")
    refused = [dict(Host="evil.example"), dict(Host=f"evil.example:{port}"), dict(Host="127.0.0.1:1"),
               dict(Host=f"127.0.0.1.evil.example:{port}"),
               dict(Host=f"evil.example@127.0.0.1:{port}"), dict(Host=f"[::2]:{port}"), dict(Host=f"0x7f.1:{port}"), dict(Host=""),
               dict(Host=own, Origin="http://evil.example"),
               dict(Host=own, Origin="null"), dict(Host=own, Origin=f"https://{own}"), dict(Host=own, Origin=f"http://{own}.evil.example")]
    for headers in refused:
        must(error_of(url, report, **headers) == 403, f"{headers} is let in")
    for headers in (dict(Host=f"localhost:{port}"), dict(Host=f"LocalHost:{port}"), dict(Host=f"[::1]:{port}"), dict(Host=own, Origin=f"http://{own}")):
        must(ask(url, report, **headers)[0] == 200, f"{headers} is kept out")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW", "get"):
        must(error_of(url, "/api/runs", method=method) == 405, f"{method} is taken")
        must(ask(url, "/api/runs", method=method)[1]["Allow"] == "GET, HEAD", f"{method} is not told what is allowed")


PERFETTO = "https://ui.perfetto.dev"
SQL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/trace/perfetto/sql")
EXTENSION = ("manifest", "modules/default/macros", "modules/default/sql_modules")


def text(path):
    with open(path) as f:
        return f.read()


def extension(url, run):
    """An extension server as Perfetto's protocol has it: its page may read these three answers, and nothing else of ours."""
    own = url.split("/")[2]
    page = {"Origin": PERFETTO, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}
    said = {}
    for path in EXTENSION:
        status, headers, body = ask(url, "/perfetto/" + path, **page)
        must(status == 200 and headers["Content-Type"] == "application/json", f"{path}: {status}")
        must(headers["Access-Control-Allow-Origin"] == PERFETTO, f"{path} may be read by {headers['Access-Control-Allow-Origin']}")
        again = ask(url, "/perfetto/" + path, If_None_Match=headers["ETag"], **page)
        must(again[0] == 304 and again[1]["Access-Control-Allow-Origin"] == PERFETTO, f"{path}: who has it may not read that it has")
        said[path] = json.loads(body)
        for headers in (dict(Origin="https://evil.example"), dict(Origin="null"), dict(Origin=PERFETTO + ".evil.example"),
                        dict(Origin="http://ui.perfetto.dev"), {"Sec-Fetch-Site": "cross-site"}):
            must(error_of(url, "/perfetto/" + path, Host=own, **headers) == 403, f"{path}: {headers} is let in")
        must(error_of(url, "/perfetto/" + path, Host="evil.example", **page) == 403, f"{path}: another host's name is let in")
        must(error_of(url, "/perfetto/" + path, method="OPTIONS", **page) == 405, f"{path} has another method")
    for path in ("/", "/api/runs", f"/api/report?run={run}", "/perfetto", "/perfettox/manifest", "//perfetto/manifest"):
        must(ask(url, path, **page)[0] in (400, 403), f"Perfetto's page may ask for {path}")
    must(error_of(url, "/perfetto/../api/runs", **page) == 404, "a path leads out of what Perfetto's page may read")
    manifest, macros, modules = (said[path] for path in EXTENSION)
    must(manifest == {"name": "TPUsight", "namespace": "tpusight", "features": [{"name": "macros"}, {"name": "sql_modules"}],
                      "modules": [{"id": "default", "name": "Default"}]}, f"the manifest is {manifest}")
    files = {"tpusight." + name[:-4]: text(os.path.join(SQL, name)) for name in sorted(os.listdir(SQL)) if name.endswith(".sql")}
    must({m["name"]: m["sql"] for m in modules["sql_modules"]} == files, "the modules are not those of the sources")
    with open(os.path.join(SQL, "..", "..", "..", "..", "docs", "perfetto.md"), encoding="utf-8") as f:
        asked = [" ".join(sql.split()) for sql in re.findall(r"^### \d+\..*?```sql\n(.*?)```", f.read(), re.S | re.M)]
    told = [re.sub("^INCLUDE [^;]*; ", "", macro["run"][0]["args"][0]) for macro in macros["macros"][1:]]
    must(told == asked, "the macros are not the questions of docs/perfetto.md")
    for macro in macros["macros"]:
        must(macro["id"].startswith("tpusight.") and macro["name"], f"a macro is {macro}")
        for command in macro["run"]:
            good = command["id"].startswith("dev.perfetto.") and all(isinstance(a, str) for a in command["args"])
            must(good, f"{macro['id']}: {command}")
            used = re.findall(r"INCLUDE PERFETTO MODULE ([a-z_.]+);", command["args"][0])
            must(all(name in files for name in used), f"{macro['id']} includes {used}")


def answers(url, data):
    """The statuses and all of what comes back until the server hangs up, or has nothing to say for a while."""
    with connection(url) as s:
        s.settimeout(PAUSE_S)
        s.sendall(data)
        text = b""
        with contextlib.suppress(OSError):
            for piece in iter(lambda: s.recv(1 << 16), b""):
                text += piece
    return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d+) ", text)], text


def rows_of(host, end):
    """What is sent as it stands, and the status of the answer."""
    runs = "GET /api/runs HTTP/1.1\r\n"
    targets = {"http://127.0.0.1/": 400, "http://evil.example/": 400, "//page.js": 400, "/\\page.js": 400, "/%00": 400,
               "/page.js%00.png": 400, "/%c0%afpage.js": 404, "/%0d%0aX:%20y": 404, "/a\rb": 400,
               "/" + "a" * 16383: 404, "/" + "a" * 16384: 414, "/" + "a" * 30000: 414, "/" + "a" * 99999: 414,
               "/api/trend?runs=" + ",".join(["0123456789abcdef"] * 512): 404,
               "/api/trend?runs=" + "%2C".join(["0123456789abcdef"] * 513): 404,
               "/api/runs?" + "&".join(f"a{i}=1" for i in range(1500)): 200, "/api/runs?" + "a&" * 8000: 200}
    headers = {"A: " + "b" * 99999: 431, "A: " + "b" * 33000: 431, "A: " + "b" * 30000: 200,
               "Cookie: " + "; ".join(f"c{i}=1" for i in range(3000)): 200, "Cookie: " + "a;" * 16000: 200, "Cookie: " + "a;" * 16400: 431,
               "B: 1\r\n" * 6000: 431, "A : x": 400, "A\t: x": 400, f"{host.strip().replace(':', ' :', 1)}": 400,
               "A(): x": 400, "\x7f: x": 400, "Host: evil.example": 400, host.strip(): 400, "no colon": 400, "Content-Length: 5": 400,
               "Content-Length: 0": 200, "Content-Length: -5": 400, "Transfer-Encoding: identity": 400, "Upgrade: websocket": 200,
               "Expect: 100-continue\r\nContent-Length: 3": 400, "Range: bytes=0-3": 200}
    lines = {"GET /api/runs HTTP/1.0": 200, "GET /api/runs": 400,
             "GET / HTTP/9.9": 505, "OPTIONS * HTTP/1.1": 405,
             "CONNECT evil.example:80 HTTP/1.1": 405}
    yield from ((f"GET {target} HTTP/1.1\r\n{end}", status) for target, status in targets.items())
    yield from ((f"{runs}{header}\r\n{end}", status) for header, status in headers.items())
    yield from ((f"{line}\r\n{end}", status) for line, status in lines.items())
    yield from ((runs + end, 200), (runs + "A: b\r\n" * 20000 + end, 431), (runs + "\r\n", 400), ("GET /api/runs HTTP/1.0\r\n\r\n", 403),
                ("GET /\r\n", 400), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505))


def is_answer(found, text, status):
    """What libmicrohttpd refuses itself, with words of its own or none, has another status in another version of it."""
    return found[:1] == [status] or (status >= 400 and all(s >= 400 for s in found) and b'"error"' not in text)


def games(url):
    host = f"Host: {url.split('/')[2]}\r\n"
    end = host + "Connection: close\r\n\r\n"
    for data, status in rows_of(host, end):
        found, text = answers(url, data.encode("latin-1"))
        must(is_answer(found, text, status), f"{data[:60]!r} is answered with {found}")
        must(b"\r\nX: y" not in text, f"{data[:60]!r} writes a header")
    inner = f"GET /api/runs HTTP/1.1\r\n{end}"  # what a body hides is not read as a request
    for lengths in ("Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked",
                    "Content-Length: 5\r\nContent-Length: 6", f"Content-Length: {len(inner) + 5}", "Transfer-Encoding: xchunked"):
        for method, status in (("GET", 400), ("POST", 405)):
            found, text = answers(url, f"{method} /api/runs HTTP/1.1\r\n{lengths}\r\n{host}\r\n0\r\n\r\n{inner}".encode())
            good = is_answer(found, text, status) and len(found) < 2 and b'"runs"' not in text
            must(good, f"{method} with {lengths!r} is answered with {found}")
    row = "".join(f"GET {path} HTTP/1.1\r\n{host}\r\n" for path in ("/page.css", "/nothing", "/api/runs")) + f"HEAD / HTTP/1.1\r\n{end}"
    must(answers(url, row.encode())[0] == [200, 404, 200, 200], "what is asked in a row is not answered in a row")


def allowed(logdir):
    """Names beside those of the loopback."""
    with doors.serving("--allow-host=gateway.example", "--allow-host=other.example:8443", logdir) as (url, _):
        port = url.split("/")[2].split(":")[1]
        hosts = {f"gateway.example:{port}": 200, f"GATEWAY.example:{port}": 200, "other.example:8443": 200, "gateway.example:1": 403,
                 f"x.gateway.example:{port}": 403, f"gateway.example.evil:{port}": 403, "other.example:8444": 403}
        origins = {"https://other.example:8443": 200, f"http://gateway.example:{port}": 200, f"https://127.0.0.1:{port}": 403}
        for host, status in hosts.items():
            must(ask(url, "/api/runs", Host=host)[0] == status, f"the name {host} does not get {status}")
        for origin, status in origins.items():
            must(ask(url, "/api/runs", Origin=origin)[0] == status, f"the origin {origin} does not get {status}")
    for name in ("a b", "http://a", ""):
        done = subprocess.run([doors.PROGRAM, "serve", "--port=0", f"--allow-host={name}", logdir], capture_output=True, check=False)
        must(done.returncode == 2, f"--allow-host={name!r} ends with {done.returncode}")


def outside(folder):
    """A link that leads out of what is served shows nothing, unless the place it leads to is served too."""
    secret = doors.logdir(os.path.join(folder, "elsewhere"), {"secret": doors.SAMPLE})
    logdir = doors.logdir(os.path.join(folder, "linked"), {"own": doors.SAMPLE})
    os.symlink(os.path.join(secret, "secret"), os.path.join(logdir, "run"))
    session = os.path.join(logdir, "file", "plugins", "profile", "one")
    os.makedirs(session)
    hidden = os.path.join(secret, "secret", "plugins", "profile", "2026_01_01_00_00_00", "host.xplane.pb")
    os.symlink(hidden, os.path.join(session, "host.xplane.pb"))
    os.symlink(os.path.join(logdir, "own"), os.path.join(logdir, "same"))
    os.makedirs(os.path.join(secret, "many", *"abc"))
    os.mkdir(os.path.join(secret, "many", "closed"), 0)
    for i in range(20):
        os.makedirs(os.path.join(secret, "many", f"n{i}", "plugins", "profile", "empty"))
    os.symlink(os.path.join(secret, "many"), os.path.join(logdir, "many"))
    with doors.serving(logdir) as (url, _):
        listed = json.loads(ask(url, "/api/runs")[2])
        must(len(listed["runs"]) == 1, f"through links there are {[r['run'] for r in listed['runs']]}")
        must(sum("leads out" in p for p in listed["problems"]) == 3, f"the links are not told of: {listed['problems']}")
        must(len(listed["problems"]) == 3 and not any("/n0" in p or "closed" in p for p in listed["problems"]),
             f"what lies behind a link is named: {listed['problems'][:9]}")
        hidden = [r["id"] for r in both(logdir, secret) if r["run"] not in ("own", "same")]
        must(hidden and all(ask(url, f"/api/report?run={run}")[0] == 404 for run in hidden), "a report behind a link is given")


def both(*paths):
    with doors.serving(*paths) as (url, _):
        listed = json.loads(ask(url, "/api/runs")[2])
        must(not any("leads out" in p for p in listed["problems"]), f"what is served leads out: {listed['problems']}")
        return listed["runs"]


def paths(url, names):
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd", "/api", "/api/", "/api/runs/",
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


def made(folder):
    """Reports that were made before, without their profiles: by a pod that annotated, into a folder, and named."""
    annotated = doors.logdir(os.path.join(folder, "annotated"), {"sample": doors.SAMPLE})
    subprocess.run([doors.PROGRAM, "annotate", "-q", "--perfetto=none", annotated], check=True)
    found = {os.path.join(at, name): name for at, _, names in os.walk(annotated) for name in names}
    report = next(path for path, name in found.items() if name == "ALL_HOSTS.tpusight.json")
    os.unlink(next(path for path, name in found.items() if name.endswith(".xplane.pb")))
    reports = os.path.join(folder, "reports", "run")
    os.makedirs(reports)
    subprocess.run([doors.PROGRAM, "report", doors.logdir(os.path.join(folder, "source"), {"sample": doors.SAMPLE}), "-o",
                    os.path.join(reports, "s.json")], check=True)
    with open(report, "rb") as f:
        text = f.read()
    for name, content in ("not_ours.json", b'{"a": 1}'), ("list.json", b"[]"), (".hidden.json", text):
        with open(os.path.join(reports, name), "wb") as f:
            f.write(content)
    os.symlink(report, os.path.join(reports, "leads_out.json"))
    with doors.serving(report) as (url, _):
        must(ask(url, "/api/report")[2] == text, "a report that is named is not given as it stands")
        must(error_of(url, "/api/profiler/memory") == 404, "a report that was made before has parts")
    with doors.serving(annotated, os.path.join(folder, "reports")) as (url, _):
        listed = json.loads(ask(url, "/api/runs")[2])
        must(sorted(os.path.basename(run["path"]) for run in listed["runs"]) ==
             ["ALL_HOSTS.tpusight.json", "leads_out.json", "s.json"], f"served are {listed}")
        must(listed["problems"] == [], f"problems are {listed['problems']}")
        ids = {os.path.basename(run["path"]): run["id"] for run in listed["runs"]}
        with open(os.path.join(reports, "s.json"), "rb") as f:
            must(ask(url, "/api/report?run=" + ids["s.json"])[2] == f.read(), "a report in a folder is not given as it stands")
        must(json.loads(ask(url, "/api/traces?run=" + ids["s.json"])[2])["traces"] == [], "there are traces of a report alone")
        with open(report, "wb") as f:
            f.write(text.replace(b'"sample"', b'"changed"'))
        must(ask(url, "/api/report?run=" + ids["ALL_HOSTS.tpusight.json"])[2] != text, "a report that changed is given as it was")
    with doors.serving(os.path.join(folder, "reports")) as (url, _):
        listed = json.loads(ask(url, "/api/runs")[2])
        must(len(listed["runs"]) == 1 and "a link leads out" in listed["problems"][0], f"a link leads out of what is served: {listed}")


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
            extension(url, names["sample"])
            parts(url, names["sample"])
            paths(url, names)
            games(url)
            slow = rude(url, names["sample"])
            changed(url, logdir, names["sample"])
            server.terminate()
            status = server.wait(doors.PATIENCE_S)
            must(status == 0, f"SIGTERM ends it with status {status}")
            slow.close()
        with doors.serving(doors.logdir(os.path.join(folder, "one"), {"sample": doors.SAMPLE})) as (url, _):
            alone(url)
        allowed(logdir)
        outside(folder)
        made(folder)
        must(not any("tpusight" in n for _, _, found in os.walk(logdir) for n in found), "serving wrote into the log directory")
    return doors.ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
