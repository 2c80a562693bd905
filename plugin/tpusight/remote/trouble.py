# SPDX-License-Identifier: MIT
"""Why a request failed."""

CODES = ("not_found", "changed", "denied", "exists", "busy", "unsupported", "io", "no_space", "cancelled")


class Trouble(Exception):
    """A code of the protocol, and a sentence that says what is wrong and what to do."""

    def __init__(self, code: str, text: str) -> None:
        assert code in CODES, code
        super().__init__(text)
        self.code = code
        self.text = text


def changed(url: str) -> Trouble:
    return Trouble("changed", f"{url}: another writer changed it meanwhile (run the command again)")


def not_found(url: str) -> Trouble:
    return Trouble("not_found", f"{url}: there is no such object (check the address)")


def exists(url: str) -> Trouble:
    return Trouble("exists", f"{url}: there is an object of this name already, and it was to be a new one (run the command again)")
