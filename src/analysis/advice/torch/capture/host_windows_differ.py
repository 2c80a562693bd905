"""Record the same steps on all ranks: by the step's number (schedule), not by time or by hand.
"""

# include: _good_capture.py
