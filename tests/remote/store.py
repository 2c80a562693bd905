#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A helper of the remote protocol (docs/remote.md) over a folder: test://bucket/a/b is $TS_STORE/bucket/a/b. For tests of the C program
alone; the real helpers are plugin/tpusight/remote.

An object's generation is a number in a file beside the store, $TS_STORE.generations/bucket/a/b; every write makes a new one. All
requests are written to $TS_STORE.log, a line each. $TS_FAULTS is a list of faults, separated by commas:
  slow=S          each request takes S seconds       die=OP       the helper dies at the first OP (its last words are "boom: it died")
  crash=OP:N      the Nth OP is done, and the helper dies before it says so (once for all helpers of the store)
  fail=OP         every OP fails with "io"           hang=OP      OP is never answered
  once=OP         the first OP fails with "io" (once for all helpers of the store)
  short=OP        reads give half of the bytes       garbage=OP   the answer is not JSON
  change=OP       before the first OP, the object it names gets another generation (once for all helpers of the store)
  kill=OP:N       the program that asked is killed (SIGKILL) before the Nth OP is done
  extra=NAME      an entry of this name is in each listing
"""
import json
import os
import shutil
import signal
import sys
import threading
import time

STORE = os.environ["TS_STORE"]
NEW = f"{STORE}.{os.getpid()}.new"  # several helpers write at once
FAULTS = dict(f.split("=", 1) for f in os.environ.get("TS_FAULTS", "").split(",") if f)
LOCK = threading.Lock()
counts = {}


class Failure(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def say(**reply):
    with LOCK:
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def path_of(url):
    return os.path.join(STORE, url.split("://", 1)[1].rstrip("/"))


def generation_path(path):
    return STORE + ".generations" + path[len(STORE):]


def generation(path):
    try:
        with open(generation_path(path)) as f:
            return f.read()
    except OSError:
        return "1"


def advance(path):
    following = str(int(generation(path)) + 1)
    os.makedirs(os.path.dirname(generation_path(path)), exist_ok=True)
    with open(NEW + ".number", "w") as f:
        f.write(following)
    os.replace(NEW + ".number", generation_path(path))
    return following


def about(path):
    st = os.stat(path)
    return {"size": st.st_size, "mtime_ns": st.st_mtime_ns, "generation": generation(path)}


def stat(r, path):
    if not os.path.isfile(path):
        raise Failure("not_found", "there is no such object (check its name)")
    return about(path)


def listing(r, path):
    if "extra" in FAULTS:
        say(id=r["id"], entry={"name": FAULTS["extra"], "size": 3, "mtime_ns": 1, "generation": "g"})
    for folder, _, names in os.walk(path):
        for name in names:
            at = os.path.join(folder, name)
            entry = {"name": os.path.relpath(at, path), **about(at)}
            if r.get("recursive") or "/" not in entry["name"]:
                say(id=r["id"], entry=entry)
    return {}


def read(r, path):
    now = stat(r, path)
    if r.get("generation", now["generation"]) != now["generation"]:
        raise Failure("changed", "the object has changed (run again)")
    size = r.get("size", now["size"])
    if "short" in FAULTS:
        size //= 2
    with open(path, "rb") as source, open(r["file"], "r+b") as to:
        source.seek(r.get("offset", 0))
        to.seek(r.get("at", 0))
        to.write(source.read(size))
    return {"size": size, "generation": now["generation"]}


def check(r, path):
    wanted = r.get("if_generation")
    there = os.path.isfile(path)
    if wanted == "" and there:
        raise Failure("exists", "an object of this name came (run again)")
    if wanted and (not there or generation(path) != wanted):
        raise Failure("changed", "the object has changed (run again)")


def replace(path, source, size=None, tail=None):
    with LOCK:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(NEW, "wb") as to:
            with open(source, "rb") as f:
                to.write(f.read() if size is None else f.read(size))
            if tail:
                with open(tail, "rb") as f:
                    shutil.copyfileobj(f, to)
        os.replace(NEW, path)
        return {"generation": advance(path)}


def put(r, path):
    check(r, path)
    return replace(path, r["file"])


def append(r, path):
    check(r, path)
    return {**replace(path, path, r["size"], r["file"]), "uploaded": os.path.getsize(r["file"]), "how": "compose"}


def cut(r, path):
    check(r, path)
    return {**replace(path, path, r["size"]), "uploaded": 0, "how": "copy-part"}


def delete(r, path):
    with LOCK:
        check(r, path)
        os.unlink(path)
        advance(path)
    return {}


def hello(r, path):
    return {"version": int(FAULTS.get("version", 1)), "store": "test", "can": ["append", "cut", "if_generation"], "jobs": 4}


OPS = {"hello": hello, "list": listing, "stat": stat, "read": read, "put": put, "append": append, "cut": cut, "delete": delete}


def count(op):
    with LOCK:
        counts[op] = counts.get(op, 0) + 1
        return counts[op]


def is_first(what):
    """Of all helpers of the store."""
    try:
        os.close(os.open(f"{STORE}.{what}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def die():
    sys.stderr.write("boom: it died\n")
    sys.stderr.flush()
    os._exit(3)


def do_faults(r, path):
    op, nr = r["op"], r["nr"]
    if "slow" in FAULTS:
        time.sleep(float(FAULTS["slow"]))
    if FAULTS.get("die") == op:
        die()
    if FAULTS.get("fail") == op:
        raise Failure("io", "the store said 503 (run again)")
    if FAULTS.get("hang") == op:
        time.sleep(3600)
    if FAULTS.get("garbage") == op:
        with LOCK:
            sys.stdout.write("Hello, I am not JSON\n")
            sys.stdout.flush()
    if FAULTS.get("once") == op and is_first("failed"):
        raise Failure("io", "the store is out of order (try again)")
    if FAULTS.get("change") == op and nr == 1 and is_first("changed"):
        with LOCK:
            advance(path)
    if FAULTS.get("kill") == f"{op}:{nr}":
        os.kill(int(os.environ["TS_KILL"]), signal.SIGKILL)
        time.sleep(3600)


def answer(r):
    path = path_of(r.get("url", "test://"))
    r["nr"] = count(r["op"])
    try:
        do_faults(r, path)
        done = OPS[r["op"]](r, path)
        if FAULTS.get("crash") == f"{r['op']}:{r['nr']}" and is_first("crashed"):
            die()
        say(id=r["id"], ok=True, **done)
    except Failure as e:
        say(id=r["id"], ok=False, code=e.code, text=str(e))
    except OSError as e:
        say(id=r["id"], ok=False, code="io", text=str(e))


def main():
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    for line in sys.stdin:
        request = json.loads(line)
        with LOCK, open(STORE + ".log", "a") as log:
            log.write(line)
        threading.Thread(target=answer, args=(request,), daemon=True).start()
    os._exit(0)


if __name__ == "__main__":
    main()
