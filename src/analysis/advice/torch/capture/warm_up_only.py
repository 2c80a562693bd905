"""Record later: let some steps pass first (schedule's wait and warmup), then about five.
"""

# include: _good_capture.py
