#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""XProf reads an annotated profile from gs://, by its own clients: xprof_test.py

XProf has two. Google's for C++ goes where CLOUD_STORAGE_EMULATOR_ENDPOINT says; a key that belongs to no account saves it from looking
for a login. TensorFlow's knows one address, https://www.googleapis.com: so this test runs in a network of its own, in which that name is
this machine, with a certificate that CURL_CA_BUNDLE lets it trust. That takes root, unshare and ip, else this skips. Bodies come in small
chunks, because without TLS Google's client ends the process when more than 16 KiB arrive at once (SpillBuffer in its curl_impl.cc).
$TS_VIEWERS_PYTHON names a Python with XProf; what else is needed stands in given.py.
"""
import json
import os
import re
import subprocess
import sys
import unittest

import given

given.under_remote_python()
import gs_test
from proxy import Proxy
from whole_test import PATIENCE_S, PROGRAM, Whole, of_folder

PYTHON = os.environ.get("TS_VIEWERS_PYTHON", "")
HOST = "www.googleapis.com"
TRACE = "trace_viewer"  # trace_viewer@ writes tables beside the profile, and does not come to an end where it cannot
TOOLS = (TRACE, "hlo_stats", "overview_page")
ASK = """
import json, sys
from xprof.convert import raw_to_tool_data
for tool in sys.argv[2:]:
    options = {"use_saved_result": False}
    data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], tool, options)
    print(json.dumps(data.decode() if isinstance(data, bytes) else data))
"""


def alone():
    """Goes on in a network that has only this machine, where HOST is its name."""
    if os.environ.get("TS_ALONE") != "1":
        if os.geteuid() != 0 or subprocess.run([given.tool("unshare"), "-mn", "true"], capture_output=True, check=False).returncode:
            given.skip("there is no right to a network of one's own")
        given.tool("ip")
        os.execvpe("unshare", ["unshare", "-mn", sys.executable, *sys.argv], {**os.environ, "TS_ALONE": "1"})
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    names = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"tpusight-hosts-{os.getpid()}")
    with open(names, "w", encoding="ascii") as f:
        f.write(f"127.0.0.1 localhost {HOST} storage.googleapis.com\n")
    subprocess.run(["mount", "--bind", names, "/etc/hosts"], check=True)
    os.unlink(names)


def openssl(*args, **kwargs):
    return subprocess.run([given.tool("openssl"), *args], capture_output=True, check=True, **kwargs).stdout.decode()


class XProf(Whole, unittest.TestCase):
    kind = gs_test.FakeGcsServer
    # Those of the road through the program stand in whole_test.py.
    test_annotate_report_and_strip_as_in_a_folder = test_bad_days = test_a_profile_that_is_written_meanwhile_is_kept_whole = None

    def certified(self):
        """The files of a certificate for HOST, and of its key."""
        cert, key = os.path.join(self.folder, "cert.pem"), os.path.join(self.folder, "key.pem")
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", f"/CN={HOST}",
                "-addext", f"subjectAltName=DNS:{HOST},DNS:storage.googleapis.com")
        return cert, key

    def login(self):
        path = os.path.join(self.folder, "login.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"type": "service_account", "project_id": "p", "private_key_id": "1", "client_id": "1",
                       "private_key": openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"),
                       "client_email": "test@p.iam.gserviceaccount.com", "token_uri": "http://127.0.0.1:1/"}, f)
        return path

    def tools_of(self, path, cert):
        own = f"http://127.0.0.1:{self.proxy.port}"
        env = {**os.environ, "CLOUD_STORAGE_EMULATOR_ENDPOINT": own, "STORAGE_EMULATOR_HOST": own, "NO_GCE_CHECK": "true",
               "GOOGLE_APPLICATION_CREDENTIALS": self.login(), "GOOGLE_AUTH_TOKEN_FOR_TESTING": "token", "CURL_CA_BUNDLE": cert}
        done = subprocess.run([PYTHON, "-c", ASK, path, *TOOLS], env=env, capture_output=True, timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode()[-2000:])
        answers = dict(zip(TOOLS, map(json.loads, done.stdout.decode().splitlines())))
        # Flows have numbers by chance, and events come in another order each time.
        answers[TRACE] = "\n".join(sorted(re.sub(r'"flow": ?"\d+",?', "", answers[TRACE]).replace("},", "}").splitlines()))
        return answers

    def test_it_shows_what_it_shows_of_a_folder(self):
        self.run_it("annotate", self.url)
        self.run_it("annotate", self.local)
        name = next(name for name in of_folder(self.local) if name.endswith(".xplane.pb"))
        cert, key = self.certified()
        google = Proxy(self.proxy.store[1], own_port=443, tls=(cert, key))
        self.addCleanup(google.server_close)
        self.addCleanup(google.shutdown)
        self.proxy.chunk = 8192
        self.addCleanup(setattr, self.proxy, "chunk", 0)
        self.proxy.forget()
        found, wanted = self.tools_of(f"{self.url}/{name}", cert), self.tools_of(os.path.join(self.local, name), cert)
        read = self.proxy.requests(r"GET .*xplane\.pb\?.*alt=media") + google.requests(r"GET .*xplane\.pb")
        self.assertTrue(read, "it was not read from the store")
        for tool in TOOLS:
            at = max(0, len(os.path.commonprefix([found[tool], wanted[tool]])) - 100)
            self.assertTrue(found[tool] == wanted[tool], f"{tool}: {found[tool][at:at + 300]} and {wanted[tool][at:at + 300]}")
            self.assertGreater(len(found[tool]), 1000, found[tool])


if __name__ == "__main__":
    if not os.access(PROGRAM, os.X_OK):
        given.skip(f"{PROGRAM} is not built")
    if not os.access(PYTHON, os.X_OK):
        given.skip("TS_VIEWERS_PYTHON names no Python")
    alone()
    del Whole
    unittest.main(verbosity=1)
