#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The check of the line that names the licence finds a file without it, and adds it at its place: spdx_test.py"""
import os
import shutil
import subprocess
import sys
import tempfile

import spdx

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import ended, skip

FILES = {  # what stands in a file, and what must stand there afterwards
    "src/new.c": ("int x;\n", "/* SPDX-License-Identifier: MIT */\nint x;\n"),
    "tool.sh": ("#!/bin/sh\ntrue\n", "#!/bin/sh\n# SPDX-License-Identifier: MIT\ntrue\n"),
    "empty.py": ("", "# SPDX-License-Identifier: MIT\n"),
    "page.js": ("let a;\n", "// SPDX-License-Identifier: MIT\nlet a;\n"),
    "has.py": ("# SPDX-License-Identifier: MIT\n", "# SPDX-License-Identifier: MIT\n"),
    "other.py": ("#!/x\n# SPDX-License-Identifier: Other\nx = 1\n", "#!/x\n# SPDX-License-Identifier: MIT\nx = 1\n"),
    "src/analysis/advice/jax/x.py": ("print()\n", "print()\n"),
    "README.md": ("# x\n", "# x\n"),
}


def run(*arguments):
    done = subprocess.run([sys.executable, spdx.__file__, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def main():
    wrong = []
    if not shutil.which("git"):
        skip("git is missing")
    with tempfile.TemporaryDirectory() as top:
        subprocess.run(["git", "init", "-q", top], check=True)
        for name, (before, _) in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
            with open(os.path.join(top, name), "w", encoding="utf-8") as file:
                file.write(before)
        code, said = run(top)
        named = {line.split(":")[0] for line in said.splitlines()}
        wanted = {name for name, (before, after) in FILES.items() if before != after}
        if code != 1 or named != wanted:
            wrong.append(f"it ends with {code} and names {sorted(named)}, and not {sorted(wanted)}")
        run("--add", top)
        for name, (_, after) in FILES.items():
            with open(os.path.join(top, name), encoding="utf-8") as file:
                text = file.read()
            if text != after:
                wrong.append(f"{name}: --add left {text!r}")
        if run(top) != (0, ""):
            wrong.append("after --add it still complains")
    return ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
