#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""External names of the library begin with ts_: names.py [BUILD], by default this folder.

Generated protobuf code has names of its own and is left out. Exit 1: a name of ours does not begin with ts_. Exit 77: nm
or the library is missing.
"""
import os
import re
import shutil
import subprocess
import sys


def names_of(library):
    """(object, name) of what the library defines for others."""
    said = subprocess.run(["nm", "-A", "-g", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        found = re.match(r".*?:(\S+\.o):\S* +\w (\S+)$", line)
        if found:
            yield found.groups()


def main():
    library = os.path.join(sys.argv[1] if len(sys.argv) > 1 else ".", "libtpusight.a")
    if not shutil.which("nm") or not os.path.exists(library):
        print(f"nm or {library} is missing")
        return 77
    all_names = [(obj, name) for obj, name in names_of(library) if not obj.endswith(".pb-c.o")]
    wrong = [f"{name} in {obj} does not begin with ts_" for obj, name in all_names if not name.startswith("ts_")]
    print("\n".join(sorted(wrong)))
    print(f"{len(all_names)} external names, {len(wrong)} without ts_")
    return 1 if wrong or not all_names else 0


if __name__ == "__main__":
    sys.exit(main())
