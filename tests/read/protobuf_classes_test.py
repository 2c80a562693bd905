#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What protobuf's own classes take and refuse, and what our readers make of it: protobuf_classes_test.py [--seed N] [--rounds N]

Rows: pieces of wire format at each depth of a profile; where the classes and our reader differ, it is decided here, with the
reason. Then damaged copies of the fuzz targets' seeds (profiles, memory profiles, compiled modules): what the classes take, our
readers take without a word of damage, but for what the rows say. tests/fuzz/*_classes.c compare the values. A long run:
--rounds 100.

The classes are made of tests/fuzz/*.proto and proto/hlo.proto, with texts as strings. Run in the build folder; $TPUSIGHT names
the program (default bin/tpusight), $srcdir the sources, $TS_VIEWERS_PYTHON a Python that has protobuf. Exit 77: there is none.
"""
import argparse
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM, TOP, need_viewer

sys.path[:0] = [os.path.join(TOP, "tests", "fixtures")]
from wire import blob, num, read_varint, varint

need_viewer("google.protobuf.message_factory")
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

SEEDS = os.path.join(TOP, "tests", "fuzz", "seeds")
WHOLE, DAMAGED, REFUSED = "whole", "damaged", "refused"
TYPES = {"double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "bool": 8, "string": 9, "bytes": 12,
         "uint32": 13, "sint64": 18}
BINARY = {"bytes_value", "metadata"}  # what is bytes in the real schemas, too


# What src/read/hlo walks itself, around the messages of proto/hlo.proto.
MODULE = """
message HloModule {
  string name = 1;
  string entry_computation_name = 2;
  repeated HloComputation computations = 3;
  int64 id = 5;
  int64 entry_computation_id = 6;
}
message HloProto {
  HloModule hlo_module = 1;
}
"""


def classes(path, root):
    """The class of message ROOT of a .proto file: plain messages, repeated fields and oneofs are all that these have."""
    with open(path) as f:
        text = re.sub(r"//.*", "", f.read())
    if root == "HloProto":
        text += MODULE
    package = re.search(r"package (\w+);", text).group(1)
    proto = descriptor_pb2.FileDescriptorProto(name=os.path.basename(path), package=package, syntax="proto3")
    for name, body in re.findall(r"message (\w+) \{(.*?)\n\}", text, re.S):
        message = proto.message_type.add(name=name)
        for label, kind, field, number in re.findall(r"(repeated |)(\w+) (\w+) = (\d+);", body):
            row = message.field.add(name=field, number=int(number), label=3 if label else 1)
            if kind == "bytes" and field not in BINARY:
                kind = "string"
            if kind in TYPES:
                row.type = TYPES[kind]
            else:
                row.type, row.type_name = 11, f".{package}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{root}"))


def taken_by(message, data):
    try:
        message().ParseFromString(data)
        return True
    except DecodeError:
        return False


def ours(folder, name, command, data):
    """(verdict, the words of damage)"""
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data)
    done = subprocess.run([PROGRAM, command, "--json", "-j", "1", path], capture_output=True)
    if done.returncode == 3:
        return REFUSED, done.stderr.decode()
    if done.returncode not in (0, 4):
        raise SystemExit(f"status {done.returncode}: {done.stderr.decode()}")
    report = json.loads(done.stdout)
    words = [f["evidence"] for f in report["doctor"]["findings"] if f["rule"] == "damaged_input"]
    return (DAMAGED, words[0] or "") if words else (WHOLE, "")


# --- rows

EVENT = num(1, 1) + num(2, 1000000) + num(3, 500000)
METADATA = blob(4, num(1, 1) + blob(2, num(1, 1) + blob(2, "an event")))


def space(extra=b"", plane=b"", line=b"", event=b"", stat=b""):
    """A profile of one thread and one event, with EXTRA bytes at the end of its file, plane, line, event or stat."""
    an_event = EVENT + (blob(4, num(1, 5) + num(3, 7) + stat) if stat else b"") + event
    a_line = num(1, 1) + blob(2, "thread") + num(3, 100) + blob(4, an_event) + line
    return blob(1, blob(2, "/host:CPU") + blob(3, a_line) + METADATA + plane) + extra


def group(field):
    return varint(field << 3 | 3) + num(1, 1) + varint(field << 3 | 4)


BAD = {  # what both refuse, wherever our reader looks
    "field 0": b"\0\1",
    "a tag of 33 bits": varint(1 << 35) + b"\1",
    "a tag that is cut": b"\x80",
    "a number of 11 bytes": num(30, 1)[:-1] + b"\xff" * 10 + b"\1",
    "a number that is cut": num(30, 1)[:-1] + b"\x80",
    "a length beyond the end": varint(30 << 3 | 2) + b"\x7f",
    "8 bytes that are cut": varint(30 << 3 | 1) + b"\0" * 7,
    "4 bytes that are cut": varint(30 << 3 | 5) + b"\0" * 3,
    "wire type 6": varint(30 << 3 | 6) + b"\0",
    "wire type 7": varint(30 << 3 | 7) + b"\0",
    "the end of a group": varint(30 << 3 | 4),
}
GOOD = {  # what both take
    "nothing": b"",
    "a number of a newer writer": num(30, 1),
    "bytes of a newer writer": blob(30, b"\xff\xff"),
    "8 bytes of a newer writer": varint(30 << 3 | 1) + b"\0" * 8,
    "4 bytes of a newer writer": varint(30 << 3 | 5) + b"\0" * 4,
    "a tag that is longer than needed": b"\xf0\x81\x00\1",
    "a number of more than 64 bits": num(30, 1)[:-1] + b"\xff" * 9 + b"\x7f",
}
PLACES = ["extra", "plane", "line", "event"]
DECIDED = [  # what, the bytes, do the classes take it, ours
    ("groups were given up before the format was made; a profile with one comes from no writer",
     space(plane=group(30)), True, DAMAGED),
    ("texts need not be UTF-8: kernels have names of other encodings; they are shown with U+FFFD",
     space(plane=blob(2, b"/host:\xff")), False, WHOLE),
    ("a field of another wire type than the schema's is no damage: it reads as nothing",
     space(plane=num(2, 5)), True, WHOLE),
    ("stats that no analysis asks for are stepped over, and damage in them with them",
     space(stat=b"\xff\xff"), False, WHOLE),
    ("a file without planes is not a profile", b"", True, REFUSED),
    ("a file that ends in a plane is read up to there", space() + space()[:-3], False, DAMAGED),
    ("where that is the first plane, nothing is", space()[:-3], False, REFUSED),
]


def check_rows(folder, message):
    rows = [(f"{what}, behind {place}", space(**{place: data}), False, DAMAGED) for place in PLACES for what, data in BAD.items()]
    rows += [(f"{what}, behind {place}", space(**{place: data}), True, WHOLE) for place in PLACES for what, data in GOOD.items()]
    bad = 0
    for what, data, is_taken, verdict in rows + DECIDED:
        got, words = ours(folder, "host.xplane.pb", "report", data)
        if taken_by(message, data) != is_taken:
            bad += 1
            print(f"{what}: the classes {'refuse' if is_taken else 'take'} it")
        if got != verdict:
            bad += 1
            print(f"{what}: {got}, not {verdict} {words}")
    print(f"{len(rows) + len(DECIDED)} rows")
    return bad


# --- damaged copies

# seeds, file, command, proto, root, why ours may refuse what the classes take, but for ALWAYS
ALWAYS = "a wire type that protobuf does not have|: empty[: ]"
KINDS = [
    ("xplane", "host.xplane.pb", "report", "tests/fuzz/xspace.proto", "XSpace",
     "an XSpace without planes|not a recognised profile|compiled module damaged"),
    ("pprof", "memory.prof", "report", "tests/fuzz/pprof.proto", "Profile",
     "nothing in it is in bytes|not in the table|below zero|without its size|not a recognised profile"),
    ("hlo", "module.hlo_proto.pb", "hlo", "proto/hlo.proto", "HloProto", "holds no compiled module"),
]


def changed(rng, data):
    """The message with one field changed, dropped or doubled, at some depth; every length around it fits."""
    fields = list(parts(data))
    if not fields:
        return data + rng.choice([num(30, 7), blob(31, b"abc"), group(9)])
    at = rng.randrange(len(fields))
    field, wire, value = fields[at]
    form = rng.randrange(8)
    if wire == 2 and form < 5 and list(parts(value)):
        fields[at] = (field, wire, changed(rng, value))
    elif form == 5:
        del fields[at]
    elif form == 6:
        fields.insert(rng.randrange(len(fields) + 1), fields[at])
    elif wire == 0:
        fields[at] = (field, wire, varint(rng.choice([0, 1, 127, 2**31, 2**63, 2**64 - 1, rng.getrandbits(rng.randrange(1, 64))])))
    else:
        fields[at] = (rng.choice([field, rng.randrange(1, 12)]), wire, value[:rng.randrange(len(value) + 1)] if wire == 2 else value)
    return b"".join(varint(f << 3 | w) + (varint(len(v)) if w == 2 else b"") + v for f, w, v in fields)


def parts(data):
    """(field, wire type, bytes) of a message; nothing where it is none."""
    out, at = [], 0
    try:
        while at < len(data):
            tag, at = read_varint(data, at)
            field, wire = tag >> 3, tag & 7
            if wire == 0:
                end = read_varint(data, at)[1]
            elif wire == 2:
                n, at = read_varint(data, at)
                end = at + n
            else:
                end = at + {1: 8, 5: 4}[wire]
            if not field or end > len(data):
                return []
            out.append((field, wire, data[at:end]))
            at = end
    except (IndexError, KeyError):
        return []
    return out


def damaged(rng, data):
    if rng.random() < 0.8:
        for _ in range(rng.choice([1, 2, 4])):
            data = changed(rng, data)
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes(rng.randrange(256) for _ in range(rng.randrange(3))) + data[at + rng.randrange(3):]


def check_damaged(folder, seed, rounds):
    bad = 0
    for seeds, name, command, proto, root, excuse in KINDS:
        message, nr, nr_taken = classes(os.path.join(TOP, proto), root), 0, 0
        for path in sorted(glob.glob(os.path.join(SEEDS, seeds, "*"))):
            rng = random.Random(f"{seed} {os.path.basename(path)}")
            with open(path, "rb") as f:
                whole = f.read()
            for _ in range(rounds):
                data = damaged(rng, whole)
                is_taken = not data.startswith(b"\x1f\x8b") and taken_by(message, data)
                got, words = ours(folder, name, command, data)
                nr, nr_taken = nr + 1, nr_taken + is_taken
                if is_taken and got != WHOLE and not re.search(f"{ALWAYS}|{excuse}", words):
                    bad += 1
                    print(f"{path}, seed {seed}: {got}: {words}\n{data.hex()}")
        print(f"{seeds}: {nr} damaged copies, of which the classes take {nr_taken} (seed {seed})")
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    message = classes(os.path.join(TOP, "tests", "fuzz", "xspace.proto"), "XSpace")
    with tempfile.TemporaryDirectory() as folder:
        return 1 if check_rows(folder, message) + check_damaged(folder, args.seed, args.rounds) else 0


if __name__ == "__main__":
    sys.exit(main())
