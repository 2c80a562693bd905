#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the program writes where a terminal is, and where none is: terminal_test.py

On a terminal's stderr a line of progress with a percentage, which is gone at the end; nothing of that elsewhere, on a dumb
terminal or with -q. Colours on a terminal, but not with NO_COLOR, TERM=dumb or --color never; COLUMNS and LINES before what
the terminal says.
$TPUSIGHT names the program (default: bin/tpusight).
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM

TOP = os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SAMPLE = os.path.join(TOP, "tests", "data", "sample")
CRITICAL = os.path.join(TOP, "tests", "data", "planted", "dominant_op.tar.gz")  # has a critical finding


def on_terminal(*arguments, columns=100, **environment):
    """(what the command writes to a terminal, its exit status); both streams are that terminal."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR", "TERM")}
    with subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=side, stderr=side,
                          env={**kept, "TERM": "xterm", **environment}) as process:
        os.close(side)
        written = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            written += piece
        os.close(main)
    return written.decode(), process.returncode


class Terminal(unittest.TestCase):
    """A report of the sample on a terminal."""

    def test_progress_has_a_percentage_and_goes(self):
        written, status = on_terminal("report", SAMPLE)
        self.assertEqual(status, 0)
        percents = [int(number) for number in re.findall(r"\r *(\d+) % ", written)]
        self.assertGreater(len(percents), 3)
        self.assertEqual(percents, sorted(percents))
        self.assertLessEqual(percents[-1], 100)
        before, blanks, shown = written.rpartition("\r" + 99 * " " + "\r")
        self.assertTrue(before and blanks)
        self.assertIn("1 host", shown)  # the report comes behind the last time that the line was removed

    def test_no_progress_where_it_is_not_wanted(self):
        for arguments, environment in ((["-q"], {}), ([], {"TERM": "dumb"})):
            written, _ = on_terminal("report", *arguments, SAMPLE, **environment)
            self.assertNotRegex(written, r"\r(?!\n)", arguments or environment)
        done = subprocess.run([PROGRAM, "report", SAMPLE], capture_output=True, check=True)
        self.assertEqual(done.stderr, b"")

    def test_colours_are_for_terminals_that_have_them(self):
        self.assertIn("\x1b[1;31m", on_terminal("report", CRITICAL)[0])
        self.assertIn("\x1b[1;31m", on_terminal("report", "--color=always", CRITICAL, TERM="dumb")[0])
        for arguments, environment in (([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"}), (["--color=never"], {})):
            self.assertNotIn("\x1b[1", on_terminal("report", "-q", *arguments, SAMPLE, **environment)[0])

    def test_not_one_escape_without_colours(self):
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b", on_terminal("report", SAMPLE, **environment)[0], environment)

    def test_a_report_in_a_pipe_keeps_to_columns(self):
        """But for code, which is to be copied."""
        done = subprocess.run([PROGRAM, "report", "--all", SAMPLE], capture_output=True, check=True, text=True,
                              env={**os.environ, "COLUMNS": "80"})
        wide = [line for line in done.stdout.splitlines() if len(line) > 80 and not line.startswith(9 * " ")]
        self.assertEqual(wide, [])

    def test_headings_have_one_form(self):
        done = subprocess.run([PROGRAM, "report", "--all", SAMPLE], capture_output=True, check=True, text=True)
        self.assertNotRegex(done.stdout, r"(?m)^[=-]{3}")
        self.assertEqual(done.stdout.count("Time breakdown"), 1)
        self.assertNotIn("Time Breakdown", done.stdout)

    def test_a_microsecond_is_written_in_one_way(self):
        done = subprocess.run([PROGRAM, "report", "--all", SAMPLE], capture_output=True, check=True, text=True)
        self.assertIn(" \u00b5s", done.stdout)
        self.assertNotRegex(done.stdout, r"\d (core-)?us\b")

    def test_other_commands_write_it_in_that_way_too(self):
        trace = os.path.join(TOP, "tests", "data", "hand_made.pt.trace.json")
        for command in (["report", "--all"], ["hta"], ["kernels"], ["timeline"], ["check"], ["compare", trace]):
            done = subprocess.run([PROGRAM, *command, trace], capture_output=True, check=False, text=True)
            self.assertTrue(done.stdout + done.stderr, command)
            self.assertNotRegex(done.stdout + done.stderr, r"\d (core-)?us\b|\(us\)", command)

    def test_columns_come_first_and_a_report_is_one_screen(self):
        def shape(**environment):
            lines = on_terminal("report", "-q", "--color=never", SAMPLE, **environment)[0].splitlines()
            return max(map(len, lines)), len(lines)
        self.assertGreater(shape()[0], 90)  # the terminal has 100 columns
        self.assertLessEqual(shape(COLUMNS="80")[0], 80)
        self.assertLessEqual(shape(COLUMNS="80")[1], 24)  # one screen, also where there is room for more
        self.assertGreater(shape(COLUMNS="no number")[0], 90)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
