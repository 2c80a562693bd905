#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""s3:// against moto's server: s3_test.py

What moto does not check (If-Match where an upload is completed, the condition on the source of a copied part) the proxy checks, as the
store itself does.
"""
import os
import sys
import unittest
from datetime import datetime, timezone

import given

given.under_remote_python()
import boto3
from battery import BASE, MIB, Battery, main
from botocore.config import Config
from proxy import Proxy, refused_in_xml

BUCKET = "profiles"
KEPT = ("CacheControl", "ContentDisposition", "ContentEncoding", "ContentLanguage", "ContentType", "Metadata", "StorageClass")
LOGIN = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1",
         "AWS_EC2_METADATA_DISABLED": "true"}


def guard(proxy, asked):
    """Conditions on the ETag of an object, for requests of which moto does not check them."""
    path = asked.path.split("?")[0]
    wanted = asked.headers.get("x-amz-copy-source-if-match")
    if wanted is None and asked.method == "POST" and "uploadId" in asked.query:
        wanted = asked.headers.get("If-Match")
    if wanted is None:
        return None
    now = proxy.forward(asked._replace(method="HEAD", path=path, body=b"", headers={"Host": asked.headers["Host"],
                                                                                      "Authorization": asked.headers["Authorization"]}))
    if now.status != 200:
        return refused_in_xml(404, "NoSuchKey")
    return None if dict(now.headers).get("ETag", "").strip('"') == wanted.strip('"') else refused_in_xml(412, "PreconditionFailed")


class Moto(Battery, unittest.TestCase):
    write = r"POST /profiles/.*[?&]uploadId="
    fetch = r"GET /profiles/[^?]*/"
    stat_of = r"HEAD /profiles/"
    shared_hows = ("copy-part", "copy-part")
    denied = refused_in_xml(400, "ExpiredToken", "The provided token has expired.")

    @classmethod
    def setUpClass(cls):
        port = given.free_port()
        cls.proxy = Proxy(port, guard)
        cls.server = given.Server([os.path.join(os.path.dirname(sys.executable), "moto_server"), "-H", "127.0.0.1", "-p", str(port)], port)
        cls.addClassCleanup(cls.server.close)
        cls.env = {**LOGIN, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{cls.proxy.port}", "HOME": cls.server.folder}
        cls.s3 = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{port}", aws_access_key_id="test", aws_secret_access_key="test",
                              region_name="us-east-1", config=Config(s3={"addressing_style": "path"}))
        cls.s3.create_bucket(Bucket=BUCKET)

    def setUp(self):
        super().setUp()
        self.old = ()
        self.proxy.changes = [(r"GET .*[?&]uploads", self.of_today)]

    def of_today(self, listed):
        """All uploads to moto began in 2010; here only those that a test says are old."""
        rows = listed.body.decode().split("<Upload>")
        today = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        rows = [row if any(upload in row for upload in self.old) else row.replace("2010-11-10T20:48:33.000Z", today) for row in rows]
        return listed._replace(body="<Upload>".join(rows).encode())

    def url(self, name):
        return f"s3://{BUCKET}/{name}"

    def put_raw(self, name, data, **description):
        self.s3.put_object(Bucket=BUCKET, Key=name, Body=data, **description)

    def raw(self, name):
        return self.s3.get_object(Bucket=BUCKET, Key=name)["Body"].read()

    def description(self, name):
        found = self.s3.head_object(Bucket=BUCKET, Key=name)
        tags = self.s3.get_object_tagging(Bucket=BUCKET, Key=name)["TagSet"]
        return {**{key: found[key] for key in KEPT if found.get(key)}, "tags": {tag["Key"]: tag["Value"] for tag in tags}}

    def names(self):
        return {row["Key"] for row in self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])}

    def delete_raw(self, name):
        self.s3.delete_object(Bucket=BUCKET, Key=name)

    def uploads(self):
        return [row for row in self.s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []) if row["Key"] == self.name]

    def assert_nothing_left(self, killed=False):
        super().assert_nothing_left(killed)
        self.assertEqual(len(self.uploads()), 1 if killed else 0)  # the next sweep, a day later, aborts what a killed one left

    def test_what_users_wrote_about_an_object_stays(self):
        base, generation = self.given_base(ContentType="text/x-profile", Metadata={"owner": "us"}, CacheControl="no-store",
                                           StorageClass="STANDARD_IA", Tagging="team=us&for=a%2Bb")
        before = self.description(self.name)
        self.assertEqual((before["tags"], before["StorageClass"]), ({"team": "us", "for": "a+b"}, "STANDARD_IA"))
        done = self.append(base, b"tail", generation)
        self.assertEqual(self.description(self.name), before)
        self.helper.do("cut", url=self.url(self.name), size=len(base), if_generation=done["generation"])
        self.assertEqual(self.description(self.name), before)

    def test_uploads_of_killed_helpers_are_aborted_after_a_day_and_no_others(self):
        base, generation = self.given_base()
        ours, young, foreign = (self.s3.create_multipart_upload(Bucket=BUCKET, Key=self.name)["UploadId"] for _ in range(3))
        for number, upload in ((6971, ours), (6971, young), (1, foreign)):
            self.s3.upload_part(Bucket=BUCKET, Key=self.name, UploadId=upload, PartNumber=number, Body=b"x")

        self.old = (ours, foreign)
        self.append(base, b"tail", generation)
        self.assertEqual({row["UploadId"] for row in self.uploads()}, {young, foreign})

    def test_requests_of_an_append_and_of_a_cut(self):
        base, generation = self.given_base()
        self.proxy.forget()
        done = self.append(base, b"tail", generation)
        self.assertEqual([asked.method for asked in self.proxy.log], ["HEAD", "GET", "GET", "POST", "PUT", "PUT", "POST"])
        self.proxy.forget()
        self.helper.do("cut", url=self.url(self.name), size=len(base), if_generation=done["generation"])
        self.assertEqual([asked.method for asked in self.proxy.log], ["HEAD", "GET", "GET", "POST", "PUT", "POST"])

    def test_a_part_is_copied_in_pieces_where_it_is_large(self):
        base = given.some_bytes(30 * MIB)
        self.put_raw(self.name, base)
        command = [sys.executable, "-c", "import tpusight.remote.s3 as s3, tpusight.remote.main as m; s3.COPIED_PART = 7 << 20; m.main()",
                   self.url("")]
        helper = given.Helper(self.url(""), self.env, command)
        self.addCleanup(helper.kill)
        self.append(base, given.some_bytes(20 * MIB, 3), helper.do("stat", url=self.url(self.name))["generation"], helper)
        self.assertEqual(len(self.proxy.requests("^PUT .*partNumber")), 5 + 2)
        self.assertEqual(self.raw(self.name), base + given.some_bytes(20 * MIB, 3))

    def test_a_store_that_knows_no_condition_is_not_written_to(self):
        base, generation = self.given_base()
        self.proxy.rule(self.write, times=9, answer=refused_in_xml(501, "NotImplemented", "A header is not implemented"))
        why = self.refused("unsupported", "append", size=BASE, file=self.file("tail", b"t"), if_generation=generation)
        self.assertIn("not implemented", why)
        self.assertEqual(self.raw(self.name), base)
        self.assert_nothing_left()

    def test_without_a_login_it_says_how_to_log_in(self):
        env = {key: value for key, value in self.env.items() if "KEY" not in key}
        helper = given.Helper(self.url(""), {**env, "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""})
        self.addCleanup(helper.kill)
        with self.assertRaises(given.Failed) as caught:
            helper.do("stat", url=self.url("x"))
        self.assertEqual(caught.exception.code, "denied", caught.exception.text)
        self.assertIn("aws configure", caught.exception.text)


if __name__ == "__main__":
    main()
