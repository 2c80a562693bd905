# SPDX-License-Identifier: MIT
"""Folders for what is not to stay."""
import os
import shutil
import tempfile
import weakref


def _remove(path, pid):
    if os.getpid() == pid:  # the end of a fork is not ours
        shutil.rmtree(path, ignore_errors=True)


def temporary_folder(owner: object) -> str:
    """A folder that goes when OWNER does, at the latest when Python ends."""
    folder = tempfile.mkdtemp(prefix="tpusight-")
    weakref.finalize(owner, _remove, folder, os.getpid())
    return folder
