#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Redacted profiles say the same, and nothing of whom they are from: redacted_test.py [PATH...]

Of each run: the report of the redacted copy has the same numbers as that of the profile, row by row, and the same words where
a column is declared as TEXT, not as a NAME (src/result/schema); in the copy (unpacked)
stands none of the words that somebody chose: of an xplane and its compiled modules every text on the wire is looked at, of a
trace every string of the JSON, less what the lists of public words in src/copy/words.c have. And hashing again with the
same key gives the same bytes, with another key other names.

Runs: the bundled sample, planted runs, small real captures of jax, and all of the corpus where it is there ($TS_CORPUS);
or those named. Run in the build folder; $TPUSIGHT names the program (default bin/tpusight), $srcdir the sources.
"""
import collections
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import DATA, PROGRAM, TOP

sys.path[:0] = [os.path.join(TOP, "tests", "fixtures")]
import wire

PLANTED = ["clean", "two_hosts", "recompiles", "input", "remat", "heads"]


# --- the report

def tables(value, path, out):
    """The numbers of each object, by the path to it without indices: rows may trade places where names break ties."""
    if isinstance(value, dict):
        row = sorted((k, v) for k, v in value.items() if v is None or isinstance(v, (int, float)) or
                     isinstance(v, list) and v and all(isinstance(x, (int, float)) for x in v))
        if path == ".run.hosts":
            row = [(k, v) for k, v in row if k != "bytes"]  # of the file itself
        if path == ".flame.stacks":
            row = [(k, v) for k, v in row if k != "parent"]  # the place of a row
        out.setdefault(path, collections.Counter())[json.dumps(row)] += 1
        for k, v in value.items():
            tables(v, path + "." + k, out)
    elif isinstance(value, list):
        out.setdefault(path + "[]", collections.Counter())[len(value)] += 1
        for v in value:
            tables(v, path, out)


def words_of_ours(schema, defs, path=""):
    """The paths of texts that are not names of the job's."""
    if "string" in schema.get("type", []) and "$comment" not in schema:
        yield path
    schema = defs.get(schema.get("$ref", "").rpartition("/")[2], schema)
    for name, member in {**schema.get("properties", {}), **schema.get("items", {}).get("properties", {})}.items():
        yield from words_of_ours(member, defs, f"{path}.{name}")


def texts(value, path, wanted, out):
    if isinstance(value, dict):
        for k, v in value.items():
            texts(v, path + "." + k, wanted, out)
    elif isinstance(value, list):
        for v in value:
            texts(v, path, wanted, out)
    elif isinstance(value, str) and path in wanted:
        out.setdefault(f"{path}, TEXT", collections.Counter())[value] += 1


def wanted_texts():
    schema = json.loads(subprocess.run([PROGRAM, "schema"], capture_output=True, check=True).stdout)
    return set(words_of_ours(schema, schema["$defs"]))


def report(folder, wanted):
    done = subprocess.run([PROGRAM, "report", "--format", "json", "."], capture_output=True, cwd=folder)
    if done.returncode not in (0, 4):
        raise SystemExit(f"{folder}: {done.stderr.decode()}")
    out = {}
    said = json.loads(done.stdout)
    tables(said, "", out)
    texts(said, "", wanted, out)
    return out


def differences(folder, copies):
    wanted = wanted_texts()
    before, after = report(folder, wanted), report(copies, wanted)
    bad = []
    for key in sorted(set(before) | set(after)):
        a, b = before.get(key, collections.Counter()), after.get(key, collections.Counter())
        if a != b:
            bad.append(f"{key or 'report'}: {list((a - b).items())[:2]} became {list((b - a).items())[:2]}")
    return bad


# --- words

def public_words():
    """The lists in src/copy, and ATen's ops."""
    words, text = set(), ""
    for source in ("copy/words.c", "copy/library.c", "model/aten_names.c"):
        with open(os.path.join(TOP, "src", *source.split("/"))) as f:
            text += f.read()
    for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', text):
        words.update(literal.split(" "))
        words.update(re.findall(r"[A-Za-z0-9_]+", literal))
    return words


IDENTIFIER = re.compile(r"[A-Za-z0-9_\u0080-\U0010ffff]+")
VERSION = re.compile(r"_(ptsz|ptds|spt)$|_?[vR]\d{1,4}$")


def is_public(word, public):
    """By the rules of the manual: of public pieces between underscores, numbers of four digits at most among them."""
    if word in public or word.isdigit() or VERSION.sub("", word) in public or re.fullmatch(r"0x[0-9a-f]{1,4}|((sqs)?[sqk]+\d+)+", word):
        return True
    if all(piece in public or re.sub(r"\d{1,4}", "#", piece) in public or len(piece) <= 1 or piece.isdigit() for piece in word.split("_")):
        return True
    pieces = word.split("_")
    good = [True] + [False] * len(pieces)
    for end in range(1, len(pieces) + 1):
        for start in range(end):
            piece = "_".join(pieces[start:end])
            if good[start] and (piece in public or len(piece) <= 1 or piece.isdigit() and len(piece) <= 4):
                good[end] = True
    return good[-1]


def chosen_words(texts, public):
    """Identifiers of four characters and more that somebody chose."""
    texts = list(texts)
    words = {word for text in texts for word in IDENTIFIER.findall(text) if len(word) >= 4}
    return {word for word in words if not is_public(word, public) and not re.fullmatch(r"\d{1,4}[A-Za-z]+", word)}


# Ids of instructions in a module's schedule, packed: bytes that look like letters.
SCHEDULE = (7, 1, 2, 1)


def wire_texts(message, path=()):
    """Everything on the wire that may be a text: each field with a length, and if it makes sense as a message, its fields."""
    try:
        found = list(wire.fields(message))
    except (ValueError, IndexError):
        return
    for field, kind, value in found:
        if kind != wire.BYTES or not value or (*path, field)[-4:] == SCHEDULE:
            continue
        try:
            text = value.decode()
            if text.replace("\n", "").replace("\t", "").isprintable():
                yield text
        except UnicodeDecodeError:
            pass
        if len(path) < 12:
            yield from wire_texts(value, (*path, field))


def json_texts(value):
    if isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from json_texts(v)
    elif isinstance(value, list):
        for v in value:
            yield from json_texts(v)
    elif isinstance(value, str):
        yield value


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def texts_of(path):
    data = read(path)
    if path.endswith(".pb"):
        return set(wire_texts(data))
    return set(json_texts(json.loads(data.decode("utf-8", "replace"), strict=False)))


def is_run_together(word, public):
    """A message taken for a text begins or ends with a byte of something else, or without its last one."""
    return is_public(word[:-1], public) or is_public(word[1:], public) or any(w[:-1] == word for w in public)


def leaks(path, copy, public):
    """The words that somebody chose, and those of them that are in the copy as they were."""
    words = chosen_words(texts_of(path), public)
    there = {word for text in texts_of(copy) for word in IDENTIFIER.findall(text)}
    return words, {word for word in words & there if not path.endswith(".pb") or not is_run_together(word, public)}


# --- runs

def program(*args):
    done = subprocess.run([PROGRAM, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode not in (0, 4):
        raise SystemExit(f"{' '.join(args)}: {done.returncode}: {done.stderr.decode()}")


def check(name, files, public):
    bad = []
    nr_words = 0
    with tempfile.TemporaryDirectory() as scratch:
        plain, redacted = os.path.join(scratch, "plain", "run"), os.path.join(scratch, "redacted", "run")
        os.makedirs(plain)
        os.makedirs(redacted)
        for i, path in enumerate(files):
            ending = "".join(re.findall(r"(\.xplane\.pb|\.pb|\.pt\.trace\.json|\.json)(\.gz)?$", path)[0])
            copy = os.path.join(redacted, f"{i:02d}{ending}")
            again, other = os.path.join(scratch, "again" + ending), os.path.join(scratch, "other" + ending)
            shutil.copyfile(path, os.path.join(plain, os.path.basename(copy)))
            program("redact", "--salt", "one", "-o", copy, path)
            program("redact", "--salt", "one", "-o", again, path)
            program("redact", "-o", other, path)
            if read(copy) != read(again):
                bad.append(f"{path}: the same key gave another copy")
            if read(copy) == read(other):
                bad.append(f"{path}: another key gave the same copy")
            os.unlink(again)
            os.unlink(other)
            words, found = leaks(path, copy, public)
            nr_words += len(words)
            bad += [f"{os.path.basename(path)}: {w!r} is still there" for w in sorted(found)[:10]]
        bad += differences(plain, redacted)
    print(f"{name}: {nr_words} words that somebody chose, {len(bad)} faults")
    for line in bad[:12]:
        print("  ", line[:600])
    return bool(bad)


def runs(scratch):
    yield "sample", glob.glob(os.path.join(DATA, "sample", "**", "*.xplane.pb"), recursive=True)
    for name in PLANTED:
        with tarfile.open(os.path.join(DATA, "planted", name + ".tar.gz")) as tar:
            tar.extractall(os.path.join(scratch, name))
        yield name, sorted(glob.glob(os.path.join(scratch, name, "**", "*.xplane.pb"), recursive=True))
    for path in sorted(glob.glob(os.path.join(DATA, "*.xplane.pb")) + glob.glob(os.path.join(DATA, "*.trace.json*")) +
                       glob.glob(os.path.join(DATA, "torch", "*.trace.json*"))):
        yield os.path.basename(path), [path]
    corpus = os.environ.get("TS_CORPUS", os.path.join(TOP, "..", "shared", "corpus"))
    found = sorted(glob.glob(os.path.join(corpus, "xplane", "*.pb")) + glob.glob(os.path.join(corpus, "kineto", "*.json.gz")))
    if not found:
        print("the corpus is not there ($TS_CORPUS): its profiles are left out")
    for path in found:
        yield os.path.basename(path), [path]


def main():
    public = public_words()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        chosen = [(os.path.basename(p), [p]) for p in sys.argv[1:]]
        for name, files in chosen or runs(scratch):
            failed |= check(name, files, public)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
