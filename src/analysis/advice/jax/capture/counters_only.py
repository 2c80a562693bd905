"""Counters and times are two captures where the profiler is set to counters alone. Profile the same
steps once more with the trace of ops on (the default), and read times there.
"""

# include: _good_capture.py
