#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The power fails: what a command wrote is replayed as far as a file system may have brought it to disk: crash_test.py

A tracer (tracer.c) records what a command does to files. A crash may come behind each of these calls. What is on the disk then
is what the weakest file system that we know of allows:
 - data of a file that was not synced since is lost, or there in part, or is zeros of the right length, or there;
 - names (made, linked, renamed, removed) that were not synced by their folder are there or not, in any order, each for
   itself; but a rename never loses both names, and a name is that of the whole file that it was given to;
 - what was synced, a file's data by its fsync and names by their folder's, is there.
In each of these states every file is the old or the new one, whole, and the next run gets to the right end. When the command
has ended with 0, the new files are there.

The test tests itself: without the syncs of files in the record there are half files, and without those of folders the new ones
may be missing at the end. `make check` tries some states, others each day; TS_TURNS=all is each.
"""
import hashlib
import itertools
import os
import random
import sys

import scenes

MOST = 4096  # states behind one call, before they are sampled
STEP = 12
SCENES = ("annotate", "annotate-again", "annotate-trace", "strip", "strip-trace", "report-json", "trim", "trim-folder", "redact",
          "timeline-chrome")


class Op:
    """A call that went well: what it is, in which folder, on which file."""

    def __init__(self, line, folder):
        self.kind, inode, path, second, offset, data = line.split("\t")
        self.inode, self.offset, self.data = int(inode), int(offset), bytes.fromhex(data)
        self.path, self.second = (os.path.relpath(p, folder) if p.startswith(folder) else None for p in (path, second))
        self.nameless = path.endswith(" (deleted)")
        self.file = None  # its number, when it was made by the command

    @property
    def folder(self):
        """In which the name is that is made or removed."""
        return os.path.dirname(self.second or self.path)


def record(scene, folder):
    """The calls of the command on files of the scene, and for each file that it made its data."""
    scenes.lay(folder, scene.old)
    traced = scenes.Traced(["record"], scene.command, folder)
    scene.must_end_well(traced.ended)
    ops, files = [], {}
    for line in traced.text.splitlines():
        op = Op(line, folder)
        if op.path is None or op.nameless:
            continue
        if op.kind == "open":
            files[op.inode] = len(ops)
        op.file = files.get(op.inode)
        assert op.kind not in ("write", "truncate") or op.file is not None, f"{scene.name}: {op.path} is written in place"
        ops.append(op)
    return ops


class Change:
    """Of a name: what it is given to, and what it was called before."""

    def __init__(self, folder, path, given=None, before=None, left=None, makes_folder=False):
        self.folder, self.path, self.given, self.before, self.makes_folder = folder, path, given, before, makes_folder
        self.left = left  # what has the name from before now; None: nothing
        self.is_safe = False

    def ways(self):
        """How much of it may be on the disk; of a move also the new name alone."""
        return ["all"] if self.is_safe else ["none", "new", "all"] if self.before else ["none", "all"]


class Disk:
    """What may be on the disk behind the first calls of a record."""

    def __init__(self, scene, ops):
        self.old, self.seen = scene.old, dict(scene.old)  # a name leads to old content, or to the number of a new file
        self.synced, self.written = {}, {}  # number of a file -> data that is safe; data as the program sees it
        self.changes = []
        for op in ops:
            getattr(self, op.kind, lambda op: None)(op)

    def open(self, op):
        self.synced[op.file] = self.written[op.file] = b""
        self.give(op, op.path, op.file)

    def write(self, op):
        was = self.written[op.file].ljust(op.offset, b"\0")
        self.written[op.file] = was[:op.offset] + op.data + was[op.offset + len(op.data):]

    def truncate(self, op):
        self.written[op.file] = self.written[op.file][:op.offset].ljust(op.offset, b"\0")

    def sync(self, op):
        if op.file is not None:
            self.synced[op.file] = self.written[op.file]
        for change in self.changes:
            change.is_safe |= op.file is None and (change.folder or ".") == op.path

    def give(self, op, path, given, before=None):
        self.changes.append(Change(op.folder, path, given, before))
        self.seen[path] = given

    def rename(self, op):
        self.give(op, op.second, self.seen.pop(op.path), op.path)

    def exchange(self, op):
        given, left = self.seen[op.path], self.seen[op.second]
        self.changes.append(Change(op.folder, op.second, given, op.path, left))
        self.seen[op.path], self.seen[op.second] = left, given

    def link(self, op):
        self.give(op, op.second, self.seen[op.path])

    def unlink(self, op):
        if op.path in self.seen:
            self.changes.append(Change(op.folder, op.path))
            del self.seen[op.path]

    def mkdir(self, op):
        self.changes.append(Change(op.folder, op.path, makes_folder=True))

    def contents(self, file):
        """What a file may hold."""
        safe, seen = self.synced[file], self.written[file]
        return list(dict.fromkeys([safe, seen[:max(len(safe), len(seen) // 2)], bytes(len(seen)), seen])) if safe != seen else [seen]

    def tree(self, ways, data):
        """The folder, for one choice of the changes of names and of data."""
        found, lost = dict(self.old), []
        for change, way in zip(self.changes, ways):
            if change.makes_folder:
                lost += [change.path + "/"] if way == "none" else []
            elif way != "none" and change.given is not None:
                found[change.path] = change.given
            if way == "all" and change.left is not None:
                found[change.before] = change.left
            elif way == "all":
                found.pop(change.before if change.given is not None else change.path, None)
        return {path: scenes.without_looks(data[held]) if isinstance(held, int) else held for path, held in found.items()
                if not path.startswith(tuple(lost))}

    def states(self):
        """Each folder that may be found."""
        files = list(self.written)
        options = [change.ways() for change in self.changes] + [self.contents(file) for file in files]
        nr = 1
        for option in options:
            nr *= len(option)
        draw = random.Random(nr)
        every = itertools.product(*options) if nr <= MOST else ([draw.choice(o) for o in options] for _ in range(MOST))
        for choice in every:
            yield self.tree(choice[:len(self.changes)], dict(zip(files, choice[len(self.changes):])))


def key_of(files):
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path}\0{len(files[path])}\0".encode() + files[path])
    return digest.digest()


def lost_at_the_end(scene, ops):
    """Is there a state behind the last call in which not all of the new files are there?"""
    for found in Disk(scene, ops).states():
        if {path: content for path, content in found.items() if not scenes.temporaries([path])} != scene.new:
            return True
    return False


def states_of(scene, ops):
    """The different states behind all calls: {key: (number of calls, files)}."""
    states = {}
    for nr in range(len(ops) + 1):
        for found in Disk(scene, ops[:nr]).states():
            states.setdefault(key_of(found), (nr, found))
    return states


def has_half_files(scene, states):
    return any(scene.half_of(found, may_leave=True) for _, found in states.values())


def try_scene(scene, folder, sample, counts):
    """What is wrong with it."""
    scene.learn(folder)
    ops = record(scene, folder)
    states = states_of(scene, ops)
    counts["calls"] += len(ops)
    counts["states"] += len(states)
    for nr, found in states.values():
        where = f"{scene.name}: behind call {nr} ({ops[nr - 1].kind} {ops[nr - 1].path})" if nr else f"{scene.name}: at first"
        yield from (f"{where}: {text}" for text in scene.half_of(found, may_leave=True))
        if sample.takes():
            counts["recovered"] += 1
            scenes.lay(folder, found)
            yield from (f"{where}: {text}" for text in (scene.strips if scene.undo and nr % 2 else scene.recovers)(folder))
    if lost_at_the_end(scene, ops):
        yield f"{scene.name}: it ended with 0, and its files may be lost"
    if not has_half_files(scene, states_of(scene, [op for op in ops if op.kind != "sync" or op.file is None])) \
            and any(op.kind == "write" for op in ops):
        yield f"{scene.name}: without the syncs of files there is no half file either: this test finds nothing"
    if not lost_at_the_end(scene, [op for op in ops if op.kind != "sync" or op.file is not None]):
        yield f"{scene.name}: without the syncs of folders nothing is lost either: this test finds nothing"


def main():
    scenes.need_tracer()
    sample, counts, wrong = scenes.Sample(STEP), {"calls": 0, "states": 0, "recovered": 0}, []
    with scenes.Folder() as folder:
        for scene in scenes.wanted(scenes.all_scenes()):
            if scene.name in SCENES:
                wrong += try_scene(scene, folder, sample, counts)
    print("\n".join(wrong))
    print(f"{counts['calls']} calls, {counts['states']} states of the disk, {counts['recovered']} of them run again, "
          f"{len(wrong)} complaints")
    return 1 if wrong or counts["states"] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
