"""Record fewer steps (schedule's active): kernels are the first to go when CUPTI's or
roctracer's buffers are full.
"""

# include: _good_capture.py
