"""Run a compiled step inside the profile, and wait for its result before the profile ends. A
profile taken from outside (a port, TensorBoard's button) must meet the job at work: take it
again, longer.
"""

# include: _good_capture.py
