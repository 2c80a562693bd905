"""Profile one epoch, or two where the first one compiles: a longer profile says the same, and takes
longer to open.
"""

# include: _good_capture.py
