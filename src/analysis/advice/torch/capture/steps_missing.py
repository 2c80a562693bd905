"""Give the schedule a warm-up step (the tracer of the device starts there), keep the process until the
trace is written, and capture fewer steps.
"""

# include: _good_capture.py
