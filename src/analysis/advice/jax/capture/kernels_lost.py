"""The launches were seen, but what they ran was not recorded. Run the step once before the profile begins, capture fewer steps, wait
for the last result before the profile ends, and let no other profiler hold the device.
"""
# include: _good_capture.py
