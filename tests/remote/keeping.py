# SPDX-License-Identifier: MIT
"""A small store that speaks the JSON API of Google Cloud Storage, and keeps generations: as versions, or deleted softly.

It checks every condition, composes of given generations, copies and restores them. fake-gcs-server has none of that. Only what the helper
asks for is here; whatever else is asked is answered with 501, so that a test fails.
"""
import http.server
import itertools
import json
import re
import threading
from datetime import datetime, timezone
from urllib.parse import parse_qsl, unquote, urlsplit

GIVEN = ("contentType", "contentEncoding", "contentDisposition", "contentLanguage", "cacheControl", "storageClass", "metadata",
         "customTime")


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status, self.text = status, text


class Bucket:
    """Objects: the live one of each name, and those that were. KEEPS is "versions", "softly" or None."""

    def __init__(self):
        self.lock, self.keeps, self.numbers = threading.RLock(), None, itertools.count(1700000000000001)
        self.live, self.kept, self.sessions = {}, {}, {}

    def put(self, name, data, given):
        generation = str(next(self.numbers))
        about = {key: given[key] for key in GIVEN if given.get(key)}
        about = {"contentType": "application/octet-stream", "storageClass": "STANDARD", **about, "name": name, "generation": generation,
                 "size": str(len(data)), "updated": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")}
        self.drop(name)
        self.live[name] = (about, data)
        return about

    def drop(self, name):
        if name in self.live:
            about, data = self.live.pop(name)
            if self.keeps:
                self.kept[name, about["generation"]] = (about, data)

    def get(self, name, generation=None, softly=False):
        """Soft-deleted ones only for who asks for them."""
        now = self.live.get(name)
        if generation in (None, now and now[0]["generation"]) and now and not softly:
            return now
        old = self.kept.get((name, generation))
        if old is None or (self.keeps == "softly") != softly:
            raise Refused(404, "No such object")
        return old

    def check(self, name, query):
        wanted = query.get("ifGenerationMatch")
        now = self.live[name][0]["generation"] if name in self.live else "0"
        if wanted not in (None, now):
            raise Refused(412, "At least one of the pre-conditions you specified did not hold.")

    # Requests.
    def listed(self, query):
        prefix, mark = query.get("prefix", ""), query.get("delimiter")
        rows, folders = [], set()
        for name, (about, _) in sorted(self.live.items()):
            if name.startswith(prefix):
                head, found, _ = name[len(prefix):].partition(mark) if mark else ("", "", "")
                if found:
                    folders.add(prefix + head + mark)
                else:
                    rows.append(about)
        return {"items": rows, "prefixes": sorted(folders)}

    def begun(self, query, body):
        self.check(query["name"], query)
        number = str(next(self.numbers))
        self.sessions[number] = (query, json.loads(body or b"{}"), bytearray())
        return number

    def filled(self, number, span, body):
        if number not in self.sessions:
            raise Refused(410, "Gone")
        query, given, data = self.sessions[number]
        start, end = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", span).groups()
        if start is not None and int(start) != len(data):
            raise Refused(400, "invalid range")
        data += body
        if end == "*":
            return None
        if len(data) != int(end):
            raise Refused(400, "invalid size")
        self.check(query["name"], query)
        del self.sessions[number]
        return self.put(query["name"], bytes(data), given)

    def composed(self, name, query, body):
        asked = json.loads(body)
        self.check(name, query)
        sources = [self.get(row["name"], row.get("generation")) for row in asked["sourceObjects"]]
        if len({about["storageClass"] for about, _ in sources}) != 1 or len(sources) > 32:
            raise Refused(400, "sources are of several classes, or too many")
        return self.put(name, b"".join(data for _, data in sources), asked["destination"])

    def copied(self, name, query, body):
        self.check(name, query)
        about, data = self.get(name, query["sourceGeneration"])
        if "rewriteToken" not in query and len(data) > 1 << 20:  # large objects take two calls
            return {"done": False, "rewriteToken": "t"}
        return {"done": True, "resource": self.put(name, data, json.loads(body) or about)}

    def restored(self, name, query):
        self.check(name, query)
        about, data = self.get(name, query["generation"], softly=True)
        del self.kept[name, query["generation"]]
        return self.put(name, data, about)

    def deleted(self, name, query):
        self.check(name, query)
        about, _ = self.get(name, query.get("generation"))
        if name in self.live and self.live[name][0] is about:
            self.drop(name)
        else:
            del self.kept[name, about["generation"]]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        try:
            with self.server.bucket.lock:
                self.routed(parts.path, query, body)
        except Refused as e:
            self.say(e.status, json.dumps({"error": {"code": e.status, "message": e.text}}).encode())

    def routed(self, path, query, body):
        bucket, method = self.server.bucket, self.command
        found = re.fullmatch(r"(/upload|/download)?/storage/v1/b/[^/]+/o(?:/([^/]*))?(?:/(compose|restore|rewriteTo)(?:/.*)?)?", path)
        if not found:
            raise Refused(501, f"{method} {path}")
        door, name, verb = found[1], unquote(found[2] or ""), found[3]
        if door == "/upload":
            self.upload(query, body)
        elif method == "GET" and query.get("alt") == "media":
            self.media(name, query)
        elif method == "DELETE":
            bucket.deleted(name, query)
            self.say(204, b"")
        else:
            answers = {("GET", None): lambda: bucket.get(name, query.get("generation"), query.get("softDeleted") == "true")[0] if name
                       else bucket.listed(query),
                       ("POST", "compose"): lambda: bucket.composed(name, query, body),
                       ("POST", "rewriteTo"): lambda: bucket.copied(name, query, body),
                       ("POST", "restore"): lambda: bucket.restored(name, query)}
            if (method, verb) not in answers:
                raise Refused(501, f"{method} {path}")
            self.say(200, json.dumps(answers[method, verb]()).encode())

    def upload(self, query, body):
        bucket = self.server.bucket
        if "upload_id" not in query:
            number = bucket.begun(query, body)
            self.say(200, b"", Location=f"{self.server.address}/upload/storage/v1/b/b/o?upload_id={number}")
        elif self.command == "DELETE":
            bucket.sessions.pop(query["upload_id"], None)
            self.say(499, b"")
        else:
            done = bucket.filled(query["upload_id"], self.headers["Content-Range"], body)
            if done:
                self.say(200, json.dumps(done).encode())
            else:
                stored = len(bucket.sessions[query["upload_id"]][2])
                self.say(308, b"", Range=f"bytes=0-{stored - 1}")

    def media(self, name, query):
        bucket = self.server.bucket
        about, data = bucket.get(name, query.get("generation"))
        bucket.check(name, query)
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if span and int(span[1]) >= len(data):
            raise Refused(416, "range")
        packed = {"Content-Encoding": about["contentEncoding"]} if "contentEncoding" in about else {}
        self.say(206 if span else 200, data[int(span[1]):int(span[2]) + 1] if span else data, **packed,
                 **{"X-Goog-Generation": about["generation"]})

    def say(self, status, body, **headers):
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = any


class Store(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.bucket, self.address = Bucket(), ""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def handle_error(self, request, client_address):
        pass  # connections break here on purpose
