# SPDX-License-Identifier: MIT
"""What `tpusight hlo` asks for that it cannot read itself: --hlo [--topology=SLICE] KIND:PATH... -- OPTION...

Programs are compiled, texts are converted, and `tpusight hlo` is asked again with the protos (src/cli/hlo_programs.c). All options
are its own. Of a folder of dumps the largest module is taken.
"""
import os
import pickle
import shutil
import subprocess
from typing import Any, Dict, List, Tuple

from .. import _program
from .._program import TpusightError
from . import Folder, Say, chips, files, job

OPTION, _TOPOLOGY = "--hlo", "--topology="
_COMPILED = {files.MLIR, files.EXPORT}
_FOLDER = "folder"


def _parted(words: List[str]) -> Tuple[str, List[Tuple[str, str]], List[str]]:
    """(the slice or "", [(kind, path)], the options of `tpusight hlo`)"""
    end = words.index("--")
    asked, options = words[:end], words[end + 1:]
    slice_ = next((word[len(_TOPOLOGY):] for word in asked if word.startswith(_TOPOLOGY)), "")
    programs = [word.partition(":")[::2] for word in asked if not word.startswith("--")]
    return slice_, programs, options


def _source(kind: str, path: str) -> Dict[str, Any]:
    """The program as the compiler's process gets it."""
    if kind == _FOLDER:
        path = files.in_folder(path)
        kind = files.kind_of(path) or files.TEXT
    return {"file": os.path.abspath(path), "kind": kind, "name": os.path.basename(path)}


def _made(source: Dict[str, Any], slice_: str, owner: Folder, say: Say) -> str:
    """The path of a proto, which is called as the program's file is."""
    if source["kind"] == files.PROTO:
        return str(source["file"])
    packed, folder = os.path.join(owner.new(), "program.pkl"), owner.new()
    with open(packed, "wb") as file:
        file.write(pickle.dumps(source))
    outcome = next(job.outcomes(packed, [job.Compilation(folder, slice_)], say))
    if outcome.trouble:
        if not outcome.facts.get("proto") or outcome.trouble["kind"] == "usage":
            raise TpusightError(f"{source['file']}: {outcome.trouble['text']}")
        say(f"{source['file']}: {outcome.trouble['text']}")
    proto = os.path.join(folder, f"{source['name']}.hlo_proto.pb")
    shutil.move(os.path.join(folder, job.PROTO), proto)
    return proto


def main(words: List[str], say: Say) -> int:
    """The exit status of `tpusight hlo`; TpusightError where it was not asked."""
    slice_, programs, options = _parted(words)
    is_quiet = not {"-q", "--quiet"}.isdisjoint(options)
    name = chips.parse(slice_).name if any(kind in _COMPILED for kind, _ in programs) else ""
    owner = Folder()
    protos = [_made(_source(kind, path), name, owner, (lambda _: None) if is_quiet else say) for kind, path in programs]
    return subprocess.run([_program.found_program(), "hlo", *options, "--", *protos], check=False).returncode
