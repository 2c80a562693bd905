"""Counters and times are two captures: CUPTI's range profiler replays or slows kernels, and the
lengths that it writes are not theirs. Profile the same step once more without counters (no
experimental_config with profiler_metrics), and read times there.
"""

# include: _good_capture.py
