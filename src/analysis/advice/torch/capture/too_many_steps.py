"""Five to ten steps show the same, in a file that opens at once (schedule's active).
"""

# include: _good_capture.py
