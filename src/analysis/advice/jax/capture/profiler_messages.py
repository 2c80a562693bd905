"""Read the messages. Where events were dropped, capture fewer steps and switch the Python
tracer off; where a tracer could not start, see that no other profiler is at work.
"""

# include: _with_options.py
