# SPDX-License-Identifier: MIT
"""Which libtpu compiles: one that is installed, one that pip has, or one in a folder.

libtpu is a library alone: jax loads the one that TPU_LIBRARY_PATH names, so that one jax compiles with many of them, and the compiler is
the only difference. A version is fetched once, into the user's cache, and nothing is installed.
"""
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from typing import Callable, List, NamedTuple, Optional

from .._program import TpusightError

INSTALLED = "installed"
VARIABLE = "TPU_LIBRARY_PATH"
_FILE = os.path.join("libtpu", "libtpu.so")
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:\.?(?:dev|rc|post|a|b)\d+)?")


class Library(NamedTuple):
    """WANTED is what was asked for; PATH the library's file; VERSION what the package beside it says, "" where there is none."""
    wanted: str
    path: str
    version: str

    @property
    def name(self) -> str:
        return self.version or self.wanted


def version_of(path: str) -> str:
    """The version of the package that PATH, a libtpu.so, lies in; "" where it lies in none."""
    for folder in glob.glob(os.path.join(glob.escape(os.path.dirname(os.path.dirname(os.path.abspath(path)))), "libtpu-*.dist-info")):
        return os.path.basename(folder)[len("libtpu-"):-len(".dist-info")]
    return ""


def installed() -> str:
    """The file of the libtpu that jax would load; "" where none is installed."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    found = importlib.util.find_spec("libtpu")
    path = os.path.join(os.path.dirname(found.origin), "libtpu.so") if found and found.origin else ""
    return path if os.path.isfile(path) else ""


def cache() -> str:
    """Where versions are kept, each in a folder of its name."""
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tpusight", "libtpu")


def kept() -> List[str]:
    """The versions that are there."""
    return sorted(os.path.basename(folder) for folder in glob.glob(os.path.join(glob.escape(cache()), "*")) if
                  os.path.isfile(os.path.join(folder, _FILE)))


def _fetched(version: str, folder: str) -> None:
    """Puts a version of pip's into FOLDER, whole or not at all."""
    os.makedirs(cache(), exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=cache()) as scratch:
        done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                               "--no-cache-dir", "--dest", scratch, f"libtpu=={version}"], capture_output=True, text=True, check=False)
        wheels = glob.glob(os.path.join(glob.escape(scratch), "*.whl"))
        if done.returncode or not wheels:
            said = [line for line in done.stderr.splitlines() if line.strip()] or ["it fetched nothing"]
            raise TpusightError(f"libtpu {version} is not in {cache()}, and pip does not fetch it: {said[-1]} "
                                f"(there are: {', '.join(kept()) or 'none'}; a folder with libtpu/libtpu.so does as well)")
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(os.path.join(scratch, "whole"))
        try:
            os.rename(os.path.join(scratch, "whole"), folder)
        except OSError:  # another process was faster
            if not os.path.isfile(os.path.join(folder, _FILE)):
                shutil.rmtree(folder, ignore_errors=True)
                raise


def find(wanted: str, say: Optional[Callable[[str], None]] = None) -> Library:
    """The library that WANTED names: a version, a folder, a file, or `installed`."""
    for path in (wanted, os.path.join(wanted, _FILE), os.path.join(wanted, "libtpu.so")):
        if os.path.isfile(path):
            return Library(wanted, os.path.abspath(path), version_of(path))
    here = installed()
    if here and wanted in (INSTALLED, version_of(here)):
        return Library(wanted, here, version_of(here))
    if wanted == INSTALLED:
        raise TpusightError("no libtpu is installed (pip install 'tpusight[before]')")
    if not _VERSION.fullmatch(wanted):
        raise TpusightError(f"--libtpu {wanted}: is neither a version (0.0.42.1), nor a folder with libtpu/libtpu.so, nor such a file, nor "
                            f"`{INSTALLED}`")
    folder = os.path.join(cache(), wanted)
    if not os.path.isfile(os.path.join(folder, _FILE)):
        if say:
            say(f"libtpu {wanted} is fetched into {folder}")
        _fetched(wanted, folder)
    return Library(wanted, os.path.join(folder, _FILE), version_of(os.path.join(folder, _FILE)) or wanted)
