"""Do not believe the figures that are marked impossible. Profile again with the newest jax and libtpu
and look whether they go away; a kernel's own cost estimate (pl.CostEstimate) is that of one execution.
"""

# include: _with_options.py
