"""Capture fewer steps (about ten), and less of the host (python_tracer_level 0): the buffers
then suffice.
"""

# include: _with_options.py
