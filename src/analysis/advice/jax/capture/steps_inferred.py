"""Mark steps, so that XProf and this report cut the time where the program does.
"""

# include: _good_capture.py
