"""Record fewer steps (schedule's active), and less of the host (with_stack=False,
profile_memory=False): the buffers then suffice.
"""

# include: _good_capture.py
