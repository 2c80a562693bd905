# SPDX-License-Identifier: MIT
"""A server between a helper and a store: it counts what is uploaded, and does what networks and stores do on bad days.

A rule looks at a request and says what happens to it; each rule applies a given number of times. What the fake stores do not check -
conditions of some requests - a guard checks here, asking the store under a lock, so that checking and doing are one step.
"""
import http.client
import http.server
import re
import socket
import ssl
import struct
import threading
import urllib.parse
from typing import NamedTuple


class Asked(NamedTuple):
    method: str
    path: str     # as it was sent, with its query
    headers: object
    body: bytes

    @property
    def query(self):
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query, keep_blank_values=True))


class Answer(NamedTuple):
    status: int
    headers: list
    body: bytes


class Rule:
    """What happens to requests whose "METHOD path" fits PATTERN: answer, reset, lost, short, before(), held."""

    def __init__(self, pattern, times=1, answer=None, reset=False, lost=False, short=False, before=None, held=False):
        self.pattern, self.left, self.answer, self.reset, self.lost, self.short = re.compile(pattern), times, answer, reset, lost, short
        self.before, self.held = before, held
        self.met, self.go = threading.Event(), threading.Event()

    def fits(self, asked):
        return self.left > 0 and self.pattern.search(f"{asked.method} {asked.path}")


def refused_in_xml(status, code, text="refused", *headers):
    body = f"<?xml version='1.0' encoding='utf-8'?><Error><Code>{code}</Code><Message>{text}</Message></Error>"
    return Answer(status, [("Content-Type", "application/xml"), *headers], body.encode())


def too_busy(seconds=1):
    return Answer(503, [("Retry-After", str(seconds)), ("Content-Type", "text/plain")], b"overloaded")


class Proxy(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port, guard=None, own_port=0, tls=None):
        """TLS: the files of a certificate and its key."""
        super().__init__(("127.0.0.1", own_port), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.store, self.guard = ("127.0.0.1", port), guard
        self.rules, self.log, self.lock = [], [], threading.RLock()
        self.changes = []  # (pattern of requests, what becomes of their answers)
        self.chunk = 0     # bytes of a chunk, where bodies are to be sent in chunks
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def rule(self, *args, **kwargs):
        rule = Rule(*args, **kwargs)
        with self.lock:
            self.rules.append(rule)
        return rule

    def forget(self):
        """No rules any more, and nothing counted."""
        with self.lock:
            for rule in self.rules:
                rule.go.set()
            self.rules, self.log = [], []

    def uploaded(self):
        """Bytes of bodies."""
        with self.lock:
            return sum(len(asked.body) for asked in self.log)

    def requests(self, pattern):
        with self.lock:
            return [asked for asked in self.log if re.search(pattern, f"{asked.method} {asked.path}")]

    def taken(self, asked):
        with self.lock:
            self.log.append(asked)
            for rule in self.rules:
                if rule.fits(asked):
                    rule.left -= 1
                    return rule
        return None

    def forward(self, asked):
        """What the store answers."""
        store = http.client.HTTPConnection(*self.store, timeout=120)
        try:
            store.putrequest(asked.method, asked.path, skip_host=True, skip_accept_encoding=True)
            for name, value in asked.headers.items():
                if name.lower() not in ("connection", "content-length", "transfer-encoding", "expect"):
                    store.putheader(name, value)
            store.putheader("Content-Length", str(len(asked.body)))
            store.endheaders(asked.body)
            answer = store.getresponse()
            body = answer.read()
            return Answer(answer.status, answer.getheaders(), body)
        finally:
            store.close()

    def answered(self, asked):
        if not self.guard:
            return self.forward(asked)
        with self.lock:
            answer = self.guard(self, asked) or self.forward(asked)
        for pattern, change in self.changes:
            if re.search(pattern, f"{asked.method} {asked.path}"):
                answer = change(answer)
        return answer

    def handle_error(self, request, client_address):
        pass  # connections break here on purpose


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return data
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def any(self):
        asked = Asked(self.command, self.path, self.headers, self.body())
        rule = self.server.taken(asked)
        if rule:
            rule.met.set()
            if rule.held and not rule.go.wait(120):
                return self.broken()
            if rule.before:
                rule.before()
            if rule.reset:
                return self.broken()
            if rule.answer:
                return self.say(rule.answer)
        answer = self.server.answered(asked)
        if rule and rule.lost:
            return self.broken()
        return self.say(answer, rule and rule.short)

    def say(self, answer, short=False):
        bodiless = self.command == "HEAD" or answer.status in (204, 304)
        length = next((value for name, value in answer.headers if name.lower() == "content-length"), str(len(answer.body)))
        self.send_response_only(answer.status)
        for name, value in answer.headers:
            if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                self.send_header(name, value)
        if self.server.chunk and not bodiless:
            self.say_in_chunks(answer.body, self.server.chunk)
            return
        if answer.status != 204:
            self.send_header("Content-Length", length if bodiless else str(len(answer.body)))
        self.end_headers()
        if bodiless:
            return
        self.wfile.write(answer.body[:len(answer.body) // 2] if short else answer.body)
        if short:
            self.wfile.flush()
            self.broken()

    def say_in_chunks(self, body, size):
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for at in range(0, len(body), size):
            piece = body[at:at + size]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def broken(self):
        """A reset: what was not read is lost."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_PATCH = any
