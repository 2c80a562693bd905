"""Run a step before the profile starts, so that nothing compiles in it, wait for the last one's
result inside it, and capture fewer steps: the device's trace buffer holds so many events, and what
comes when it is full is lost.
"""

# include: _good_capture.py
