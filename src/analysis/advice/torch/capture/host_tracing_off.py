"""Keep ProfilerActivity.CPU among the activities: without it nothing tells what the device
waited for.
"""

# include: _good_capture.py
