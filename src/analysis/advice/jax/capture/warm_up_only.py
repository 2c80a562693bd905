"""Profile later: let some steps pass first, then capture about ten.
"""

# include: _good_capture.py
