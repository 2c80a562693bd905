"""Believe the counters for how many bytes moved. More than modelled: look for copies between
programs, for kernels without a cost (pl.CostEstimate), and for arrays that spill out of VMEM. Less
than modelled: what the model calls bound by memory may have room.
"""

import jax.numpy as jnp
from jax.experimental import pallas as pl

x = jnp.ones((512, 512), jnp.bfloat16)
cost = pl.CostEstimate(flops=2 * 512**3, bytes_accessed=3 * x.nbytes, transcendentals=0)
print(cost)
