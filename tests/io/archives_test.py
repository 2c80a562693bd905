#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Archives as our reader takes them, held against Python's tarfile and zipfile: archives_test.py [--seed N] [--rounds N]

Archives are made in all the ways that Python writes them (tar in three dialects and four packings, zip stored and packed, long
names, links, folders, other files, entries of the same name), each with some profiles; then copies of them are damaged. What
Python lists and reads, our program has among its hosts, with the same bytes; where Python's packing or zip finds damage, ours
does not call the archive whole. A long run: --rounds 2000.

Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import argparse
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import PROGRAM

sys.path[:0] = [os.path.join(HERE, "..", "fixtures")]
from wire import blob, num

ENDING = ".xplane.pb"
TARS = [("tar", "w:"), ("tar.gz", "w:gz"), ("tar.bz2", "w:bz2"), ("tar.xz", "w:xz")]
FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
DAMAGE = (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, zlib.error, ValueError, NotImplementedError, RuntimeError)


def profile(rng):
    """A profile whose length says which one it is."""
    event = num(1, 1) + num(2, rng.randrange(1000)) + num(3, 500)
    line = blob(2, "t" * rng.randrange(1, 3000)) + num(3, 100) + blob(4, event)
    return blob(1, blob(2, "/host:CPU") + blob(3, line) + blob(4, num(1, 1) + blob(2, blob(2, "e"))))


def some_entries(rng):
    """(name, kind, bytes): profiles, and what is not to be taken for one."""
    folder = rng.choice(["", "run/plugins/profile/s/", "a" * 60 + "/" + "b" * 60 + "/", "gr\u00fc\u00dfe/", "./x/", "../up/"])
    out = [(f"{folder}h{i}{ENDING}", "file", profile(rng)) for i in range(rng.randrange(1, 5))]
    out += rng.sample([("notes.txt", "file", b"text" * 100), (folder + "dir" + ENDING, "dir", b""), ("empty.txt", "file", b""),
                       (folder + "link" + ENDING, "link", b""), ("d/", "dir", b"")], rng.randrange(4))
    rng.shuffle(out)
    return out


def tar_of(rng, mode, entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=rng.choice(FORMATS)) as tar:
        for name, kind, data in entries:
            info = tarfile.TarInfo(name)
            info.type = {"file": tarfile.REGTYPE, "dir": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}[kind]
            info.linkname = "h0" + ENDING if kind == "link" else ""
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(rng, entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as z:
        for name, kind, data in entries:
            if kind == "file":
                z.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data, compress_type=z.compression)
            elif kind == "dir":
                z.writestr(zipfile.ZipInfo(name.rstrip("/") + "/", (2026, 1, 1, 0, 0, 0)), b"")
        z.comment = b"c" * rng.randrange(3)
    return out.getvalue()


def by_python(data, is_zip):
    """{name: bytes} of the profiles in it; None: Python finds damage."""
    try:
        if is_zip:
            with zipfile.ZipFile(io.BytesIO(data)) as z:
                return {i.filename: len(z.read(i)) for i in z.infolist() if i.filename.endswith(ENDING)}
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            return {m.name: len(tar.extractfile(m).read()) for m in tar if m.isreg() and m.name.endswith(ENDING)}
    except DAMAGE:
        return None


def by_us(path):
    """({name: bytes}, is it whole)"""
    done = subprocess.run([PROGRAM, "report", "--json", "-j", "1", path], capture_output=True, env=dict(os.environ, LC_ALL="C.UTF-8"))
    if done.returncode == 3:
        return {}, False
    if done.returncode not in (0, 4):
        raise SystemExit(f"{path}: status {done.returncode}: {done.stderr.decode()}")
    hosts = json.loads(done.stdout)["run"]["hosts"]
    return {host["file"].split(": ", 1)[1]: host["bytes"] for host in hosts}, done.returncode == 0


def damaged(rng, data):
    at = rng.randrange(len(data))
    form = rng.randrange(4)
    if form == 0:
        return data[:at]
    if form == 1:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
    if form == 2:
        return data[:at] + bytes(rng.randrange(256) for _ in range(4)) + data[at + 4:]
    return data + rng.choice([b"garbage", bytes(10240), data])


def look(folder, rng, kind, data, entries):
    path = os.path.join(folder, "archive." + kind)
    with open(path, "wb") as f:
        f.write(data)
    got, is_whole = by_us(path)
    want = {name: len(content) for name, what, content in entries if what == "file" and name.endswith(ENDING)}
    python = by_python(data, kind == "zip")
    if got != want or python != want or not is_whole:
        return f"ours {got} whole: {is_whole}, Python {python}, made of {want}"
    data = damaged(rng, data)
    with open(path, "wb") as f:
        f.write(data)
    got, is_whole = by_us(path)
    python = by_python(data, kind == "zip")
    if python is None and is_whole and kind != "tar" and not data.startswith(b"PK"):
        return f"damaged: ours {got}, Python refuses it"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=40)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for i in range(args.rounds):
            rng = random.Random(f"{args.seed} {i}")
            entries = some_entries(rng)
            kind, mode = rng.choice(TARS + [("zip", "")] * 3)
            data = tar_of(rng, mode, entries) if mode else zip_of(rng, entries)
            wrong = look(folder, rng, kind, data, entries)
            if wrong:
                print(f"seed {args.seed}, round {i}, {kind}: {wrong}")
                return 1
    print(f"{args.rounds} archives as Python reads them (seed {args.seed})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
