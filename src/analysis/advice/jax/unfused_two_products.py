"""
"""

import jax
import jax.numpy as jnp

def mlp(rows, up, down):
    return jax.nn.gelu(rows @ up) @ down

@jax.jit
def in_pieces(x, up, down):  # the hidden layer of 256 rows fits on the chip
    return jax.lax.map(lambda row: mlp(row, up, down), x, batch_size=256)

x = jnp.ones((1024, 128), jnp.bfloat16)
up, down = jnp.ones((128, 512), jnp.bfloat16), jnp.ones((512, 128), jnp.bfloat16)
in_pieces(x, up, down).block_until_ready()
