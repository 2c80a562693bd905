"""Call prof.step() at the end of each step: viewers and this report then cut the time where the
program does.
"""

# include: _good_capture.py
