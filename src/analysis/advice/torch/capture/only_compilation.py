"""Run each shape once before the recording starts: torch.compile compiles at the first call. A
schedule with warm-up steps keeps that out of the trace.
"""

# include: _good_capture.py
