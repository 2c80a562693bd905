# SPDX-License-Identifier: MIT
"""Settings by environment variables."""
import os

from ._program import TpusightError

_YES = ("1", "true", "yes", "on")
_NO = ("", "0", "false", "no", "off")


def flag(name):
    """Whether the variable says yes; not set is no."""
    value = os.environ.get(name, "").strip().lower()
    if value not in _YES + _NO:
        raise TpusightError(f"{name}={value} is neither 1 nor 0")
    return value in _YES


def number(name, default, least=0):
    """The whole number that the variable holds, DEFAULT where it is not set."""
    text = os.environ.get(name, "").strip()
    try:
        value = int(text) if text else default
    except ValueError:
        value = least - 1
    if value < least:
        raise TpusightError(f"{name}={text} is not a whole number of at least {least}")
    return value
