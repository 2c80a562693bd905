"""Ten steps show the same, in a file that opens at once and with buffers that do not overflow.
"""

# include: _good_capture.py
