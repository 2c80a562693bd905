"""Leave host_tracer_level at its default (2). The Python tracer may be off: it is not needed,
and makes most of the events.
"""

# include: _with_options.py
