#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The templates of the doctor's sentences against the words that follow them: templates_test.py

C cannot check that the pieces in braces and the words agree, and a sentence is put together only when its finding is found:
without this test a wrong template would stop the program on a user's profile (src/analysis/kit/rule.h, TS_PUT).
"""
import glob
import os
import re
import sys

DOCTOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "src", "analysis")
STRING = r'"((?:[^"\\]|\\.)*)"'
WORD = re.compile(r"\bTS_(NAME|PLAIN|STRING|COUNT|TIME|CORE|BYTES|RATE|SHARE|PCT|ROUNDED|METRIC|OPS)\(")

PIECES = {"STRING": "text", "PLAIN": "text", "ROUNDED": "number"}


def calls(text):
    """What stands between the parentheses of each TS_PUT and TS_SENTENCE."""
    for found in re.finditer(r"\bTS_(?:PUT|SENTENCE)\(", text):
        depth, at = 1, found.end()
        for token in re.finditer(STRING + r"|[()]", text[found.end():]):
            depth += {"(": 1, ")": -1}.get(token.group(), 0)
            if depth == 0:
                at += token.start()
                break
        yield text[found.end():at]


def wrong_in(call):
    head = re.match(r"\s*doctor,\s*((?:" + STRING + r"\s*)+),", call)
    if not head:
        return "the template is not a string"
    template = "".join(re.findall(STRING, head.group(1)))
    pieces = [piece for piece in re.findall(r"\{(\w+)\}", template) if piece not in ("s", "v")]
    words = [PIECES.get(word, word.lower()) for word in WORD.findall(re.sub(STRING, '""', call[head.end():]))]
    if pieces != words:
        return f"the template has {pieces}, the words are {words}"
    if re.sub(r"[^][{}]", "", re.sub(r"\{\w+\}", "", template)).replace("[]", ""):
        return "a bracket or a brace is not closed, or stands inside another"
    return None


def main():
    nr, wrong = 0, []
    for path in sorted(glob.glob(os.path.join(DOCTOR, "**", "*.c"), recursive=True)):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for call in calls(text):
            nr += 1
            if what := wrong_in(call):
                wrong.append(f"{os.path.relpath(path, DOCTOR)}: {' '.join(call.split())[:80]}: {what}")
    print(f"{nr} templates")
    for line in wrong or ([] if nr else ["no template was found"]):
        print(line, file=sys.stderr)
    return 1 if wrong or not nr else 0


if __name__ == "__main__":
    sys.exit(main())
