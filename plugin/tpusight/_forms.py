# SPDX-License-Identifier: MIT
"""The forms that the program writes a report in: what `tpusight COMMAND --help` names at --format. A test holds the two
against each other (tests/python/program_test.py)."""
from typing import Sequence

#: of any report, the usual one first
REPORT = ("html", "json", "text", "csv", "xlsx")
#: of a flame graph
FLAME = REPORT + ("folded", "speedscope")


def need(form: str, forms: Sequence[str] = REPORT) -> None:
    """Raises ValueError unless FORM is one of FORMS."""
    if form not in forms:
        raise ValueError(f"{form} is not a format ({', '.join(forms)})")
