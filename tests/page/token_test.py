#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tpusight serve and live --serve with --host and --token: token_test.py

  - an address that other machines can reach is refused without a token, in words; so is what is not an address or a token
  - with a token every route, known or not, answers 401 to who does not show it: the page, its parts, the API, the news
  - the address with the token gives a cookie and leads to the address without it; then a browser needs nothing else
  - the cookies of two servers that are reached at two ports of one host do not meet
  - the right token does not open what the guard refuses: other names, other origins, other methods
  - an address of this machine is a name that is answered; another one is not
  - real Chromium goes through the address with the token, and from then on needs none (token.mjs); without a browser this is left out
Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import contextlib
import http.client
import http.cookies
import json
import os
import pty
import re
import shutil
import socket
import subprocess
import sys
import tempfile

import doors

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import must, wrong

TOKEN = "not-a-secret-of-anybody_1234"
ROUTES = ("/", "/index.html", "/page.js", "/page.css", "/api/runs", "/api/report", "/api/live", "/api/traces", "/api/trace", "/api/trend",
          "/api/compare", "/api/slices", "/api/profiler/flame", "/perfetto/manifest", "/nothing")


def ask(port, path, host=None, where="127.0.0.1", method="GET", **headers):
    """(status, headers, the first bytes of the body)"""
    client = http.client.HTTPConnection(where, port, timeout=doors.PATIENCE_S)
    with contextlib.closing(client):
        client.request(method, path, headers={"Host": host or f"127.0.0.1:{port}", **{k.replace("_", "-"): v for k, v in headers.items()}})
        answer = client.getresponse()
        return answer.status, answer.headers, answer.read1(4096)


def own_address():
    """An address of this machine that is not the loopback's, or None. No packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s, contextlib.suppress(OSError):
        s.connect(("192.0.2.1", 9))
        found = s.getsockname()[0]
        return None if found.startswith("127.") else found
    return None


@contextlib.contextmanager
def serving(*arguments):
    """(port, what it printed)"""
    command = [doors.PROGRAM, *arguments]
    with doors.children.start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            said = server.stdout.readline()
            yield int(re.search(r":(\d+)/", said).group(1)), said
        finally:
            server.terminate()
            server.communicate(timeout=doors.PATIENCE_S)


def refused(folder):
    """What is wrong usage, and a word of why."""
    rows = {("--host=0.0.0.0",): "--token=auto", ("--host=::",): "--token=auto", ("--host=10.1.2.3",): "--token=auto",
            ("--host=gateway",): "hostname -I", ("--token=short",): "16 to 128", ("--token=" + "a" * 20 + "&b",): "letters, digits",
            ("--token=@" + os.path.join(folder, "nothing"),): "nothing", ("--token=",): "16 to 128"}
    for options, word in rows.items():
        for command in ("serve",), ("live", "--serve"):
            done = subprocess.run([doors.PROGRAM, *command, "--port=0", *options, folder], capture_output=True, text=True, check=False,
                                  timeout=doors.PATIENCE_S)
            must(done.returncode == 2 and word in done.stderr, f"{command} {options}: {done.returncode}, {done.stderr}")
    done = subprocess.run([doors.PROGRAM, "serve", "--port=0", "--host=192.0.2.1", "--token=auto", folder], capture_output=True, text=True,
                          check=False, timeout=doors.PATIENCE_S)
    must(done.returncode == 3 and "hostname -I" in done.stderr, f"an address of another machine: {done.returncode}, {done.stderr}")


def strangers(port, token):
    """Who does not show the token sees nothing; who shows a part of it neither."""
    shown = {"nothing": {}, "a part": {"Authorization": "Bearer " + token[:-1]}, "more": {"Authorization": f"Bearer {token}x"},
             "another scheme": {"Authorization": "Basic " + token}, "another cookie": {"Cookie": f"tpusight-1={token}"},
             "a wrong cookie": {"Cookie": f"tpusight-{port}={token[:-1]}x"}, "an empty cookie": {"Cookie": f"tpusight-{port}="}}
    for route in ROUTES:
        for what, headers in shown.items():
            status, answer, body = ask(port, route, **headers)
            must(status == 401 and b"token" in body and token.encode() not in body, f"{route} with {what}: {status}")
            must(answer["WWW-Authenticate"] == "Bearer" and answer["Set-Cookie"] is None, f"{route} with {what}: {answer.items()}")
    for query in ("?token=", "?token=" + token[:-1], "?token=x&token=" + token, "#token=" + token):
        must(ask(port, "/api/runs" + query)[0] in (400, 401), f"{query} is let in")


def guests(port, token):
    """Who shows it gets what a server without a token gives."""
    expected = {"/": 200, "/page.js": 200, "/api/runs": 200, "/api/report": 200, "/perfetto/manifest": 200, "/nothing": 404}
    for route, status in expected.items():
        cookie = {"Cookie": f"a=b; tpusight-{port}={token}; c=d"}
        for headers in {"Authorization": f"Bearer {token}"}, {"Authorization": f"bearer {token}"}, cookie:
            must(ask(port, route, **headers)[0] == status, f"{route} with {list(headers)}: {ask(port, route, **headers)[0]}")
    must(ask(port, f"/api/runs?token={token}")[0] == 200, "the API does not take the token of the address")
    for path in "/", "/index.html":
        status, headers, body = ask(port, f"{path}?token={token}")
        must(status == 303 and headers["Location"] == "./" and body == b"", f"{path} with the token: {status}")
        cookie = http.cookies.SimpleCookie(headers["Set-Cookie"])[f"tpusight-{port}"]
        flags = cookie["httponly"], cookie["samesite"], cookie["path"]
        must(cookie.value == token and flags == (True, "Lax", "/"), f"the cookie is {cookie}")


def guarded(port, token):
    key = {"Authorization": f"Bearer {token}"}
    must(ask(port, "/api/runs", host="evil.example", **key)[0] == 403, "the token opens another host's name")
    must(ask(port, "/api/runs", Origin="http://evil.example", **key)[0] == 403, "the token opens another origin")
    fetch = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    must(ask(port, "/api/runs", **fetch, **key)[0] == 403, "the token opens a cross-site request")
    must(ask(port, "/api/runs", method="POST", **key)[0] == 405, "the token opens another method")


def tunnelled(logdir):
    """Two tunnels lead to servers that are both at their port 6970, say: what the browser sees are the ports of the tunnels."""
    options = ("--port=0", "--allow-host=localhost:7001", "--allow-host=localhost:7002")
    other = TOKEN[::-1]
    first, second = (serving("serve", *options, f"--token={token}", logdir) for token in (TOKEN, other))
    with first as (one, _), second as (two, _):
        jar = http.cookies.SimpleCookie()
        for port, host, token in ((one, "localhost:7001", TOKEN), (two, "localhost:7002", other)):
            jar.load(ask(port, f"/?token={token}", host=host)[1]["Set-Cookie"])
        cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in jar.items())
        must(len(jar) == 2, f"the cookies are {cookie}")
        for port, host in (one, "localhost:7001"), (two, "localhost:7002"):
            must(ask(port, "/api/runs", host=host, Cookie=cookie)[0] == 200, f"the cookie of {host} is gone, or not known")


def opened(logdir):
    """At all addresses: the one that was reached is a name that is answered, another one is not."""
    with serving("serve", "--host=0.0.0.0", "--port=0", "--token=auto", "-q", logdir) as (port, said):
        token = re.search(r"\?token=([0-9a-f]{32}) ", said).group(1)
        key = {"Authorization": f"Bearer {token}"}
        must(said.startswith(f"TPUsight at http://127.0.0.1:{port}/?token="), f"it says {said}")
        strangers(port, token)
        here = own_address()
        own = f"{here}:{port}"
        if here:
            must(ask(port, "/api/runs", where=here, host=own)[0] == 401, "its own address needs no token")
            must(ask(port, "/api/runs", where=here, host=own, **key)[0] == 200, "its own address is not answered")
            must(ask(port, "/api/runs", where=here, host=own, Origin=f"http://{own}", **key)[0] == 200, "its own origin is refused")
            must(ask(port, "/api/runs", host=own, **key)[0] == 403, "an address that was not reached is answered")
        for host in ("192.0.2.1", "gateway"):
            must(ask(port, "/api/runs", host=f"{host}:{port}", **key)[0] == 403, f"{host} is answered")
    if here:
        with serving("serve", f"--host={here}", "--port=0", f"--token={TOKEN}", logdir) as (port, said):
            must(f"http://{here}:{port}/?token={TOKEN} " in said, f"it says {said}")
            status = ask(port, "/api/runs", where=here, host=f"{here}:{port}", Authorization=f"Bearer {TOKEN}")[0]
            must(status == 200, f"{here} is answered with {status}")
    else:
        print("this machine has no address but the loopback's: that part is left out", file=sys.stderr)


def sixth(logdir):
    """IPv6: one address, and all of both kinds."""
    if not os.path.exists("/proc/net/if_inet6") or not open("/proc/net/if_inet6", encoding="ascii").read():
        print("this machine has no IPv6: that part is left out", file=sys.stderr)
        return
    with serving("serve", "--host=::1", "--port=0", logdir) as (port, said):
        must(said.startswith(f"TPUsight at http://[::1]:{port}/ "), f"it says {said}")
        must(ask(port, "/api/runs", where="::1", host=f"[::1]:{port}")[0] == 200, "::1 is not answered")
    with serving("serve", "--host=::", "--port=0", f"--token={TOKEN}", logdir) as (port, _):
        for where, host in (("::1", "[::1]"), ("127.0.0.1", "127.0.0.1")):
            status = ask(port, "/api/runs", where=where, host=f"{host}:{port}", Authorization=f"Bearer {TOKEN}")[0]
            must(status == 200, f"{where} is answered with {status}")


def watched(logdir, folder):
    """live --serve has the same door, and the news are behind it."""
    path = os.path.join(folder, "token")
    with open(path, "w", encoding="ascii") as f:
        f.write(TOKEN + "\n")
    with serving("live", "--serve", "--port=0", f"--token=@{path}", "--new-only", logdir) as (port, said):
        must(f"/?token={TOKEN} " in said, f"it says {said}")
        must(ask(port, "/api/live")[0] == 401, "the news need no token")
        status, headers, _ = ask(port, f"/api/live?token={TOKEN}")
        must(status == 200 and headers["Content-Type"].startswith("text/event-stream"), f"the news with the token: {status}")


def on_a_terminal():
    """The view that redraws itself hides what was printed before: it has the whole address, whatever the width."""
    ours, its = pty.openpty()
    command = [doors.PROGRAM, "live", "--service=127.0.0.1:1", "--serve", "--port=0", f"--token={TOKEN}", "--for=1s"]
    with subprocess.Popen(command, stdout=its, stderr=its, env=dict(os.environ, TERM="xterm", COLUMNS="80", LINES="24")) as watch:
        os.close(its)
        said = b""
        with contextlib.suppress(OSError):  # the end of a terminal is an error
            for piece in iter(lambda: os.read(ours, 1 << 16), b""):
                said += piece
        watch.wait(doors.PATIENCE_S)
    os.close(ours)
    drawn = said.partition(b"\x1b[?1049h")[2]
    must(re.search(rb"  http://127.0.0.1:\d+/\?token=" + TOKEN.encode() + rb"\x1b", drawn), f"the view has no whole address: {drawn[:400]}")


def browsed(port, folder):
    """In Chromium, where there is one."""
    if os.environ.get("TS_NO_BROWSER") or not shutil.which("node"):
        print("no browser: that part is left out", file=sys.stderr)
        return
    path = os.path.join(folder, "job.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"url": f"http://127.0.0.1:{port}/", "token": TOKEN}, f)
    done = doors.node("token.mjs", path, stdout=None)
    if done.returncode == doors.SKIP:
        print(done.stderr.strip(), file=sys.stderr)
    elif done.returncode:
        wrong.extend(done.stderr.splitlines() or [f"token.mjs ended with status {done.returncode}"])


def main():
    if not os.access(doors.PROGRAM, os.X_OK):
        doors.skip(f"{doors.PROGRAM} is not built")
    with tempfile.TemporaryDirectory() as folder:
        logdir = doors.logdir(os.path.join(folder, "logs"), {"sample": doors.SAMPLE})
        refused(logdir)
        with serving("serve", "--port=0", f"--token={TOKEN}", logdir) as (port, said):
            must(said == f"TPUsight at http://127.0.0.1:{port}/?token={TOKEN} (Ctrl-C ends it)\n", f"it says {said}")
            strangers(port, TOKEN)
            guests(port, TOKEN)
            guarded(port, TOKEN)
            listed = json.loads(ask(port, f"/api/runs?token={TOKEN}")[2])
            must(len(listed["runs"]) == 1, f"the runs are {listed}")
            browsed(port, folder)
        tunnelled(logdir)
        opened(logdir)
        sixth(logdir)
        watched(logdir, folder)
        on_a_terminal()
    return doors.ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
