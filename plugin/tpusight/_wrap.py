# SPDX-License-Identifier: MIT
"""A function that does something round each of its calls: for decorators."""
import functools
import inspect
import itertools
from typing import Any, Callable, ContextManager

from ._program import TpusightError


def name_of(function: Any) -> str:
    """The name under which a function stands in profiles."""
    return getattr(function, "__name__", None) or type(function).__name__


def wrapped(function: Any, around: Callable[..., ContextManager[Any]]) -> Any:
    """FUNCTION, each call of which is made inside `with around(n, args, kwargs) as finish`, where n counts calls from
    0; what finish(result) gives is returned. Methods, static and class methods, callables and coroutine functions can
    be wrapped. Generator functions cannot (TpusightError): what happens between two items is not theirs."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(wrapped(function.__func__, around))
    if not callable(function):
        raise TypeError(f"{function!r} is not a function")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TpusightError(f"{name_of(function)} is a generator, whose caller runs between its items: decorate what "
                            "it calls, or use a with block")
    count = itertools.count()

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with around(next(count), args, kwargs) as finish:
            return finish(function(*args, **kwargs))

    @functools.wraps(function)
    async def call_async(*args: Any, **kwargs: Any) -> Any:
        with around(next(count), args, kwargs) as finish:
            return finish(await function(*args, **kwargs))

    return call_async if inspect.iscoroutinefunction(function) else call


def same(result: Any) -> Any:
    return result
