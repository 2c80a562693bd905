# SPDX-License-Identifier: MIT
"""How long a function takes: benchmark_function()."""
import json
import math
import statistics
import sys
import time
from typing import Any, Callable, List, Optional, Union

from ._fields import Fields
from ._whole import new_file


class Benchmark(Fields):
    """Times of a function's calls, in ms: name, iterations, warmup, mean_ms, std_ms (of the sample, n - 1; None of
    one call), min_ms, max_ms, median_ms, p90_ms, p99_ms (linear between the nearest two), times_ms (each call's, in
    order). A name without its unit is the same figure: stats["mean"] is stats["mean_ms"].

        assert benchmark_function(step, x).median_ms < 5
    """

    def __missing__(self, key: str) -> Any:
        if isinstance(key, str) and key + "_ms" in self:
            return self[key + "_ms"]
        raise KeyError(key)

    @classmethod
    def of(cls, name: str, times_ms: List[float], warmup: int) -> "Benchmark":
        """From the times of the calls."""
        if not times_ms:
            raise ValueError("no call was timed")
        return cls(name=name, iterations=len(times_ms), warmup=warmup, mean_ms=statistics.fmean(times_ms),
                   std_ms=statistics.stdev(times_ms) if len(times_ms) > 1 else None,
                   min_ms=min(times_ms), max_ms=max(times_ms), median_ms=statistics.median(times_ms),
                   p90_ms=_percentile(times_ms, 90), p99_ms=_percentile(times_ms, 99), times_ms=list(times_ms))

    def __str__(self) -> str:
        spread = "" if self.std_ms is None else f" ± {self.std_ms:.3f}"
        return (f"{self.name}: {self.mean_ms:.3f}{spread} ms, median {self.median_ms:.3f}, min {self.min_ms:.3f}, "
                f"max {self.max_ms:.3f}, p90 {self.p90_ms:.3f}, p99 {self.p99_ms:.3f} ({self.iterations} calls)")

    def change_pct(self, baseline: Union["Benchmark", float], of: str = "median_ms") -> float:
        """How much more than BASELINE (a Benchmark, or a number of ms) it takes, in percent of that; less is
        negative."""
        before = baseline[of] if isinstance(baseline, dict) else baseline
        return (self[of] / before - 1) * 100

    def assert_not_slower(self, baseline: Union["Benchmark", float], within_pct: float = 5,
                          of: str = "median_ms") -> None:
        """Raises AssertionError, with both figures, when it takes more than WITHIN_PCT more than BASELINE."""
        change = self.change_pct(baseline, of)
        if change > within_pct:
            before = baseline[of] if isinstance(baseline, dict) else baseline
            raise AssertionError(f"{self.name}: {of} is {self[of]:.3f}, {change:+.1f} % against {before:.3f} "
                                 f"(allowed: {within_pct:+.1f} %)")

    def save(self, path: Any) -> None:
        """Writes it as JSON, for a later load()."""
        with new_file(path) as f:
            json.dump(self, f, indent=1)

    @classmethod
    def load(cls, path: Any) -> "Benchmark":
        """What save() wrote."""
        with open(path, encoding="utf-8") as f:
            return cls(json.load(f))


def _percentile(values: List[float], percent: float) -> float:
    ordered = sorted(values)
    at = (len(ordered) - 1) * percent / 100
    low, high = math.floor(at), math.ceil(at)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def benchmark_function(f: Callable[..., Any], *args: Any, iterations: int = 100, warmup: int = 10,
                       num_iterations: Optional[int] = None, num_warmup: Optional[int] = None,
                       **kwargs: Any) -> Benchmark:
    """Calls f(*args, **kwargs) WARMUP times, then ITERATIONS times by the clock; gives a Benchmark. num_iterations
    and num_warmup are other names of the two.

    The times are wall times of this process's clock (time.perf_counter): the one thing here that is measured in
    Python, no profile is taken. Each call's result is waited for (jax.block_until_ready) inside of its time, so a
    call has what starting it costs and no call overlaps the next. It needs no JAX; a function that has arguments of
    these names is passed as a lambda."""
    iterations = iterations if num_iterations is None else num_iterations
    warmup = warmup if num_warmup is None else num_warmup
    if iterations < 1 or warmup < 0:
        raise ValueError("iterations is at least 1 and warmup at least 0")
    for _ in range(warmup):
        _wait(f(*args, **kwargs))
    times_ms = []
    for _ in range(iterations):
        start = time.perf_counter()
        _wait(f(*args, **kwargs))
        times_ms.append((time.perf_counter() - start) * 1e3)
    return Benchmark.of(getattr(f, "__name__", repr(f)), times_ms, warmup)


def _wait(result: Any) -> None:
    """A result of JAX's cannot be without JAX being loaded."""
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.block_until_ready(result)
