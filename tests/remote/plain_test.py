#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What fsspec knows beside the three clouds: files, memory, http: plain_test.py

Needs $TS_REMOTE_PYTHON, else this skips."""
import contextlib
import functools
import http.server
import os
import re
import threading
import unittest

import given

given.under_remote_python()

MIB = 1 << 20


class Ranged(http.server.SimpleHTTPRequestHandler):
    """Files with ranges and ETags; the standard library's server has neither."""
    ranges = True

    def log_message(self, *args):
        pass

    def body(self):
        path = self.translate_path(self.path)
        if not os.path.isfile(path):
            self.send_error(404)
            return None
        with open(path, "rb") as f:
            return f.read()

    def do_GET(self, head=False):
        if self.path.endswith("/"):
            return super().do_GET()
        data = self.body()
        if data is None:
            return None
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")) if self.ranges else None
        part = data[int(span[1]):int(span[2]) + 1] if span else data
        self.send_response(206 if span else 200)
        if span:
            self.send_header("Content-Range", f"bytes {span[1]}-{int(span[1]) + len(part) - 1}/{len(data)}")
        if self.ranges:
            self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{hash(data)}"')
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if not head:
            self.wfile.write(part)
        return None

    def do_HEAD(self):
        self.do_GET(head=True)


class Unranged(Ranged):
    ranges = False


class Plain(given.InFolder, unittest.TestCase):
    def started(self, url, command=None):
        helper = given.Helper(url, command=command)
        self.addCleanup(helper.kill)
        return helper

    @contextlib.contextmanager
    def refused(self, code):
        with self.assertRaises(given.Failed) as caught:
            yield
        self.assertEqual(caught.exception.code, code, caught.exception.text)


class Files(Plain):
    def setUp(self):
        super().setUp()
        self.url = f"file://{self.folder}/b"
        self.helper = self.started(self.url)

    def test_all_that_a_bucket_does(self):
        base = given.some_bytes(20 * MIB)
        self.file("b/s/h.xplane.pb", base)
        self.file("b/s/t/x", b"x")
        url, tail = self.url + "/s/h.xplane.pb", self.file("tail", b"tail" * 100)
        self.assertEqual(set(self.helper.entries(self.url, recursive=True)), {"s/h.xplane.pb", "s/t/x"})
        self.assertEqual(set(self.helper.entries(self.url + "/s")), {"h.xplane.pb", "t/"})
        at = self.helper.do("stat", url=url)["generation"]
        self.helper.do("read", url=url, file=self.file("copy", b""), offset=5, size=19 * MIB, at=0, generation=at)
        self.assertEqual(self.bytes_of(self.file("copy")), base[5:19 * MIB + 5])
        done = self.helper.do("append", url=url, size=len(base), file=tail, if_generation=at)
        self.assertEqual((done["how"], done["uploaded"]), ("upload", len(base) + 400))
        self.assertEqual(self.bytes_of(self.file("b/s/h.xplane.pb")), base + b"tail" * 100)
        with self.refused("changed"):
            self.helper.do("cut", url=url, size=len(base), if_generation=at)
        self.helper.do("cut", url=url, size=len(base), if_generation=done["generation"])
        self.assertEqual(self.bytes_of(self.file("b/s/h.xplane.pb")), base)
        self.assertEqual(os.listdir(self.file("b/s")).count("h.xplane.pb"), 1)
        self.assertEqual(len(os.listdir(self.file("b/s"))), 2)  # nothing is left beside it
        with self.refused("exists"):
            self.helper.do("put", url=url, file=tail, if_generation="")
        self.helper.do("delete", url=url, if_generation=self.helper.do("stat", url=url)["generation"])
        with self.refused("not_found"):
            self.helper.do("stat", url=url)

    def test_a_reader_sees_the_old_file_or_the_new_one(self):
        self.file("b/f", b"a" * MIB)
        held = open(self.file("b/f"), "rb")
        self.addCleanup(held.close)
        self.helper.do("append", url=self.url + "/f", size=MIB, file=self.file("tail", b"t"))
        self.assertEqual(held.read(), b"a" * MIB)  # another file has the name now


class Http(Plain):
    def serve(self, handler):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler, directory=self.folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        self.helper = self.started(self.url)

    def test_it_is_read_and_nothing_is_written(self):
        self.serve(Ranged)
        base = given.some_bytes(20 * MIB)
        self.file("s/h.xplane.pb", base)
        url = self.url + "/s/h.xplane.pb"
        self.assertEqual(self.helper.do("hello", version=1)["can"], [])
        self.assertEqual(self.helper.entries(self.url + "/s/")["h.xplane.pb"]["name"], "h.xplane.pb")
        self.helper.do("read", url=url, file=self.file("copy", b""))
        self.assertEqual(self.bytes_of(self.file("copy")), base)
        for op, args in (("put", {}), ("append", {"size": 5})):
            with self.refused("unsupported"):
                self.helper.do(op, url=url, file=self.file("tail", b"t"), **args)
        with self.refused("unsupported"):
            self.helper.do("delete", url=url)
        with self.refused("not_found"):
            self.helper.do("stat", url=url + "x")

    def test_an_object_that_changes_while_it_is_read(self):
        self.serve(Ranged)
        self.file("h", given.some_bytes(20 * MIB))
        at = self.helper.do("stat", url=self.url + "/h")["generation"]
        self.file("h", given.some_bytes(20 * MIB, 2))
        with self.refused("changed"):
            self.helper.do("read", url=self.url + "/h", file=self.file("copy", b""), generation=at)

    def test_a_server_without_ranges(self):
        self.serve(Unranged)
        self.file("h", given.some_bytes(20 * MIB))
        self.file("small", b"small")
        self.helper.do("read", url=self.url + "/small", file=self.file("copy", b""))
        self.assertEqual(self.bytes_of(self.file("copy")), b"small")
        with self.refused("unsupported"):
            self.helper.do("read", url=self.url + "/h", file=self.file("copy"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
