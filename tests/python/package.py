# SPDX-License-Identifier: MIT
"""For the tests of the Python package: the package in the sources, the program in the build folder, and what a test needs."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

sys.path.insert(0, os.path.join(ROOT, "plugin"))
sys.dont_write_bytecode = True
sys.path.append(os.path.join(ROOT, "tests", "fixtures"))
import children as children
from helpers import DATA as DATA, PROGRAM, SKIPPED as SKIPPED, need, skip

os.environ["TPUSIGHT"] = PROGRAM


def rather(variable):
    """Goes on under the Python that the environment variable names (one with pandas), where it names one; says whether."""
    python = os.environ.get(variable, "")
    is_there = os.access(python, os.X_OK)
    if is_there and os.path.abspath(sys.executable) != os.path.abspath(python):
        os.execv(python, [python, *sys.argv])
    return is_there


def under(variable):
    """Goes on under the Python that the environment variable names (one with jax, or torch); skips where it names none."""
    if not rather(variable):
        skip(f"{variable} names no Python")


def busy_us(prof):
    """How long torch's threads were inside of an operator, by what a torch.profiler.profile has of them: what operators' own times
    sum to. Where key_averages() sums them, an operator that seems to end after the one around it counts twice; in whole microseconds,
    which torch has without Kineto, many do."""
    busy = until = 0
    thread = None
    for event in sorted(prof.events(), key=lambda e: (e.thread, e.time_range.start)):
        span = event.time_range
        if event.thread != thread:
            thread, until = event.thread, span.start
        busy += max(span.end - max(span.start, until), 0)
        until = max(until, span.end)
    return busy


def main():
    """Runs the unittest cases of the calling module."""
    need()
    unittest.main(verbosity=1)
