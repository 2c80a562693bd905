"""Do not believe the figures that are marked impossible. Profile again and look whether they
go away.
"""

# include: _good_capture.py
