# SPDX-License-Identifier: MIT
"""A capture of some steps of a script that does not know of it: steps are counted by what every job does at their ends."""
import contextlib
import importlib
from typing import Any, ContextManager, Iterator, List

from ._program import TpusightError


class Steps:
    """CAPTURE is open from the end of step FIRST on, for NR steps (0: until the script ends)."""

    def __init__(self, capture: ContextManager[Any], first: int, nr: int) -> None:
        self.first, self._last = first, first + nr if nr else None
        self.count = 0  # steps that are over
        self._capture = capture
        self._is_open = False
        if first == 0:
            self._open()

    def _open(self) -> None:
        self._capture.__enter__()
        self._is_open = True

    def step(self) -> None:
        """A step is over."""
        self.count += 1
        if self.count == self.first:
            self._open()
        if self.count == self._last:
            self.close()

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._capture.__exit__(None, None, None)


@contextlib.contextmanager
def of_jax(jax: Any, steps: Steps) -> Iterator[None]:
    """Each mark of a step, of the outermost ones, is a step; counted where it ends."""
    theirs = jax.profiler.StepTraceAnnotation
    depth = [0]

    class Counted(theirs):  # type: ignore[misc, valid-type]
        """As JAX's own."""

        def __enter__(self) -> Any:
            depth[0] += 1
            return super().__enter__()

        def __exit__(self, *exception: Any) -> Any:
            left = super().__exit__(*exception)
            depth[0] -= 1
            if depth[0] == 0:
                steps.step()
            return left

    jax.profiler.StepTraceAnnotation = Counted
    try:
        yield
    finally:
        jax.profiler.StepTraceAnnotation = theirs


@contextlib.contextmanager
def of_torch(torch: Any, steps: Steps) -> Iterator[None]:
    """Each step of the optimizer that steps first is a step of the job."""
    first: List[Any] = []

    def stepped(optimizer: Any, *_: Any) -> None:
        first[:] = first or [optimizer]
        if optimizer is first[0]:
            steps.step()

    try:
        hook = importlib.import_module("torch.optim.optimizer").register_optimizer_step_post_hook(stepped)
    except AttributeError as e:
        raise TpusightError(f"torch {torch.__version__} does not say when an optimizer steps (2.0 does): leave out --wait, --warmup "
                            "and --steps") from e
    try:
        yield
    finally:
        hook.remove()
