#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gs:// against fake-gcs-server, and against a store of our own that keeps generations: gs_test.py

What that server does not check (conditions of compose, delete and reading) the proxy checks, as the store itself does.
"""
import gzip
import json
import unittest
from urllib.parse import quote

import given

given.under_remote_python()
from battery import Battery, Given, main
from keeping import Store
from proxy import Answer, Proxy

BUCKET = "profiles"
KEPT = ("contentType", "contentEncoding", "contentDisposition", "contentLanguage", "cacheControl", "metadata")


def refused(status, text):
    return Answer(status, [("Content-Type", "application/json")], json.dumps({"error": {"code": status, "message": text}}).encode())


def guard(proxy, asked):
    """Conditions on the generation of an object, for requests of which the server does not check them."""
    wanted, path = asked.query.get("ifGenerationMatch"), asked.path.split("?")[0]
    if wanted is None or path.startswith("/upload/"):
        return None
    for ending in ("/compose",):
        path = path[:-len(ending)] if path.endswith(ending) else path
    path = path.replace("/download/", "/")
    now = proxy.forward(asked._replace(method="GET", path=path, body=b""))
    if now.status != 200:
        return now
    return None if json.loads(now.body)["generation"] == wanted else refused(412, "Precondition Failed")


class Google:
    """A bucket of a server that speaks the JSON API, asked without the helper."""

    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}"
        given.http("POST", f"{self.base}/storage/v1/b?project=p", json.dumps({"name": BUCKET}).encode(),
                   {"Content-Type": "application/json"})

    def path(self, name):
        return f"{self.base}/storage/v1/b/{BUCKET}/o/{quote(name, safe='')}"

    def put(self, name, data, **description):
        parts = [b"Content-Type: application/json\r\n\r\n" + json.dumps({"name": name, **description}).encode(),
                 b"Content-Type: " + description.get("contentType", "application/octet-stream").encode() + b"\r\n\r\n" + data]
        body = b"".join(b"--part\r\n" + part + b"\r\n" for part in parts) + b"--part--"
        return json.loads(given.http("POST", f"{self.base}/upload/storage/v1/b/{BUCKET}/o?uploadType=multipart", body,
                                     {"Content-Type": "multipart/related; boundary=part"}))

    def get(self, name, **query):
        more = "".join(f"&{key}={value}" for key, value in query.items())
        return given.http("GET", f"{self.path(name)}?alt=media{more}")

    def about(self, name):
        return json.loads(given.http("GET", self.path(name)))

    def delete(self, name):
        given.http("DELETE", self.path(name))

    def names(self):
        return {row["name"] for row in json.loads(given.http("GET", f"{self.base}/storage/v1/b/{BUCKET}/o")).get("items", [])}


class OfGoogle(Given):
    """What all fakes of the store have to show."""
    write = r"POST .*/compose"
    fetch = r"GET /download/"
    stat_of = r"GET /storage/v1/b/profiles/o/[^?]*$"
    shared_hows = ("compose", "upload")
    denied = refused(401, "Request had bad authentication credentials.")

    def url(self, name):
        return f"gs://{BUCKET}/{name}"

    def put_raw(self, name, data, **description):
        self.google.put(name, data, **description)

    def raw(self, name):
        return self.google.get(name)

    def description(self, name):
        found = self.google.about(name)
        return {key: found[key] for key in KEPT if found.get(key)}

    def described(self, description):
        mine = {key: value for key, value in description.get("metadata", {}).items() if key != "tpusight-native"}
        rest = {key: value for key, value in description.items() if key != "metadata"}
        return {**rest, "metadata": mine} if mine else rest

    def names(self):
        return self.google.names()

    def delete_raw(self, name):
        self.google.delete(name)

    def test_what_users_wrote_about_an_object_stays(self):
        base, generation = self.given_base(contentType="text/x-profile", metadata={"owner": "us", "run": "7"}, cacheControl="no-store")
        before = self.description(self.name)
        self.assertEqual(before["metadata"], {"owner": "us", "run": "7"})
        done = self.append(base, b"tail", generation)
        self.assertEqual(self.described(self.description(self.name)), before)
        self.helper.do("cut", url=self.url(self.name), size=len(base), if_generation=done["generation"])
        self.assertEqual(self.description(self.name), before)

    def test_a_bucket_that_is_not_there(self):
        with self.assertRaises(given.Failed) as caught:
            self.helper.do("stat", url="gs://other-bucket/not/there")
        self.assertEqual(caught.exception.code, "not_found")

    def test_an_address_without_a_bucket(self):
        with self.assertRaises(given.Failed) as caught:
            self.helper.do("list", url="gs:///x")
        self.assertIn("gs://BUCKET", caught.exception.text)

    def test_forbidden_names_the_role(self):
        self.given_base(100)
        self.proxy.rule(self.stat_of, answer=refused(403, "x@y does not have storage.objects.get access"))
        self.assertRegex(self.refused("denied", "stat"), "storage.objects.get access.*Storage Object User")


class FakeGcsServer(OfGoogle, Battery, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        port = given.free_port()
        cls.proxy = Proxy(port, guard)
        cls.server = given.Server([given.tool("fake-gcs-server"), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend",
                                   "memory", "-external-url", f"http://127.0.0.1:{cls.proxy.port}", "-log-level", "error"], port)
        cls.addClassCleanup(cls.server.close)
        cls.google = Google(port)
        cls.env = {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{cls.proxy.port}"}


class Direct:
    """The store of our own, asked without the helper."""

    def __init__(self, bucket):
        self.bucket = bucket

    def put(self, name, data, **description):
        with self.bucket.lock:
            return self.bucket.put(name, data, description)

    def get(self, name):
        return self.bucket.live[name][1]

    def about(self, name):
        return self.bucket.live[name][0]

    def delete(self, name):
        with self.bucket.lock:
            self.bucket.drop(name)

    def names(self):
        return set(self.bucket.live)


class OfKeeping(OfGoogle):
    """A bucket that keeps generations."""
    shared_hows = ("compose", "generation")
    keeps = None

    @classmethod
    def setUpClass(cls):
        store = Store()
        cls.addClassCleanup(store.server_close)
        cls.addClassCleanup(store.shutdown)
        cls.proxy = Proxy(store.port)
        store.address = f"http://127.0.0.1:{cls.proxy.port}"
        cls.bucket = store.bucket
        cls.google = Direct(store.bucket)
        cls.env = {"STORAGE_EMULATOR_HOST": store.address}

    def setUp(self):
        super().setUp()
        self.bucket.keeps = self.keeps

    def test_nothing_is_uploaded_to_take_a_tail_away_or_to_change_it(self):
        base, generation = self.given_base()
        done = self.append(base, b"tail one", generation)
        self.proxy.forget()
        done = self.append(base, b"tail two", done["generation"])
        self.assertEqual((done["how"], done["uploaded"], self.raw(self.name)), ("compose", 8, base + b"tail two"))
        done = self.helper.do("cut", url=self.url(self.name), size=len(base), if_generation=done["generation"])
        self.assertEqual((done["how"], done["uploaded"], self.raw(self.name)), ("generation", 0, base))
        self.assertLess(self.proxy.uploaded(), 10_000)

    def test_what_was_kept_and_is_gone_is_uploaded(self):
        base, generation = self.given_base(40_000_000)  # several chunks
        done = self.append(base, b"tail one", generation)
        self.bucket.kept.clear()
        done = self.append(base, b"tail two", done["generation"])
        self.assertEqual((done["how"], done["uploaded"], self.raw(self.name)), ("upload", len(base) + 8, base + b"tail two"))
        done = self.helper.do("cut", url=self.url(self.name), size=len(base), if_generation=done["generation"])
        self.assertEqual((done["how"], done["uploaded"], self.raw(self.name)), ("upload", len(base), base))

    def test_a_kept_generation_of_another_size_is_not_taken(self):
        base, generation = self.given_base()
        self.append(base, b"tail", generation)
        done = self.helper.do("cut", url=self.url(self.name), size=len(base) - 1, native=generation)
        self.assertEqual((done["how"], self.raw(self.name)), ("upload", base[:-1]))

    def test_a_writer_between_looking_and_taking_away_wins(self):
        base, generation = self.given_base()
        done = self.append(base, b"tail", generation)
        self.proxy.rule(r"POST .*/(restore|rewriteTo)", before=lambda: self.put_raw(self.name, b"another"))
        self.refused("changed", "cut", size=len(base), if_generation=done["generation"])
        self.assertEqual(self.raw(self.name), b"another")

    def test_objects_that_are_stored_packed_come_as_they_are_stored(self):
        packed = gzip.compress(given.some_bytes(20_000_000))
        self.put_raw(self.name, packed, contentEncoding="gzip")
        self.helper.do("read", url=self.url(self.name), file=self.file())
        self.assertEqual(self.bytes_of(self.file()), packed)

    def test_a_tail_of_a_day_ago_is_deleted_and_a_young_one_is_not(self):
        base, generation = self.given_base()
        for ending in ("old", "young"):
            self.put_raw(f"{self.name}.tpusight-tail.{ending}", b"x")
        self.bucket.live[self.name + ".tpusight-tail.old"][0]["updated"] = "2020-01-01T00:00:00Z"
        self.append(base, b"tail", generation)
        self.assertEqual({name for name in self.names() if name.startswith(self.name)}, {self.name, self.name + ".tpusight-tail.young"})

    def test_a_tail_has_the_class_of_its_object(self):
        base, generation = self.given_base(storageClass="NEARLINE")
        self.append(base, b"tail", generation)  # the store refuses sources of two classes
        self.assertEqual(self.google.about(self.name)["storageClass"], "NEARLINE")

    def test_requests_of_an_append(self):
        base, generation = self.given_base()
        self.proxy.forget()
        done = self.append(base, b"tail", generation)
        self.assertEqual([asked.method for asked in self.proxy.log], ["GET", "GET", "POST", "PUT", "POST", "DELETE"])
        self.proxy.forget()
        self.helper.do("cut", url=self.url(self.name), size=len(base), if_generation=done["generation"])
        self.assertLessEqual(len(self.proxy.log), 5)


class Versions(OfKeeping, Battery, unittest.TestCase):
    keeps = "versions"


class Softly(OfKeeping, unittest.TestCase):
    keeps = "softly"


if __name__ == "__main__":
    main()
