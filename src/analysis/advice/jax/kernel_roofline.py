"""Look at the kernel's blocks first: a grid of several steps lets Mosaic fetch the next block
while this one is computed, blocks of a whole number of tiles (8 x 128 for f32, 16 x 128 for
bf16) waste nothing, and larger ones spend less on each step. Then at its dtypes: products in
bf16, sums in f32.
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

def double(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

x = jnp.ones((1024, 512), jnp.bfloat16)
block = pl.BlockSpec((256, 512), lambda i: (i, 0))  # four steps: fetch and compute overlap
kernel = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(4,),
                        in_specs=[block], out_specs=block,
                        cost_estimate=pl.CostEstimate(flops=x.size, transcendentals=0,
                                                      bytes_accessed=2 * x.nbytes),
                        interpret=jax.default_backend() == "cpu")
kernel(x).block_until_ready()
