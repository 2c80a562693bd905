#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A report does not hang on what the C library's qsort() does with elements that compare equal: ties_test.py

glibc leaves them in their order, musl's does not, and the wheels have musl. A qsort() that turns every array round before it sorts
is put before glibc's: the reports of the bundled runs and of $TS_CORPUS must be the same to the byte, where a sum of doubles is
added up in another order, too. That the turning round is noticed is tried with a program that prints ties. Run in the build folder.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM, skip

TOP = os.path.abspath(os.environ.get("srcdir") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
CORPUS = os.environ.get("TS_CORPUS", "")
PATTERNS = [os.path.join(TOP, "tests", "data", "sample"), os.path.join(TOP, "tests", "data", "planted", "*.tar.gz")] + [
    os.path.join(CORPUS, kind) for kind in ("xplane/*.pb", "xplane/*.gz", "kineto/*.json.gz") if CORPUS]
TURNING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

typedef int order(const void *, const void *);

void qsort(void *base, size_t nr, size_t size, order *compare)
{
	void (*sort)(void *, size_t, size_t, order *) = (void (*)(void *, size_t, size_t, order *))dlsym(RTLD_NEXT, "qsort");
	char *low = base, *high = low + nr * size;

	for (; nr > 1 && low + size < high; low += size) {
		high -= size;
		for (size_t i = 0; i < size; i++) {
			char byte = low[i];

			low[i] = high[i];
			high[i] = byte;
		}
	}
	sort(base, nr, size, compare);
}
"""
TIES = r"""
#include <stdio.h>
#include <stdlib.h>

static int by_first(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

int main(void)
{
	char words[4][2] = { { 'b', '1' }, { 'a', '2' }, { 'b', '3' }, { 'a', '4' } };

	qsort(words, 4, 2, by_first);
	printf("%.8s\n", words[0]);
	return 0;
}
"""


def compile_c(text, target, *flags):
    """Whether the compiler makes it."""
    done = subprocess.run(["cc", "-x", "c", "-O1", "-", "-o", target, *flags], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr)
    return done.returncode == 0


def said(command, preload=""):
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    if preload:
        environment["LD_PRELOAD"] = preload
    return subprocess.run(command, capture_output=True, check=False, env=environment)


def differs(profile, preload):
    """What is to be said of the profile's two reports, or None."""
    command = [PROGRAM, "report", "-q", "-j1", "--json", profile]
    plain, turned = said(command), said(command, preload)
    if (plain.returncode, plain.stdout) == (turned.returncode, turned.stdout):
        return None
    left, right = (done.stdout.decode(errors="replace").replace(",", "\n").splitlines() for done in (plain, turned))
    first = next(((a, b) for a, b in zip(left, right) if a != b), (f"{len(left)} fields", f"{len(right)} fields"))
    return f"{profile}: {first[0]} or {first[1]}: a comparison for qsort() takes different elements for equal"


def main():
    has_glibc = shutil.which("getconf") and b"glibc" in said(["getconf", "GNU_LIBC_VERSION"]).stdout
    if not has_glibc or not shutil.which("cc"):
        skip("a C compiler and glibc are wanted")
    with tempfile.TemporaryDirectory() as folder:
        preload, ties = os.path.join(folder, "turning.so"), os.path.join(folder, "ties")
        if not compile_c(TURNING, preload, "-shared", "-fPIC", "-ldl") or not compile_c(TIES, ties):
            return 1
        if (said([ties]).stdout, said([ties], preload).stdout) != (b"a2a4b1b3\n", b"a4a2b3b1\n"):
            print("the qsort() of this test does not turn ties round")
            return 1
        profiles = sorted(path for pattern in PATTERNS for path in glob.glob(pattern))
        wrong = [text for text in (differs(path, preload) for path in profiles) if text]
    print("\n".join(wrong + [f"{len(profiles)} profiles, {len(wrong)} complaints"]))
    return 1 if wrong or not profiles else 0


if __name__ == "__main__":
    sys.exit(main())
