"""Give the file that the profiler wrote: ours stands behind it, and was cut off here. Without
the profile it cannot be made again; profile again.
"""

# include: _good_capture.py
