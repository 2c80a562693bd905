#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Before a profile is written to a drive of Windows, the package warns as `tpusight check` does: place_test.py"""
import os
import re
import tempfile
import unittest
import warnings
from unittest import mock

import package
from tpusight import _place

# What users of WSL show of their machines: as in tests/io/place_test.c.
MOUNTS = r"""1 0 8:32 / / rw,relatime - ext4 /dev/sdc rw,discard
3 1 0:67 / /mnt/c rw,noatime - 9p C:\134 rw,dirsync,aname=drvfs;path=C:\;uid=1000;gid=1000,trans=fd
4 1 0:68 / /mnt/d rw,noatime - virtiofs drvfsD1 rw
5 1 0:69 / /mnt/e rw,noatime - drvfs E: rw,case=off
6 1 0:70 / /work\040here rw,noatime - 9p drvfs rw,aname=drvfs;path=F:\
7 1 0:71 / /mnt/plan9 rw - 9p 192.168.0.87 rw,trans=tcp,port=564
8 1 0:72 / /mnt/vm rw - virtiofs shared rw
9 3 0:73 / /mnt/c/linux rw - ext4 /dev/sdd rw
10 1 0:74 / /mnt/g rw - 9p G:\134 rw
11 1 0:75 / /mnt/g rw - ext4 /dev/sde rw
12 1

"""


class Place(unittest.TestCase):
    def test_a_drive_of_windows_is_known_by_its_mount(self):
        rows = {"/mnt/c": "/mnt/c", "/mnt/c/Users/a/profiles": "/mnt/c", "/mnt/d/x": "/mnt/d", "/mnt/e/x": "/mnt/e",
                "/work here/x": "/work here", "/mnt/cd/x": None, "/mnt/c/linux/x": None, "/mnt/plan9/x": None, "/mnt/vm/x": None,
                "/mnt/g/x": None, "/home/a/profiles": None, "/": None}
        self.assertEqual({path: _place.windows_mount(MOUNTS, path) for path in rows}, rows)
        self.assertIsNone(_place.windows_mount("", "/mnt/c"))

    def test_the_words_are_those_of_check(self):
        with open(os.path.join(package.ROOT, "src", "cli", "check_notes.c"), encoding="utf-8") as source:
            theirs = re.sub(r'"\s+"', "", source.read())
        for part in ("is on a drive of Windows", "which is slow to read and write from Linux",
                     "Write profiles below your home folder (/home/...), which Linux keeps itself"):
            self.assertIn(part, theirs)
            self.assertIn(part, _place.WORDS)

    def warned(self, mounts):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            with mock.patch("builtins.open", mock.mock_open(read_data=mounts.replace("/mnt/c ", f"{os.path.realpath(folder)} "))):
                _place.warn_of_windows(os.path.join(folder, "profiles"))
        return [str(one.message) for one in found]

    def test_who_writes_there_is_warned(self):
        (words,) = self.warned(MOUNTS)
        self.assertRegex(words, r"^/.*/profiles is on a drive of Windows \(/.*\), which is slow")
        self.assertEqual(self.warned("1 0 8:32 / / rw - ext4 /dev/sdc rw\n"), [])

    def test_this_machine_can_be_asked(self):
        _place.warn_of_windows(".")


if __name__ == "__main__":
    package.main()
