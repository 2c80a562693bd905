"""Viewers parse at most 2 GiB of one profile. Capture fewer steps, and switch the Python tracer
off.
"""

# include: _with_options.py
