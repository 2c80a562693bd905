"""Record steps that work: let the schedule wait and warm up first, and call prof.step() at the
end of each step.
"""

# include: _good_capture.py
