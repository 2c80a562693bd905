"""Run each step once, with the shapes of the run, before the profile starts: then it is
compiled, and the profile shows the work. Keep compiled programs in the persistent cache.
"""

# include: _good_capture.py
