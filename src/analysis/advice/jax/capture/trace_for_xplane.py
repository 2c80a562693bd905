"""Capture fewer steps, with the Python tracer off and a lower host_tracer_level, so that the
profile stays below 2 GB and its xplane is written.
"""

# include: _with_options.py
