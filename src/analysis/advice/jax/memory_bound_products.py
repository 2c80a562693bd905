"""These products read their weights for few rows, and the memory is what they wait for. Read the
weights for more rows at a time (a larger batch, several tokens a step), or make them smaller: int8
or fp8 weights are half the bytes of bf16.
"""

import jax
import jax.numpy as jnp

def quantize(w):  # once, where the weights are loaded: int8 and a scale a column
    scale = jnp.max(jnp.abs(w), axis=0) / 127
    return jnp.round(w / scale).astype(jnp.int8), scale.astype(jnp.bfloat16)

@jax.jit
def project(x, w8, scale):  # reads half the bytes; the product stays in bf16
    return jnp.dot(x, w8.astype(x.dtype)) * scale

w8, scale = quantize(jax.random.normal(jax.random.key(0), (512, 512)))
x = jnp.ones((64, 512), jnp.bfloat16)  # 64 rows for one read of the weights, not 16
project(x, w8, scale).block_until_ready()
