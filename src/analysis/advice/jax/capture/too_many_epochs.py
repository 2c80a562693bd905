"""Profile one epoch, or two where the first one compiles: a longer profile says the same, and its
buffers may overflow.
"""

# include: _good_capture.py
