#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tpusight live as its user runs it, against servers made for it: service_test.py [PART...]

  - alerts    what the doctor says of a profile on disk is what a job that sends it raises, by the same thresholds
  - hosts     the sample of many hosts, one of them slow and one dead, has the numbers of the same files' report
  - command   --on-alert: hostile text stays text, eight at a time, none is left behind
  - endings   --for, --fail-on, Ctrl-C, a closed pipe, a full disk, ports where something else answers
  - metrics   /metrics is Prometheus' text format, and says what the JSON lines say
  - capture   --on-alert=capture keeps a session in a log directory, once
  - view      the terminal's screen, at several sizes
$TPUSIGHT names the program, $FAKE_SERVER the servers (tests/live/fake_server).
"""
import concurrent.futures
import contextlib
import fcntl
import glob
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
import wire
from helpers import DATA, PROGRAM, ended, must, need, planted, report

FAKE_SERVER = os.path.abspath(os.environ.get("FAKE_SERVER", "tests/live/fake_server"))
SILENT = 7  # enum fake_way
BUSY_S = 60  # a machine that does much else takes less for what ends at once; what would end it otherwise takes longer
# Findings of the doctor that live reports by a figure, or by its watch over programs.
NOT_BY_FINDING = {"mxu_utilization", "padding_waste", "recompilation"}


class Servers:
    """Fake profiler servers, one for each XSpace file; .addresses are theirs."""

    def __init__(self, *files):
        self.process = subprocess.Popen([FAKE_SERVER, *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addresses = [f"127.0.0.1:{self.process.stdout.readline().strip()}" for _ in files]

    def command(self, line):
        print(line, file=self.process.stdin, flush=True)
        must(self.process.stdout.readline() == "ok\n", f"the server does not obey: {line}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def live(*options, addresses, **popen):
    """(status, [events], what was complained of)"""
    done = subprocess.run([PROGRAM, "live", "--json", f"--service={','.join(addresses)}", *options],
                          capture_output=True, text=True, timeout=120, **popen)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def raised(events):
    return {e["rule"] for e in events if e["type"] == "alert" and e["state"] == "raised"}


def expected_alerts(report):
    """Of a report: what should be raised of it. Figures have limits of their own, whatever could be gained."""
    overview = report["overview"]
    rules = {f["rule"] for f in report["doctor"]["findings"] if f["severity"] != "info"} - NOT_BY_FINDING
    if (overview["mxu_utilization_pct"] or 100) < 50:
        rules.add("mxu_utilization_low" if overview["mxu_utilization_pct"] < 30 else "mxu_utilization_warning")
    if (overview["padding_waste_pct"] or 0) > 30:
        rules.add("padding_waste_high")
    return rules


def alerts_are_the_doctors(folder):
    seen = set()
    for archive in sorted(glob.glob(os.path.join(DATA, "planted", "*.tar.gz"))):
        name = os.path.basename(archive)[:-len(".tar.gz")]
        files = planted(name, folder)
        with Servers(*files) as servers:
            code, events, complaint = live("--hold=0", "--for=400ms", "--interval=50ms", addresses=servers.addresses)
        must(code == 0 and not complaint, f"{name}: status {code}: {complaint}")
        expect = expected_alerts(report(os.path.join(folder, name)))
        got = raised(events) - {"recompilation"}
        must(got == expect, f"{name}: raised {sorted(got)}, the doctor says {sorted(expect)}")
        must(("recompilation" in raised(events)) == (name == "recompiles"), f"{name}: {sorted(raised(events))}")
        seen |= got
    must(len(seen) >= 14, f"the planted runs should raise more kinds of alerts: {sorted(seen)}")


def alerts_have_words(folder):
    files = planted("padding", folder)
    with Servers(*files) as servers:
        _, events, _ = live("--hold=0", "--for=300ms", addresses=servers.addresses)
    alert = next(e for e in events if e["type"] == "alert" and e["rule"] == "padding_waste_high")
    must(52 < alert["value"] < 53 and alert["threshold"] == 30, f"padding: {alert}")
    must("multiply_add_fusion" in (alert["evidence"] or ""), f"padding: the op is not named: {alert}")
    must(alert["advice"], f"padding: no advice: {alert}")


def thresholds_are_obeyed(folder):
    """Each by --threshold and by --config, once beyond what was measured, once back."""
    rows = [("padding", "padding_waste_high", 60, "padding_waste_high"),
            ("layout_copies", "layout_copy_high", 90, "layout_copies"), ("gaps", "idle_high", 90, "idle"),
            ("remat", "rematerialization_high", 90, "rematerialization"), ("input", "input_high", 90, "input_bound"),
            ("host_copies", "host_transfer_high", 99, "host_copies"),
            ("waits", "async_exposed_high", 90, "exposed_async"),
            ("collectives", "communication_high", 99, "exposed_collectives"),
            ("small_ops", "small_ops_high", 99, "small_ops"), ("heads", "mxu_fill_low", 10, "matmul_fill"),
            ("slow_every_fifth", "slow_step_high", 1000, "slow_steps"),
            ("heads", "mxu_utilization_low", 0, "mxu_utilization_low")]
    config = os.path.join(folder, "config.json")
    for name, threshold, value, rule in rows:
        with open(config, "w", encoding="utf-8") as f:
            json.dump({"thresholds": {threshold: value}}, f)
        with Servers(*planted(name, folder)) as servers:
            def raises(*options, name=name, rule=rule, servers=servers):
                code, events, complaint = live("--hold=0", "--for=150ms", "--interval=50ms", *options,
                                               addresses=servers.addresses)
                must(code == 0, f"{name} {options}: status {code}: {complaint}")
                return rule in raised(events)
            must(raises(), f"{name}: {rule} is not raised by itself")
            must(not raises(f"--threshold={threshold}={value}"), f"{name}: --threshold={threshold} changes nothing")
            must(not raises(f"--config={config}"), f"{name}: --config with {threshold} changes nothing")


def hosts_are_one_run(folder):
    names = ["gaps", "heads", "remat", "input", "waits", "ring"]
    files = planted("two_hosts", folder) + [planted(name, folder)[0] for name in names]
    session = os.path.join(folder, "merged", "plugins", "profile", "one")
    os.makedirs(session)
    with Servers(*files) as servers:
        for i, file in enumerate(files[:-1]):
            port = servers.addresses[i].split(":")[1]  # hosts in the order of the report's, which goes by names
            shutil.copy(file, os.path.join(session, f"{i}_{port}.xplane.pb"))
        servers.command("delay 3 700")
        servers.command("kill 7")
        code, events, _ = live("--for=2500ms", "--interval=100ms", addresses=servers.addresses)
        must(code == 4, f"hosts: one never answered, status {code}")
        compare(report(os.path.join(folder, "merged")), events, hosts=7, first=files[0])
        servers.command("start 7")
        servers.command(f"way 7 {SILENT}")
        code, events, _ = live("--for=3s", "--interval=100ms", "--hlo=always", addresses=servers.addresses)
        must(code == 4, f"hosts: one never answered in time, status {code}")
        compare(report(os.path.join(folder, "merged")), events, hosts=7, first=files[0], silent="late")
        servers.command("way 7 0")
        servers.command("delay 3 0")
        shutil.copy(files[-1], os.path.join(session, "7.xplane.pb"))
        code, events, _ = live("--for=500ms", "--interval=100ms", addresses=servers.addresses)
        must(code == 0, f"hosts: all answer, status {code}")
        compare(report(os.path.join(folder, "merged")), events, hosts=8, first=files[0], silent=None)


def marks_of(file):
    """When the steps of a profile's host began, and how long they lasted, in ps: the events that have a stat step_num."""
    def of(message, number):
        return [value for field, _, value in wire.fields(message) if field == number]
    starts, lasted = [], []
    for plane in of(pathlib.Path(file).read_bytes(), 1):
        names = {sum(of(entry, 1)): of(of(entry, 2)[0], 2) for entry in of(plane, 5)}
        wanted = {id for id, name in names.items() if name == [b"step_num"]}
        for line in of(plane, 3) if of(plane, 2)[0].startswith(b"/host:") else []:
            begin = sum(of(line, 3)) * 1000
            for event in of(line, 4):
                if any(wanted & set(of(stat, 1)) for stat in of(event, 4)):
                    starts.append(begin + sum(of(event, 2)))
                    lasted.append(sum(of(event, 3)))
    return sorted(starts), lasted


def compare(answer, events, hosts, first, silent="down"):
    """Every sample against the report of the same files: the same numbers, not nearly the same."""
    samples = [e for e in events if e["type"] == "sample"]
    overview, times = answer["overview"], answer["time"]
    expect = {name: overview[name] for name in ("mxu_utilization_pct", "hbm_utilization_pct", "duty_cycle_pct",
                                                "padding_waste_pct", "health_score")}
    starts, lasted = marks_of(first)
    expect["step_time_ps"] = statistics.median(after - before for before, after in zip(starts, starts[1:]))
    expect["step_marked_ps"] = statistics.median(lasted)
    for name in ("idle", "communication", "input"):
        expect[f"{name}_pct"] = times["buckets"][f"{name}_ps"] / times["total_ps"] * 100
    must(samples, "hosts: no sample")
    for sample in samples:
        states = [s["state"] for s in sample["services"]]
        must(states == ["up"] * 7 + [silent or "up"], f"hosts: {states}")
        must(sample["hosts"] == hosts, f"hosts: {sample['hosts']} of {hosts} in the sample")
        got = {name: sample["metrics"][name] for name in expect}
        must(got == expect, f"hosts: {got}, the report says {expect}")


def hostile_text(folder):
    """A copy of a profile whose op has a name that a shell would take to heart, and one of a megabyte."""
    marker = os.path.join(folder, "marker")
    source = planted("padding", folder)[0]
    with open(source, "rb") as f:
        data = f.read()
    old = b"multiply_add_fusion"
    new = b"$(>m);`>m`;\"'\n>m"
    new += b"x" * (len(old) - len(new))
    must(len(old) == len(new), "hostile: lengths")
    path = os.path.join(folder, "hostile.xplane.pb")
    with open(path, "wb") as f:
        f.write(data.replace(old, new))
    return path, marker


def command_is_safe(folder):
    path, _ = hostile_text(folder)
    out = os.path.join(folder, "words")
    here = os.path.join(folder, "cwd")
    os.makedirs(here)
    command = f'printf "%s\\n" "$TPUSIGHT_ALERT_RULE|$TPUSIGHT_ALERT_EVIDENCE" >> {out}'
    with Servers(path) as servers:
        code, events, complaint = live("--hold=0", "--for=500ms", f"--on-alert={command}", addresses=servers.addresses,
                                       cwd=here)
    must(code == 0 and not complaint, f"command: status {code}: {complaint}")
    with open(out, encoding="utf-8") as f:
        text = f.read()
    alerts = [e for e in events if e["type"] == "alert"]
    must(any("$(>m);`>m`" in (e["evidence"] or "") for e in alerts), "command: the hostile name is not in the evidence")
    must("$(>m);`>m`;\"'" in text, f"command: the name did not come through: {text}")
    must(len(text.splitlines()) == len(alerts), f"command: {len(alerts)} alerts, {text}")
    must(os.listdir(here) == [], f"command: a name was run: {os.listdir(here)}")


def commands_are_bounded(folder):
    """Commands that do not end: eight run, and for more alerts a message says that none was started."""
    busy, quiet = planted("small_ops", folder)[0], planted("clean", folder)[0]
    with Servers(busy) as servers:
        options = ["--hold=0", "--clear-after=0", "--interval=20ms", "--for=60s", "--on-alert=exec sleep 60 2>&-"]
        counts, complaint, told = [], "", pathlib.Path(folder, "complaint")
        with open(told, "wb") as stderr:
            process = subprocess.Popen([PROGRAM, "live", "--json", f"--service={servers.addresses[0]}", *options],
                                       stdout=subprocess.DEVNULL, stderr=stderr)
            while len(counts) < 400 and "8 commands still run" not in complaint:
                time.sleep(0.1)
                counts.append(len(children(process.pid)))
                servers.command(f"say 0 {quiet if len(counts) % 2 else busy}")
                complaint = told.read_text()
            process.terminate()
            for pid in children(process.pid):
                os.kill(pid, signal.SIGKILL)
            process.wait(60)
    must(max(counts) == 8, f"command: at a time {counts}")
    must("8 commands still run" in complaint, f"command: {complaint}")


def children(pid):
    """{pid: state} of a process's children, dead ones (Z) too."""
    found = {}
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            state, parent = text[text.rindex(")") + 2:].split()[:2]
            if int(parent) == pid:
                found[int(path.split("/")[2])] = state
    return found


def commands_are_reaped(folder):
    with Servers(planted("small_ops", folder)[0]) as servers:
        options = ["--hold=0", "--for=600s", "--interval=50ms", "--on-alert=true"]
        process = subprocess.Popen([PROGRAM, "live", "--json", f"--service={servers.addresses[0]}", *options],
                                   stdout=subprocess.PIPE, text=True)
        while '"type":"alert"' not in process.stdout.readline().replace(" ", "") and process.poll() is None:
            pass
        threading.Thread(target=process.stdout.read, daemon=True).start()  # so that it goes on
        end = time.monotonic() + BUSY_S
        while "Z" in (states := children(process.pid)).values() and time.monotonic() < end:
            time.sleep(0.1)
        must("Z" not in states.values(), f"command: a zombie is left: {states}")
        process.terminate()
        must(process.wait(BUSY_S) == 0, "command: status")


def commands(folder):
    command_is_safe(folder)
    if os.path.isdir("/proc/self"):
        commands_are_bounded(folder)
        commands_are_reaped(folder)


def run_until(number, addresses, ready=None, hangup=signal.SIG_DFL, **options):
    """Status, seconds and words of a watch that gets signal NUMBER once READY(process) returns, which is what it read of the
    words; without READY, of one that ends."""
    start = time.monotonic()
    command = [PROGRAM, "live", f"--service={','.join(addresses)}", *(f"--{k}={v}" for k, v in options.items())]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, hangup))
    said = ""
    if ready:
        said = ready(process) or ""
        start = time.monotonic()
        process.send_signal(number)
    out, err = process.communicate(timeout=10 * BUSY_S)
    return process.returncode, time.monotonic() - start, said + out + err


def has_said(words):
    """READY: a line with these words was read."""
    def read(process):
        lines = []
        for line in iter(process.stdout.readline, ""):
            lines.append(line)
            if words in line:
                break
        return "".join(lines)
    return read


def endings(folder):
    with Servers(*planted("heads", folder), *planted("gaps", folder)) as servers:
        one = servers.addresses[:1]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            code, took, text = run_until(number, one, lambda process: time.sleep(0.05), interval="600s")
            must(code in (0, 3, -number) and took < BUSY_S, f"signal {number} at the start: {code}, {took:.1f} s: {text}")
            code, took, text = run_until(number, one, has_said(" (sample "), interval="600s")
            must(code == 0 and took < BUSY_S, f"signal {number} after a sample: {code}, {took:.1f} s: {text}")
        code, took, text = run_until(signal.SIGHUP, one, has_said(" (sample "), signal.SIG_IGN, interval="50ms", **{"for": "3s"})
        must(code == 0 and took > 1, f"under nohup it ended with its terminal: {code}, {took:.1f} s: {text}")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            silent, held = [f"127.0.0.1:{listener.getsockname()[1]}"], []

            def asked(_):
                held.append(listener.accept())
            code, took, text = run_until(signal.SIGINT, silent, asked, timeout="600s")
            held[0][0].close()
        story = f"Ctrl-C while nobody answers: {code}, {took:.1f} s: {text}"
        must(code == 3 and took < BUSY_S and "no host sent a sample" in text, story)
        servers.command(f"way 0 {SILENT}")
        code, took, text = run_until(None, one, **{"for": "300ms"})
        must(code == 3 and took < BUSY_S, f"--for while nobody answers: {code}, {took:.1f} s: {text}")
        servers.command("way 0 0")
        code, took, text = run_until(None, one, **{"for": "5s"})
        must(code == 0 and 4.9 < took < BUSY_S, f"--for: {code}, {took:.1f} s: {text}")
        code, took, text = run_until(None, one, **{"fail-on": "critical", "hold": "0", "for": "600s"})
        must(code == 1 and took < BUSY_S, f"--fail-on=critical: {code}, {took:.1f} s: {text}")
        gaps = servers.addresses[1:]
        code, took, text = run_until(signal.SIGINT, gaps, has_said(" (sample 2,"), interval="50ms", **{"fail-on": "critical", "hold": "0"})
        must(code == 0, f"a warning is not critical: {code}: {text}")
        code, took, text = run_until(None, gaps, **{"fail-on": "warning", "hold": "0", "for": "600s"})
        must(code == 1 and took < BUSY_S, f"--fail-on=warning: {code}, {took:.1f} s: {text}")
        outputs(one[0])


def outputs(address):
    """Standard output that ends, or cannot be written."""
    command = [PROGRAM, "live", f"--service={address}", "--interval=20ms", "--for=600s"]
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.stdout.close()
    complaint = process.stderr.read()
    story = f"a closed pipe: {process.wait(BUSY_S)}: {complaint}"
    must(process.returncode == 0 and time.monotonic() - start < BUSY_S and not complaint, story)
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=BUSY_S)
        story = f"a full disk: {done.returncode}: {done.stderr}"
        must(done.returncode == 4 and "standard output" in done.stderr, story)


def plain_lines(folder):
    """What is not a terminal gets lines: what changes of the host, a line a sample, the sum at the end."""
    with Servers(*planted("heads", folder)) as servers:
        code, _, text = run_until(signal.SIGINT, servers.addresses, has_said(" (sample 4,"), interval="400ms")
        lines = text.splitlines()
        clock = r"\d\d:\d\d:\d\d  "
        up = clock + re.escape(servers.addresses[0]) + " is up"
        must(code == 0 and re.fullmatch(up, lines[0]), f"plain: {lines}")
        for i, line in enumerate(line for line in lines[1:-1] if "sample " in line):
            tail = rf"\(sample {i + 1}, 1 host, .* in \d+ ms(, .* % of the time sampled)?\)"
            must(re.fullmatch(clock + r".*MXU .* %  .*step .*" + tail, line), f"plain: {line}")
        must(" % of the time sampled)" in lines[-2], f"plain: {lines[-2]}")
        tail = r"Sampled [\d.]+ % of the time\. .*Alerts: \d critical, \d warning\."
        must(re.fullmatch(r"\d+ samples? in \d+\.\d+ s\. " + tail, lines[-1]), f"plain: {lines[-1]}")
        must("\x1b" not in text, "plain: an escape")
        servers.command("kill 0")

        def again(process):
            said = has_said(" is down")(process)
            time.sleep(1)  # it is asked once more, or is late for it
            return said

        _, _, text = run_until(signal.SIGINT, servers.addresses, again, interval="100ms")
        must(text.count(" is down: no server answers there") == 1, f"plain: a host that is down is printed once: {text}")


def strangers():
    """Whatever listens there, it is reported, and nothing hangs or grows."""
    rows = {"closes": (lambda s: None, "ended without an answer"),
            "HTTP/1": (lambda s: s.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), "is it the port"),
            "TLS": (lambda s: s.sendall(b"\x15\x03\x01\x00\x02\x02\x46"), "is it the port"),
            "garbage": (lambda s: pour(s, os.urandom(65536)), "is it the port"),
            "zeros": (lambda s: pour(s, bytes(65536)), "is it the port"),
            "silence": (lambda s: time.sleep(2), "no answer within")}

    def watched(talk):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=serve, args=(listener, talk), daemon=True).start()
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            return run_until(None, [address], **{"for": "8s", "timeout": "500ms"})

    with concurrent.futures.ThreadPoolExecutor(len(rows)) as pool:
        outcomes = list(pool.map(lambda row: watched(row[0]), rows.values()))
    for (name, (_, words)), (code, took, text) in zip(rows.items(), outcomes):
        must(code == 3 and took < BUSY_S and words in text, f"{name}: status {code} after {took:.1f} s: {text}")


def serve(listener, talk):
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            with connection, contextlib.suppress(OSError):
                talk(connection)


def pour(connection, data):
    while True:
        connection.sendall(data)


class Screen:
    """As much of a terminal as the view uses: lines, the cursor home, clearing; colours are not looked at."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.clear()
        self.scrolled = self.wrapped = False
        self.other = self.cursor = None

    def clear(self):
        self.lines = [""] * self.rows
        self.row = self.column = 0

    def put(self, text):
        if text == "\n":
            self.row, self.column = self.row + 1, 0
            if self.row == self.rows:
                self.scrolled, self.row = True, self.rows - 1
                self.lines = self.lines[1:] + [""]
            return
        self.wrapped |= self.column >= self.columns
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + text + line[self.column + 1:]
        self.column += 1

    def escape(self, code):
        if code == "H":
            self.row = self.column = 0
        elif code == "K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif code == "J":
            self.lines[self.row] = self.lines[self.row][:self.column]
            self.lines[self.row + 1:] = [""] * (self.rows - self.row - 1)
        elif code == "?1049h":
            self.other = True
            self.clear()
        elif code == "?1049l":
            self.other = False
        elif code in ("?25l", "?25h"):
            self.cursor = code == "?25h"
        elif not code.endswith("m"):
            must(False, f"view: an escape that nobody needs: {code!r}")

    def feed(self, text):
        for part in re.split(r"(\x1b\[[?0-9;]*[A-Za-z])", text.replace("\r", "")):
            if part.startswith("\x1b["):
                self.escape(part[2:])
            else:
                for c in part:
                    self.put(c)


def watch_screen(columns, rows, addresses, *options, then=None):
    """(the screen at its last moment, the screen after the end, what stands on the terminal afterwards, status)"""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", TZ="UTC")
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.execv(PROGRAM, ["tpusight", "live", f"--service={','.join(addresses)}", *options])
    text = b""
    while True:
        if then and b"HBM" in text:
            then(fd)
            then = None
        if not select.select([fd], [], [], 0.05)[0]:
            continue
        try:
            text += os.read(fd, 65536)
        except OSError:
            break
    ended = os.waitpid(pid, 0)[1]
    status = os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else -os.WTERMSIG(ended)
    os.close(fd)
    inside, _, after = text.decode().partition("\x1b[?25h\x1b[?1049l")
    screen = Screen(columns, rows)
    screen.feed(inside)
    return screen, after, status


def masked(lines):
    """Times of day and of samples, ports, and the figures that depend on them are not the same twice."""
    text = "\n".join(line.rstrip() for line in lines).rstrip()
    text = re.sub(r"127\.0\.0\.1:\d+", "HOST", text)
    text = re.sub(r"live  .*  \(Ctrl", "live  TIME  (Ctrl", text)
    text = re.sub(r"in \d+ ms", "in TIME", text)
    text = re.sub(r"\d\d:\d\d:\d\d", "CLOCK", text)
    text = re.sub(r"(  sampled +)\S+ %  .*", r"\1SHARE", text)
    return re.sub("[\u2581-\u2588]+", "BLOCKS", text)


WIDE = """\
TPUsight live  TIME  (Ctrl-C ends it)
  HOST  up  8.94 KiB in TIME

  HBM                        96.9 %  BLOCKS  0 to 100.0 %
  duty                       97.2 %  BLOCKS  0 to 100.0 %
  padding                    52.5 %  BLOCKS  0 to 100.0 %
  idle                        2.3 %  BLOCKS  0 to 100.0 %
  communication               0.0 %  BLOCKS  0 to 100.0 %
  input                       0.5 %  BLOCKS  0 to 100.0 %
  compiling                   0.0 %  BLOCKS  0 to 100.0 %
  compilation per minute       0 ms  BLOCKS  0 to 0 ms
  step                     196.8 µs  BLOCKS  0 to 196.8 µs
  step's mark               5.00 µs  BLOCKS  0 to 5.00 µs
  sampled                     SHARE
  since the last step          0 ms  BLOCKS  0 to 0 ms
  health                         67  BLOCKS  0 to 100

Alerts
  warning: Padding waste is 52.5 % (limit: 30.0 %). EVIDENCE

  CLOCK  warning: Padding waste is 52.5 % (limit: 30.0 %)"""


NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')


def exposition(text):
    """{(name, labels): value} of Prometheus' text format 0.0.4, read strictly: ValueError where it is not that. Each name has
    its HELP and TYPE in front of it, once, its samples stand together, and none is there twice."""
    found, kinds, helped = {}, {}, set()
    if not text.endswith("\n"):
        raise ValueError("the last line has no end")
    name = None
    for line in text[:-1].split("\n"):
        words = line.split(" ")
        if line.startswith("# "):
            kind, of, rest = words[1], words[2], " ".join(words[3:])
            if kind not in ("HELP", "TYPE") or not NAME.fullmatch(of) or not rest or of in (helped if kind == "HELP" else kinds):
                raise ValueError(line)
            if kind == "HELP":
                helped.add(of)
            else:
                kinds[of] = rest
                if rest not in ("counter", "gauge", "histogram", "summary", "untyped"):
                    raise ValueError(line)
                name = of
            continue
        head, labels, value = re.fullmatch(r"([^{ ]+)(?:\{(.*)\})? (\S+)", line).groups()
        pairs = LABEL.findall(labels or "")
        if head != name or head not in helped or ",".join(f'{k}="{v}"' for k, v in pairs) != (labels or ""):
            raise ValueError(line)
        if kinds[head] == "counter" and not head.endswith("_total"):
            raise ValueError(f"a counter ends in _total: {line}")
        if (head, tuple(pairs)) in found:
            raise ValueError(f"twice: {line}")
        found[head, tuple(pairs)] = float(value)
    return found


BASE = {"_pct": ("_ratio", 100), "_ms": ("_seconds", 1e3), "_ps": ("_seconds", 1e12), "_bytes": ("_bytes", 1), "_score": ("_score", 1)}


def base(name, value):
    end = next(end for end in BASE if end in name)
    return name.replace(end, BASE[end][0]), value / BASE[end][1]


def metrics_are_prometheus(folder):
    with Servers(*planted("padding", folder)) as servers:
        command = [PROGRAM, "live", "--json", "--serve", "--port=0", "--hold=0", "--interval=600s", f"--service={servers.addresses[0]}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            page = re.search(r"http://\S+/", process.stderr.readline()).group()
            sample = next(e for e in map(json.loads, process.stdout) if e["type"] == "sample")
            until = time.monotonic() + BUSY_S
            while True:
                try:
                    with urllib.request.urlopen(f"{page}metrics") as answer:
                        kind, text = answer.headers["Content-Type"], answer.read().decode()
                    break
                except urllib.error.HTTPError as e:  # the line is out a moment before
                    must(e.code == 503 and time.monotonic() < until, f"metrics: {e}")
                    if time.monotonic() > until:
                        return
                    time.sleep(0.02)
            process.terminate()
    must(kind == "text/plain; version=0.0.4; charset=utf-8", f"metrics: {kind}")
    found = exposition(text)
    for parser in theirs():
        for family in parser(text):
            for one in family.samples:
                must(found[one.name, tuple(one.labels.items())] == one.value, f"metrics: prometheus_client reads {one}")
    for name, value in sample["metrics"].items():
        if value is not None:
            key, scaled = base(name, value)
            got = found.pop((f"tpusight_live_{key}", ()), None)
            must(got is not None and abs(got - scaled) <= 1e-9 * abs(scaled), f"metrics: {name} is {value}, {key} {got}")
    known = [name for name, _ in found if name.endswith(("_ratio", "_seconds", "_bytes", "_score")) and "timestamp" not in name]
    must(not known, f"metrics: what is not known has a line: {known}")
    must(found["tpusight_live_service_up", (("service", servers.addresses[0]),)] == 1, f"metrics: {found}")
    active = {dict(labels)["rule"] for name, labels in found if name == "tpusight_live_alert_active"}
    must(active == {alert["rule"] for alert in sample["alerts"]} and active, f"metrics: {active}, {sample['alerts']}")


def theirs():
    """Prometheus' own parser, where it is installed."""
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        return []
    return [text_string_to_metric_families]


def exposition_is_strict():
    good = "# HELP a_total b c\n# TYPE a_total counter\na_total{x=\"\\\\\\n\\\"\"} 1\n"
    must(exposition(good) == {("a_total", (("x", '\\\\\\n\\"'),)): 1}, "metrics: the parser")
    for bad in (good[:-1], good + good, good.replace("counter", "number"), good.replace('"} 1', '} 1'), good.replace("HELP", "HINT"),
                good.replace("a_total{", "b_total{"), good + "a_total{x=\"\\\\\\n\\\"\"} 2\n", good.replace("a_total", "a")):
        try:
            exposition(bad)
            must(False, f"metrics: the parser takes {bad!r}")
        except (ValueError, AttributeError, IndexError):
            continue


def captures_are_sessions(folder):
    logdir = os.path.join(folder, "captures")
    options = ["--hold=0", "--for=1500ms", "--interval=50ms", "--on-alert=capture", f"--capture-to={logdir}"]
    files = planted("padding", folder)
    with Servers(*files) as servers:
        code, events, complaint = live(*options, addresses=servers.addresses)
        must(code == 0 and not complaint, f"capture: status {code}, {complaint}")
        first = next(e for e in events if e["type"] == "alert")
        kept = [e for e in events if e["type"] == "sample" and e["captured"]]
        must(len(kept) == 1, f"capture: {len(kept)} captures")
        path = kept[0]["captured"]
        must(os.path.dirname(path) == os.path.join(logdir, f"alert_{first['rule']}", "plugins", "profile"), f"capture: {path}")
        name, = os.listdir(path)
        must(name == servers.addresses[0].replace(":", "_") + ".xplane.pb", f"capture: {name}")
        with open(os.path.join(path, name), "rb") as f, open(files[0], "rb") as original:
            must(f.read() == original.read(), "capture: not what the server sent")
        before, after = (report(p)["overview"] for p in (files[0], path))
        must(before == after, "capture: its report")
        code, events, _ = live(*options, "--fail-on=warning", "--threshold=padding_waste_high=10", addresses=servers.addresses)
        must(code == 1 and any(e["type"] == "sample" and e["captured"] for e in events), f"capture: before --fail-on: {code}")
        code, events, _ = live(*options, "--capture-to=/proc/nothing", addresses=servers.addresses)
        must(any("capture is not kept" in (e.get("problem") or "") for e in events), "capture: a folder that cannot be made")
        code, _, complaint = live("--on-alert=capture", addresses=servers.addresses)
        must(code == 2 and "--capture-to" in complaint, f"capture: {code}, {complaint}")


def view(folder):
    with Servers(*planted("padding", folder)) as servers:
        screen, after, status = watch_screen(500, 40, servers.addresses, "--hold=0", "--interval=100ms", "--for=1s",
                                             "--color=always")
        text = re.sub(r"(\)|memory)\. .*", r"\1. EVIDENCE", masked(screen.lines))
        must(text == WIDE, f"view: the screen is\n{text}\nand should be\n{WIDE}")
        must(status == 0 and re.search(r"^\r?\n?\d+ samples? in \d+\.\d+ s\. Sampled ", after), f"view: after: {after!r}")
        must(screen.cursor is False and screen.other, "view: the cursor, the other screen")
        for columns, rows in ((80, 24), (60, 12), (30, 10), (20, 5), (132, 3)):
            screen, after, status = watch_screen(columns, rows, servers.addresses, "--hold=0", "--interval=100ms",
                                                 "--for=600ms")
            story = f"view: {columns} x {rows}: " + "\n".join(screen.lines)
            must(not screen.scrolled and not screen.wrapped and status == 0, story)
            must(screen.lines[0].startswith("TPUsight") and screen.lines[1].startswith("  127"), story)

        def smaller(fd):
            fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 8, 50, 0, 0))
        screen, after, status = watch_screen(50, 8, servers.addresses, "--hold=0", "--interval=100ms", "--for=1s",
                                             then=smaller)
        must(not screen.scrolled and not screen.wrapped, "view: made smaller: " + "\n".join(screen.lines))
        screen, after, status = watch_screen(80, 24, servers.addresses, "--interval=100ms",
                                             then=lambda fd: os.write(fd, b"\x03"))
        must(status == 0 and " in " in after, f"view: Ctrl-C: {status}, {after!r}")
    many_hosts(folder)


def many_hosts(folder):
    """More hosts than lines: those in trouble are seen."""
    files = planted("padding", folder) * 12
    with Servers(*files) as servers:
        servers.command("kill 11")
        screen, _, _ = watch_screen(100, 24, servers.addresses, "--interval=100ms", "--for=600ms")
        lines = [line for line in screen.lines if line.startswith("  127")]
        must(len(lines) == 5 and servers.addresses[11] in lines[0] and "down" in lines[0], f"view: {lines}")
        must("  and 7 more" in [line.rstrip() for line in screen.lines], "view: " + "\n".join(screen.lines))


PARTS = {
    "alerts": lambda folder: (alerts_are_the_doctors(folder), alerts_have_words(folder), thresholds_are_obeyed(folder)),
    "hosts": hosts_are_one_run,
    "command": commands,
    "endings": lambda folder: (endings(folder), plain_lines(folder), strangers()),
    "metrics": lambda folder: (exposition_is_strict(), metrics_are_prometheus(folder)),
    "capture": captures_are_sessions,
    "view": view,
}


def main():
    need(PROGRAM, FAKE_SERVER)
    for part in sys.argv[1:] or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[part](folder)
    return ended()


if __name__ == "__main__":
    sys.exit(main())
