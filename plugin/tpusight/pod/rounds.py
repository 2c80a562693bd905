# SPDX-License-Identifier: MIT
"""The rounds of a run by files (docs/map.md). A round maps a step over all files, and puts together what came of it."""
from dataclasses import dataclass
from typing import Tuple


@dataclass(frozen=True)
class Round:
    map: str  # tpusight map STEP FILE
    work: int  # of the map, for one byte, compared with those of the other rounds
    reduce: str = ""  # tpusight reduce STEP, on what the maps made; none where the maps are the end of it
    result: str = ""  # what that makes
    given: Tuple[Tuple[str, str], ...] = ()  # results of earlier rounds that the map takes: (option, result)
    made: str = "-o"  # the option of the map for what the reduce takes
    puts: bool = False  # the map changes files: of profiles that could be read, and never twice at once
    of_folders: bool = False  # the map is of the folders of these, and makes nothing
    also: Tuple[str, ...] = ()  # maps of earlier rounds; the reduce takes what they made as well
    reduced: Tuple[Tuple[str, str], ...] = ()  # files beside those: (option of the reduce, result)
    flags: Tuple[str, ...] = ()  # of the reduce, too


_OUTLINE = Round("outline", 1, "outline", "run.outline")
_GIVEN = (("--outline", "run.outline"),)

REPORT = (
    _OUTLINE,
    Round("pass", 8, "report", "report", given=_GIVEN, reduced=_GIVEN),
)
RESULTS = "run.results"  # missing where nothing of the run is to be annotated
ANNOTATED = "ALL_HOSTS.tpusight.json"
ANNOTATE = (
    _OUTLINE,
    Round("pass", 8, "report", "report.json", given=_GIVEN, reduced=(*_GIVEN, ("--results", RESULTS)),
          flags=("--if-whole",)),
    Round("overlay", 12, "report", ANNOTATED, given=(("--results", RESULTS),), made="--tracks", puts=True, also=("pass",),
          reduced=_GIVEN),
    Round("beside", 0, given=(("--results", RESULTS), ("--report", ANNOTATED)), puts=True, of_folders=True),
)
