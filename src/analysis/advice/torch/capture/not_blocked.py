"""Calls return before the device has done the work. Let the profiler stop the recording
(prof.step() or the end of the with block wait for the device), not a hard exit of the process.
"""

# include: _good_capture.py
