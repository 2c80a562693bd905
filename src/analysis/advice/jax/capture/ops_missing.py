"""Leave device_tracer_level at its default, and capture fewer steps: ops are the first to go
when the device's trace buffer is full.
"""

# include: _with_options.py
