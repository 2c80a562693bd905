"""Believe the counters for how busy the units are, and the model for how much of that was FLOPs.
Busy and not full: pad or group products so that their dimensions are multiples of 128 or 256. Less
busy than modelled: give each kernel a cost that is true (pl.CostEstimate), so that shares of the
peak and rooflines are.
"""

import jax.numpy as jnp
from jax.experimental import pallas as pl

x = jnp.ones((512, 512), jnp.bfloat16)
cost = pl.CostEstimate(flops=2 * 512**3, bytes_accessed=3 * x.nbytes, transcendentals=0)
print(cost)
