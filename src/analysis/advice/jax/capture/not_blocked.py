"""Calls of jitted functions return at once; the device works on. Wait for the last result
(block_until_ready) before the profile stops.
"""

# include: _good_capture.py
