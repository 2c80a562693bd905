# SPDX-License-Identifier: MIT
"""What was worked out of profiles and is asked for again: the things used last, within a number of bytes, and none whose profile has
changed since."""
import collections
from typing import Any, Callable, Generic, Hashable, Tuple, TypeVar

Thing = TypeVar("Thing")
Made = Tuple[Thing, int]  # and its bytes


class Kept(Generic[Thing]):
    """Things by their keys. The one used last stays, whatever its size: it is being read. For one thread at a time."""

    def __init__(self, most_bytes: int, drop: Callable[[Thing], Any] = lambda thing: None) -> None:
        self._most_bytes, self._drop = most_bytes, drop
        self._all: collections.OrderedDict[Hashable, Tuple[Any, Made[Thing]]] = collections.OrderedDict()

    def get(self, key: Hashable, state: Any, make: Callable[[], Made[Thing]]) -> Thing:
        """That of KEY, where it was made in this STATE of its profile; else what MAKE gives."""
        if key in self._all and self._all[key][0] != state:
            self._forget(key)
        if key not in self._all:
            self._all[key] = state, make()
        self._all.move_to_end(key)
        while len(self._all) > 1 and self.bytes() > self._most_bytes:
            self._forget(next(iter(self._all)))
        return self._all[key][1][0]

    def bytes(self) -> int:
        return sum(size for _, (_, size) in self._all.values())

    def _forget(self, key: Hashable) -> None:
        _, (thing, _) = self._all.pop(key)
        self._drop(thing)
