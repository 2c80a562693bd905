"""Cut the batch into more microbatches: with M of them and S stages (S - 1) / (M + S - 1) of the time
is a bubble. Where their size can't get smaller, give each core several stages that don't follow
one another (circular or interleaved pipelines), or take fewer stages and shard each one.
"""

import jax
import jax.numpy as jnp

stages = 4
batch = jnp.ones((64, 128))
split = jax.jit(lambda x, nr: x.reshape(nr, -1, *x.shape[1:]), static_argnums=1)
for microbatches in (4, 8, 16):
    parts = split(batch, microbatches)
    bubble = (stages - 1) / (microbatches + stages - 1)
    print(f"{microbatches} microbatches of {parts.shape[1]}: bubble {bubble:.0%}")
