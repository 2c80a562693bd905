"""Move fewer bytes: jit the whole step so that elementwise ops fuse, keep activations in bf16,
do not write out what is used once, and do more arithmetic on what was read (larger batches).
"""

import jax
import jax.numpy as jnp

def layer(x, scale, bias):
    return jax.nn.gelu(x * scale + bias)

fused = jax.jit(layer)  # one pass over x, not three
x = jnp.ones((1024, 1024), jnp.bfloat16)  # half the bytes of f32
fused(x, jnp.bfloat16(2), jnp.bfloat16(1)).block_until_ready()
