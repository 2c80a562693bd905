#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""az:// against Azurite: az_test.py

Azurite checks conditions as the store does. It cannot copy blocks from a URL: where a test wants that, the proxy reads the range at that
URL and stages the block, so that the address and what it allows are those that the helper made.
"""
import base64
import unittest
import urllib.error

import given

given.under_remote_python()
from azure.storage.blob import BlobBlock, BlobServiceClient, ContentSettings, StandardBlobTier
from battery import BASE, Battery, main
from proxy import Answer, Proxy, refused_in_xml

CONTAINER = "profiles"
ACCOUNT = "devstoreaccount1"  # of Azurite, with this key
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def refused(status, code, text="refused"):
    return refused_in_xml(status, code, text, ("x-ms-error-code", code))


def connection(port):
    return f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint=http://127.0.0.1:{port}/{ACCOUNT};"


class Azurite(Battery, unittest.TestCase):
    write = r"PUT .*comp=blocklist"
    fetch = r"GET /devstoreaccount1/profiles/[^?]*$"
    stat_of = r"HEAD "
    shared_hows = ("blocks", "blocks")
    denied = refused(403, "AuthenticationFailed", "Server failed to authenticate the request.")

    @classmethod
    def setUpClass(cls):
        port = given.free_port()
        cls.proxy = Proxy(port)
        cls.server = given.Server([given.tool("azurite-blob"), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--silent",
                                   "--skipApiVersionCheck", "--inMemoryPersistence"], port)
        cls.addClassCleanup(cls.server.close)
        cls.env = {"AZURE_STORAGE_CONNECTION_STRING": connection(cls.proxy.port), "HOME": cls.server.folder}
        cls.container = BlobServiceClient.from_connection_string(connection(port)).create_container(CONTAINER)

    def url(self, name):
        return f"az://{CONTAINER}/{name}"

    def put_raw(self, name, data, blocks=3, **description):
        """In blocks, as large blobs come into being; 0 for one request."""
        blob = self.container.get_blob_client(name)
        if not blocks:
            blob.upload_blob(data, overwrite=True, **description)
            return
        names = [f"block-{i:06d}" for i in range(blocks)]
        for i, name in enumerate(names):
            blob.stage_block(name, data[len(data) * i // blocks:len(data) * (i + 1) // blocks] or b" ")
        blob.commit_block_list([BlobBlock(name) for name in names], **description)

    def raw(self, name):
        return self.container.get_blob_client(name).download_blob().readall()

    def description(self, name):
        found = self.container.get_blob_client(name).get_blob_properties()
        settings = {key: value for key, value in found.content_settings.items() if value and key != "content_md5"}
        tags = self.container.get_blob_client(name).get_blob_tags() if found.tag_count else {}
        tier = None if found.blob_tier_inferred else found.blob_tier
        return {**settings, "metadata": found.metadata, "tags": tags, "tier": tier}

    def names(self):
        return set(self.container.list_blob_names())

    def delete_raw(self, name):
        self.container.delete_blob(name)

    def copies_by_url(self):
        """From now on this store copies blocks, which older Azurites cannot: the list of requests that did it."""
        done = []

        def guard(proxy, asked):
            source = asked.headers.get("x-ms-copy-source")
            if not source:
                return None
            span = {"x-ms-range": asked.headers["x-ms-source-range"], "x-ms-version": "2021-12-02"}
            if "x-ms-copy-source-authorization" in asked.headers:
                span["Authorization"] = asked.headers["x-ms-copy-source-authorization"]
            try:
                data = given.http("GET", source.replace(str(proxy.port), str(proxy.store[1])), headers=span)
            except urllib.error.HTTPError as e:
                return refused(e.code, "CannotVerifyCopySource", e.read().decode(errors="replace")[:200])
            done.append(len(data))
            name = asked.path.split("?")[0].split(f"/{CONTAINER}/")[1]
            self.container.get_blob_client(name).stage_block(base64.b64decode(asked.query["blockid"]).decode(), data)
            return Answer(201, [("x-ms-request-server-encrypted", "true")], b"")
        self.proxy.guard = guard
        self.addCleanup(setattr, self.proxy, "guard", None)
        return done

    def refuses_copies(self):
        """From now on this store does not copy blocks, as older Azurites."""
        def guard(_proxy, asked):
            return refused(501, "NotImplemented", "not here") if "x-ms-copy-source" in asked.headers else None
        self.proxy.guard = guard
        self.addCleanup(setattr, self.proxy, "guard", None)

    def test_what_users_wrote_about_an_object_stays(self):
        base, generation = self.given_base(content_settings=ContentSettings(content_type="text/x-profile", cache_control="no-store"),
                                           metadata={"owner": "us"}, tags={"team": "us"}, standard_blob_tier=StandardBlobTier.COOL)
        before = self.description(self.name)
        self.assertEqual((before["metadata"], before["tags"], before["tier"]), ({"owner": "us"}, {"team": "us"}, "Cool"))
        done = self.append(base, b"tail", generation)
        self.assertEqual(self.description(self.name), before)
        self.helper.do("cut", url=self.url(self.name), size=len(base), if_generation=done["generation"])
        self.assertEqual(self.description(self.name), before)

    def test_requests_of_an_append_and_of_a_cut(self):
        base, generation = self.given_base()
        self.proxy.forget()
        done = self.append(base, b"tail", generation)
        self.assertEqual([asked.method for asked in self.proxy.log], ["HEAD", "GET", "PUT", "PUT"])
        self.proxy.forget()
        self.helper.do("cut", url=self.url(self.name), size=len(base), if_generation=done["generation"])
        self.assertEqual([asked.method for asked in self.proxy.log], ["HEAD", "GET", "PUT"])

    def test_a_blob_without_blocks_is_copied_by_the_store(self):
        copied = self.copies_by_url()
        base = given.some_bytes(BASE)
        self.put_raw(self.name, base, blocks=0)
        done = self.append(base, b"tail", None)
        self.assertEqual((done["how"], done["uploaded"], sum(copied)), ("blocks", 4, BASE))
        self.assertEqual(self.raw(self.name), base + b"tail")
        cut = self.helper.do("cut", url=self.url(self.name), size=BASE - 5, if_generation=done["generation"])  # within a block
        self.assertEqual((cut["how"], self.raw(self.name)), ("blocks", base[:-5]))

    def test_a_blob_without_blocks_is_uploaded_where_the_store_does_not_copy(self):
        self.refuses_copies()
        base = given.some_bytes(BASE)
        self.put_raw(self.name, base, blocks=0)
        done = self.append(base, b"tail", None)
        self.assertEqual((done["how"], done["uploaded"]), ("upload", BASE + 4))
        self.assertEqual(self.raw(self.name), base + b"tail")

    def test_with_a_token_for_some_hours_alone(self):
        from datetime import datetime, timedelta, timezone

        from azure.storage.blob import AccountSasPermissions, ResourceTypes, generate_account_sas
        sas = generate_account_sas(ACCOUNT, KEY, ResourceTypes.from_string("sco"), AccountSasPermissions.from_string("rwdlact"),
                                   datetime.now(timezone.utc) + timedelta(hours=2))
        login = f"BlobEndpoint=http://127.0.0.1:{self.proxy.port}/{ACCOUNT};SharedAccessSignature={sas}"
        helper = given.Helper(self.url(""), {**self.env, "AZURE_STORAGE_CONNECTION_STRING": login})
        self.addCleanup(helper.kill)
        copied = self.copies_by_url()
        base = given.some_bytes(BASE)
        self.put_raw(self.name, base, blocks=0)
        self.assertEqual(self.append(base, b"tail", None, helper)["how"], "blocks")
        self.assertEqual((self.raw(self.name), sum(copied)), (base + b"tail", BASE))

    def test_blocks_whose_ids_are_not_text_are_copied(self):
        base = given.some_bytes(BASE)
        blob = self.container.get_blob_client(self.name)
        raw = base64.b64encode(b"\xff\xfe" * 8).decode()
        blob._client.block_blob.stage_block(raw, len(base), base)
        from azure.storage.blob._generated.models import BlockLookupList
        blob._client.block_blob.commit_block_list(BlockLookupList(committed=[], uncommitted=[], latest=[raw]))
        done = self.append(base, b"tail", None)
        self.assertEqual(self.raw(self.name), base + b"tail", done)

    def test_addresses_with_an_account(self):
        self.put_raw("f/x", b"x", blocks=0)
        for url in (f"abfs://{CONTAINER}@acct.dfs.core.windows.net/f/x", f"az://acct.blob.core.windows.net/{CONTAINER}/f/x"):
            self.assertEqual(self.helper.do("stat", url=url)["size"], 1)

    def test_a_blob_of_another_kind_is_refused(self):
        self.container.get_blob_client(self.name).create_append_blob()
        self.container.get_blob_client(self.name).append_block(b"x" * 100)
        self.assertIn("block blob", self.refused("unsupported", "append", size=100, file=self.file("tail", b"t")))

    def test_a_leased_blob_is_left_alone(self):
        base, generation = self.given_base(1000)
        self.container.get_blob_client(self.name).acquire_lease()
        self.assertIn("lease", self.refused("denied", "append", size=1000, file=self.file("tail", b"t"), if_generation=generation))
        self.assertEqual(self.raw(self.name), base)

    def test_without_a_login_it_says_how_to_log_in(self):
        helper = given.Helper(self.url(""), {**self.env, "AZURE_STORAGE_CONNECTION_STRING": ""})
        self.addCleanup(helper.kill)
        with self.assertRaises(given.Failed) as caught:
            helper.do("hello", version=1)
        self.assertEqual(caught.exception.code, "denied")
        self.assertIn("az login", caught.exception.text)


if __name__ == "__main__":
    main()
