"""Choose sizes that fill tiles: the minor dim a multiple of 128, the one before of 8 (16 for
bf16 in some layouts, 32 for int8). Merge small dims, or put a large dim last, so that the small
one is not padded to a whole tile.
"""

import jax
import jax.numpy as jnp

x = jnp.ones((1024, 16, 4))  # 4 of 128 lanes hold data

@jax.jit
def scale(x):
    flat = x.reshape(1024, 64)  # or x.transpose(1, 2, 0): 1024 in the lanes
    return (flat * 2).reshape(x.shape)

scale(x).block_until_ready()
