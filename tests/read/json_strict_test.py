#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces as our reader takes them, held against Python's json: json_strict_test.py [--seed N] [--rounds N]

Rows: texts that a strict reader takes or refuses, and what ours makes of them; each difference is decided here, with its
reason. Then random traces, written in all the ways that JSON has for the same value (escapes, surrogates, spaces, numbers
with points and exponents): names and durations are those that Python reads. A long run: --rounds 10000.

Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import argparse
import decimal
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM

PS_PER_US = 1000000
EVENT = b'{"ph":"X","name":"one","ts":1,"dur":5,"pid":1,"tid":1}'
WHOLE, DAMAGED, REFUSED = "whole", "damaged", "refused"


def read(folder, text, name="host.pt.trace.json"):
    """What our reader says: (verdict, {name: duration in ps})."""
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(text)
    done = subprocess.run([PROGRAM, "report", "--json", "-j", "1", path], capture_output=True)
    if done.returncode == 3:
        return REFUSED, {}
    if done.returncode not in (0, 4):
        raise SystemExit(f"status {done.returncode}: {text[:200]}: {done.stderr.decode()}")
    report = json.loads(done.stdout)
    damaged = any(finding["rule"] == "damaged_input" for finding in report["doctor"]["findings"])
    names = {row["name"]: row["cpu_total_ps"] for row in report["flame"].get("stacks", [])}
    return DAMAGED if damaged else WHOLE, names


def event(members):
    return b'[{"ph":"X","ts":1,"pid":1,"tid":1,' + members + b"}]"


def row_of(dur):
    return event(b'"name":"one","dur":' + dur)


# text, does Python's json take it, what ours says, the names that are read ({}: none is asked for)
ROWS = [
    (b"[" + EVENT + b"]", True, WHOLE, {"one": 5000000}),
    (b'{"traceEvents":[' + EVENT + b"]}", True, WHOLE, {"one": 5000000}),
    (b" \t\r\n[" + EVENT + b"] \n", True, WHOLE, {"one": 5000000}),
    # numbers
    (row_of(b"-0"), True, WHOLE, {}),
    (row_of(b"0.000001"), True, WHOLE, {"one": 1}),
    (row_of(b"1.5e3"), True, WHOLE, {"one": 1500000000}),
    (row_of(b"15E+2"), True, WHOLE, {"one": 1500000000}),
    (row_of(b"1e-3"), True, WHOLE, {"one": 1000}),
    (row_of(b"123456789.123456"), True, WHOLE, {"one": 123456789123456}),
    (row_of(b"2." + b"0" * 100), True, WHOLE, {"one": 2000000}),
    # Python reads these, though JSON does not have them; so did writers: an event of no known duration is not one
    (row_of(b"NaN"), True, WHOLE, {}),
    (row_of(b"Infinity"), True, WHOLE, {}),
    (row_of(b"-Infinity"), True, WHOLE, {}),
    (row_of(b'"5"'), True, WHOLE, {"one": 5000000}),  # Chrome reads numbers in quotes
    (row_of(b"05"), False, WHOLE, {"one": 5000000}),  # no writer means another number by it
    (row_of(b"+5"), False, WHOLE, {}),
    (row_of(b"0x5"), False, WHOLE, {}),
    (row_of(b"5."), False, WHOLE, {"one": 5000000}),
    (row_of(b"tru"), False, WHOLE, {}),  # a word where a number is asked for: no number
    # texts
    (event(rb'"name":"\u00e9\ud83d\ude00\/\"\\","dur":5'), True, WHOLE, {'é😀/"\\': 5000000}),
    (event(rb'"name":"\ud83d","dur":5'), True, WHOLE, {"\ufffd": 5000000}),  # half a pair is not a character
    (event(rb'"name":"\ude00\ud83d","dur":5'), True, WHOLE, {"\ufffd\ufffd": 5000000}),
    (event(b'"name":"a\tb","dur":5'), False, WHOLE, {"a\tb": 5000000}),  # Kineto wrote such names
    (event(b'"name":"a\\qb","dur":5'), False, WHOLE, {"aqb": 5000000}),
    (event(b'"name":"a\\u12","dur":5'), False, WHOLE, {"a\\u12": 5000000}),
    (event(b'"name":"\xff","dur":5'), False, WHOLE, {"\ufffd": 5000000}),  # and such, cut in a character
    (event(b'"name":"a","name":"b","dur":5'), True, WHOLE, {"b": 5000000}),  # the last one counts
    (event(b'"name":"a","dur":4,"dur":5'), True, WHOLE, {"a": 5000000}),
    (event(rb'"na\u006de":"a","name":"b","dur":5'), True, WHOLE, {"b": 5000000}),
    (event(b"'name':'a','dur':5"), False, REFUSED, {}),
    (event(b'name:"a","dur":5'), False, REFUSED, {}),
    # commas and brackets
    (b"[" + EVENT + b",]", False, WHOLE, {"one": 5000000}),  # a writer that was killed
    (b'{"traceEvents":[' + EVENT + b",],}", False, WHOLE, {"one": 5000000}),
    (b"[" + EVENT + b",," + EVENT + b"]", False, WHOLE, {"one": 5000000}),  # nothing is lost by it
    (b"[" + EVENT, False, WHOLE, {"one": 5000000}),  # the format lets the bracket be missing
    (b'{"traceEvents":[' + EVENT, False, DAMAGED, {"one": 5000000}),
    (b"[" + EVENT + b",{", False, DAMAGED, {"one": 5000000}),
    (b"[" + EVENT + b"}", False, DAMAGED, {"one": 5000000}),
    (b"[" + EVENT + b"]\0\0\0", False, WHOLE, {"one": 5000000}),  # what a file system left there
    (b'{"traceEvents":[' + EVENT + b"]}\0\n", False, WHOLE, {"one": 5000000}),
    (b"[" + EVENT + b"] // end", False, DAMAGED, {"one": 5000000}),
    (b"[" + EVENT + b"][]", False, DAMAGED, {"one": 5000000}),  # a second trace is not read: that is said
    (b'{"traceEvents":[' + EVENT + b']}{"traceEvents":[]}', False, DAMAGED, {"one": 5000000}),
    (event(b'"name":"a" "dur":5'), False, REFUSED, {}),
    (event(b'"name":"a","dur" 5'), False, REFUSED, {}),
    # depth: nothing is recursive
    (event(b'"name":"a","dur":5,"args":{"x":' + b"[" * 100000 + b"]" * 100000 + b"}"), False, WHOLE, {"a": 5000000}),
    # what is not a trace
    (b"", False, REFUSED, {}),
    (b"{", False, REFUSED, {}),
    (b"null", True, REFUSED, {}),
    (b"\xef\xbb\xbf[" + EVENT + b"]", True, WHOLE, {"one": 5000000}),  # a mark of the byte order
    (("[" + EVENT.decode() + "]").encode("utf-16"), True, REFUSED, {}),  # Python guesses UTF-16; traces are UTF-8
]


def strict_takes(text):
    def no_constant(_):
        return 0
    try:
        json.loads(text, parse_constant=no_constant)
        return True
    except (ValueError, RecursionError):
        return False


def check_rows(folder):
    bad = 0
    for text, is_taken, verdict, names in ROWS:
        got, read_names = read(folder, text)
        wrong = []
        if strict_takes(text) != is_taken:
            wrong.append(f"Python's json {'refuses' if is_taken else 'takes'} it")
        if got != verdict:
            wrong.append(f"{got}, not {verdict}")
        wrong += [f"{name!r} is {read_names.get(name)}, not {ps}" for name, ps in names.items() if read_names.get(name) != ps]
        if wrong:
            bad += 1
            print(f"{text[:90]}: {'; '.join(wrong)} {list(read_names.items())[:3]}")
    return bad


# --- packed

def check_packed(folder):
    """What Python's gzip refuses, ours calls damaged, though the trace in it is whole."""
    whole, bad = gzip.compress(b"[" + EVENT + b"]", mtime=0), 0
    sums = bytes(b ^ 1 for b in whole[-8:])
    for what, packed, verdict in [("as it is", whole, WHOLE), ("two members", whole + gzip.compress(b" \n"), WHOLE),
                                  ("zeros behind", whole + bytes(512), WHOLE), ("no sum", whole[:-8], DAMAGED),
                                  ("half a sum", whole[:-3], DAMAGED), ("another sum", whole[:-8] + sums, DAMAGED),
                                  ("another length", whole[:-4] + sums[-4:], DAMAGED),
                                  ("text behind", whole + b"text", DAMAGED),
                                  ("half a member behind", whole + whole[:20], DAMAGED),
                                  ("two traces", whole + whole, DAMAGED)]:
        try:
            text = gzip.decompress(packed)
            is_taken = text.strip() == b"[" + EVENT + b"]"
        except (OSError, EOFError, zlib.error):
            is_taken = False
        got, names = read(folder, packed, "host.pt.trace.json.gz")
        if got != verdict or names != {"one": 5000000} or is_taken != (verdict == WHOLE):
            bad += 1
            print(f"packed, {what}: {got}, not {verdict}; {names}; Python {'takes' if is_taken else 'refuses'} it")
    return bad


# --- random traces

def spelled(rng, text):
    """The text as JSON, each character in one of its spellings."""
    out = []
    for c in text:
        code = ord(c)
        short = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
        if c in short and (c != "/" or rng.random() < 0.5):
            out.append(short[c])
        elif code < 32 or rng.random() < 0.3:
            units = c.encode("utf-16-be")
            style = rng.choice(["\\u%04x", "\\u%04X"])
            out += [style % (units[i] << 8 | units[i + 1]) for i in range(0, len(units), 2)]
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def some_text(rng, i):
    alphabet = "abz09 _:/\\\"\b\f\n\r\t\x01\x1f\x7f\u00e9\u0416\u4e2d\ufffd\uffff\U0001f600\U0010ffff[]{},'"
    return f"{i}:" + "".join(rng.choice(alphabet) for _ in range(rng.randrange(12)))


def some_number(rng):
    """A duration of 1 to 10 ms, in us, in some spelling."""
    digits = rng.randrange(0, 9)
    whole, part = rng.randrange(1000, 10000), "".join(rng.choice("0123456789") for _ in range(digits))
    form = rng.randrange(4)
    if form == 0 or not part:
        return str(whole)
    if form == 1:
        return f"{whole}.{part}"
    if form == 2:
        return f"{whole}.{part}" + rng.choice(["e0", "E+0", "e-0"])
    return f"{whole / 1000:.{3 + digits}f}" + rng.choice(["e3", "E+3"])


def spaces(rng):
    return "".join(rng.choice(" \t\r\n") for _ in range(rng.choice([0, 0, 0, 1, 3])))


def some_trace(rng):
    events = []
    for i in range(rng.randrange(1, 12)):
        members = [("ph", '"X"'), ("name", spelled(rng, some_text(rng, i))), ("ts", str(rng.randrange(1000))),
                   ("dur", some_number(rng)), ("pid", "1"), ("tid", str(i)), ("other", '[{"a":[1,"}]"]},null,true]')]
        rng.shuffle(members)
        inside = ("," + spaces(rng)).join(f'{spaces(rng)}"{k}"{spaces(rng)}:{spaces(rng)}{v}' for k, v in members)
        events.append("{" + inside + spaces(rng) + "}")
    text = "[" + ("," + spaces(rng)).join(events) + spaces(rng) + "]"
    return text if rng.random() < 0.5 else spaces(rng) + '{"traceEvents":' + text + "}"


def expected(text):
    trace = json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal)
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    return {e["name"]: int(e["dur"] * PS_PER_US) for e in events}


def check_random(folder, seed, rounds):
    rng = random.Random(seed)
    for i in range(rounds):
        text = some_trace(rng)
        want = expected(text)
        verdict, got = read(folder, text.encode())
        wrong = [(name, ps, got.get(name)) for name, ps in want.items()
                 if got.get(name) is None or abs(got[name] - ps) > 1]  # an exponent goes through a double
        if verdict != WHOLE or wrong:
            print(f"seed {seed}, round {i}: {verdict}: {wrong[:3]}\n{text}")
            return 1
    print(f"{len(ROWS)} rows, {rounds} random traces as Python reads them (seed {seed})")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=60)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return 1 if check_rows(folder) + check_packed(folder) + check_random(folder, args.seed, args.rounds) else 0


if __name__ == "__main__":
    sys.exit(main())
