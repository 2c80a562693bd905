#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a large trace: the events of a trace of PyTorch's, again and again, each time later.

Usage: make_big_trace.py TRACE OUT BYTES

TRACE may be packed; OUT is plain JSON of BYTES or a little more (5G, 200M). Times, correlations, ids of flows and numbers of
ProfilerStep rise with each repetition, all else is as it was. Needs as much memory as TRACE has text, whatever BYTES is.
"""
import gzip
import re
import sys

UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}
RISING = re.compile(r'("(ts|correlation|External id|id)" *: *|ProfilerStep#)(\d+)(\.\d+)?')


def size_of(text):
    return int(float(text[:-1]) * UNITS[text[-1]]) if text[-1] in UNITS else int(text)


class Template:
    """The list of events, cut where a number rises: texts, and the numbers between them."""

    def __init__(self, path):
        with (gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8")) as file:
            text = file.read()
        start = text.index("[", text.index('"traceEvents"')) + 1
        end = self.end_of(text, start)
        self.head, events, self.tail = text[:start], text[start:end], text[end:]
        self.texts, self.numbers, at, times, links, steps = [], [], 0, [], [0], [0]
        for match in RISING.finditer(events):
            kind = {"ts": 0, None: 2}.get(match[2], 1)
            self.texts.append(events[at:match.start(3)])
            self.numbers.append((kind, int(match[3])))
            (times, links, steps)[kind].append(int(match[3]))
            at = match.end(3)
        self.last = events[at:]
        # by so much each repetition is later, and counts on
        self.by = (max(times) - min(t for t in times if t > 0) + 1000, max(links) + 1, max(steps) + 1)

    @staticmethod
    def end_of(text, at):
        """Of the list; brackets inside strings do not count."""
        depth = 1
        for match in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]]', text[at:]):
            depth += {"[": 1, "]": -1}.get(match[0], 0)
            if depth == 0:
                return at + match.start()
        raise SystemExit("make_big_trace.py: the list of events does not end")

    def write(self, out, repetition):
        by = [step * repetition for step in self.by]
        parts = []
        for text, (kind, number) in zip(self.texts, self.numbers):
            parts.append(text)
            parts.append(str(number + by[kind]))
        parts.append(self.last)
        return out.write("".join(parts))


def main():
    template, wanted = Template(sys.argv[1]), size_of(sys.argv[3])
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        nr = out.write(template.head)
        repetition = 0
        while nr < wanted:
            nr += out.write("," if repetition else "") + template.write(out, repetition)
            repetition += 1
        nr += out.write(template.tail)
    print(f"{sys.argv[2]}: {nr} bytes, {repetition} repetitions")


if __name__ == "__main__":
    main()
