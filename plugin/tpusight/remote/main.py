# SPDX-License-Identifier: MIT
"""tpusight-remote-SCHEME URL: which store a URL belongs to, and the loop for it."""
import asyncio
import importlib
import os
import sys
from typing import Dict, List, NamedTuple, Optional

from . import protocol
from .store import Store
from .trouble import Trouble


class Kind(NamedTuple):
    """A store: the module here, the packages that it needs, and the extra of pip that installs them."""
    module: str
    needs: List[str]
    extra: str


GS = Kind("gs", ["fsspec", "gcsfs"], "gs")
S3 = Kind("s3", ["fsspec", "s3fs"], "s3")
AZ = Kind("az", ["fsspec", "adlfs"], "az")
PLAIN = Kind("plain", ["fsspec"], "remote")
KINDS: Dict[str, Kind] = {"gs": GS, "gcs": GS, "s3": S3, "s3a": S3, "az": AZ, "abfs": AZ, "abfss": AZ}


def scheme_of(url: str) -> str:
    return url.split("://", 1)[0].lower()


def is_of(url: str, other: str) -> bool:
    """Whether both are of one store: of one kind, or of one scheme."""
    kind = KINDS.get(scheme_of(url), PLAIN)
    return kind == KINDS.get(scheme_of(other), PLAIN) and (kind != PLAIN or scheme_of(url) == scheme_of(other))


def store_of(url: str) -> Store:
    kind = KINDS.get(scheme_of(url), PLAIN)
    try:
        for name in kind.needs:
            importlib.import_module(name)
        module = importlib.import_module(f".{kind.module}", __package__)
        store = module.store(url)
    except ImportError as e:
        raise Trouble("unsupported", f"{e} (pip install 'tpusight[{kind.extra}]', in the Python of {sys.executable})") from e
    assert isinstance(store, Store)
    return store


def main(args: Optional[List[str]] = None) -> int:
    args = sys.argv[1:] if args is None else args
    if len(args) != 1 or "://" not in args[0]:
        print("usage: tpusight-remote-SCHEME SCHEME://...\nThe program tpusight starts this for URLs; docs/remote.md has what they say to "
              "each other.", file=sys.stderr)
        return 2
    out = protocol.private_output()
    helper = protocol.Helper(lambda: store_of(args[0]), lambda url: is_of(url, args[0]), out)
    asyncio.run(helper.serve(0))
    sys.stderr.flush()
    os._exit(0)  # threads of packages may still wait for a network
