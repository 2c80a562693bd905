#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Takes the pictures of the README, one of each view: readme.py FOLDER (make pictures)

All are of profiles in tests/data. $TPUSIGHT names the program. Exit 77: a tool is missing.
"""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib

import doors
import profiles
import views_test

sys.path.insert(0, os.path.join(doors.HERE, "..", "fixtures"))

TPU = ["overview", "ops", "systolic", "roofline", "padding", "fusion", "cache", "memory", "time", "slices", "doctor", "flame", "compile"]
GPU = ["hta", "kernels", "operators", "timeline", "hta_critical_path"]
FOUND = {"ops": {"ops.ops.find": "all-reduce"}}  # a table of one kind is smaller
AT = {"memory": 'section[aria-label="what a program holds"]', "systolic": 'section[aria-label="an op on the array"]',
      "overview": None, "op": None}
OP = "fusion.337"
START_NS = profiles.START_NS
RUNS = ["clean", "slow_once", "slow_every_fifth", "waits", "padding", "recompiles"]  # of tests/data/planted
NIGHTS = [20, 20, 21, 20, 27, 20]  # microseconds of an op of one program, night by night
DAY_NS, DAY_S = 86400 * 10**9, 86400


def address(page, view, **more):
    return f"file://{page}#view={view}" + "".join(f"&{key}={value}" for key, value in more.items())


def job(name, url):
    return {"name": name, "url": url, "at": AT.get(name, "#view")}


def file_jobs(folder):
    pages = {name: doors.html(path, os.path.join(folder, f"{name}.html")) for name, path in {
        "sample": doors.SAMPLE, "trace": doors.TRACE, "pod": pod(folder)}.items()}
    for view in TPU:
        yield job(view, address(pages["sample"], view, **FOUND.get(view, {})))
    module = next(op["module"] for op in views_test.page_of(pages["sample"])[1]["ops"] if op["name"] == OP)
    yield job("op", address(pages["sample"], "overview", op=f"{module}/{OP}"))
    for view in GPU:
        yield job(view, address(pages["trace"], view))
    yield job("pod", address(pages["pod"], "pod"))


def pod(folder):
    """64 hosts, or two where the fixture of many is not there."""
    script = os.path.join(doors.HERE, "..", "fixtures", "pod.py")
    if not os.path.exists(script):
        return views_test.planted("two_hosts", folder)
    out = os.path.join(folder, "many")
    subprocess.run([sys.executable, script, out, "64"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(out, "pod")


def nightly(logdir):
    """One program, profiled each night; once it is slower."""
    for night, op_us in enumerate(NIGHTS):
        profiles.START_NS = START_NS + night * DAY_NS
        device = profiles.device()
        ps = profiles.filled(device, [f"fusion.{i}" for i in range(1, 6)], 20, 5, op_us, "jit_train_step(4711)")
        when = time.strftime("%Y_%m_%d_%H_%M_%S", time.gmtime(START_NS // 10**9 + night * DAY_S))
        session = os.path.join(logdir, "nightly", "plugins", "profile", when)
        os.makedirs(session)
        with open(os.path.join(session, "host.xplane.pb"), "wb") as file:
            file.write(profiles.space([device, profiles.task(ps // 1000)], ["host"]))


@contextlib.contextmanager
def served_jobs(folder):
    """The list of runs, two of them side by side, and a program over time. Pictures show the folder as it is named here."""
    os.chdir(folder)
    os.makedirs("profiles")
    for name in RUNS:
        views_test.planted(name, "profiles")
    nightly("profiles")
    with doors.serving("profiles") as (at, _):
        known = f".spark >> nth={len(RUNS) + len(NIGHTS) - 1}"

        def box(name):
            return f'#view tr:has-text("{name}") input[type="checkbox"] >> nth=0'
        yield [{"name": "runs", "url": f"{at}#view=runs", "until": known},
               {"name": "compare", "url": f"{at}#view=runs", "until": known,
                "acts": [box("clean"), box("slow_every_fifth"), "#view button >> text=/^Compare/"]},
               {"name": "trend", "url": f"{at}#view=runs", "until": known, "acts": [box("nightly"), "#view button >> text=/^Trend/"]}]


def paeth(left, up, corner):
    """What the filter of this name predicts of a byte (PNG, 9.4)."""
    away = [abs(left + up - corner - near) for near in (left, up, corner)]
    return (left, up, corner)[away.index(min(away))]


PREDICT = [lambda left, up, corner: 0, lambda left, up, corner: left, lambda left, up, corner: up,
           lambda left, up, corner: (left + up) // 2, paeth]


def plain(data, width, each):
    """The rows of a picture of EACH bytes a pixel without filters: they help photographs, and flat colours pack better as they are."""
    row, size, out = bytearray(width * each), width * each + 1, bytearray()
    for at in range(0, len(data), size):
        predict, now = PREDICT[data[at]], bytearray(data[at + 1:at + size])
        for i, byte in enumerate(now):
            left, corner = (now[i - each], row[i - each]) if i >= each else (0, 0)
            now[i] = (byte + predict(left, row[i], corner)) & 255
        out += b"\0" + now
        row = now
    return bytes(out)


CHANNELS = {2: 3, 6: 4}  # bytes of a pixel, by the kind of colour (PNG, 11.2.2)


def packed(png):
    """The same picture in fewer bytes: Chromium packs in haste."""
    chunks, at = [], 8
    while at < len(png):
        size = int.from_bytes(png[at:at + 4], "big")
        chunks.append((png[at + 4:at + 8], png[at + 8:at + 8 + size]))
        at += size + 12
    data = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    width, each = int.from_bytes(chunks[0][1][:4], "big"), CHANNELS[chunks[0][1][9]]
    data = zlib.compress(plain(data, width, each), 9)
    head, rest = [c for c in chunks if c[0] == b"IHDR"], [c for c in chunks if c[0] not in (b"IHDR", b"IDAT")]
    return png[:8] + b"".join(len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")
                              for kind, body in [*head, (b"IDAT", data), *rest])


def pack(folder):
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb+") as file:
            less = packed(file.read())
            file.seek(0)
            file.truncate()
            file.write(less)


def main():
    out = os.path.abspath(sys.argv[1])
    doors.need_tools()
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, served_jobs(folder) as served:
        path = os.path.join(folder, "jobs.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump([*file_jobs(folder), *served], file)
        status = subprocess.call(["node", os.path.join(doors.HERE, "readme.mjs"), path, out])
        pack(out)
        return status


if __name__ == "__main__":
    sys.exit(main())
