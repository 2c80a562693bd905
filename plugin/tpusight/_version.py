# SPDX-License-Identifier: MIT
"""The version of what is installed; of a checkout that is not, the program's own."""
from importlib import metadata

from . import _program


def _version() -> str:
    try:
        return metadata.version("tpusight")
    except metadata.PackageNotFoundError:
        said, _ = _program.run("--version")
        return said.decode().split()[-1]


__version__ = _version()
