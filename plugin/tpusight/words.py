# SPDX-License-Identifier: MIT
"""What the words of a report mean: labels, names of JSON, views, rules, thresholds. The program has the texts
(docs/glossary.md and docs/analyses)."""
from typing import List, NamedTuple

from ._program import ask


class Meaning(NamedTuple):
    """One meaning of a word. KIND: label, word, view, field, bucket, rule or threshold; PAGE: the document that has it."""
    word: str
    kind: str
    view: str
    page: str
    text: str

    def __str__(self) -> str:
        return f"{self.word}: {self.kind} ({self.page})\n{self.text}"


class Meanings(List[Meaning]):
    """The meanings of a word, the plainest first. As a statement it prints them for people."""

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    __repr__ = __str__


def explain(word: str) -> Meanings:
    """What WORD means: "MXU utilization", "mxu_utilization_pct", "systolic.ops.time_ps", "idle_high". Raises TpusightError,
    with the word that is nearest, when it is not explained."""
    return Meanings(Meaning(*(row[name] or "" for name in Meaning._fields)) for row in ask("explain", "--json", "--", word)["words"])
