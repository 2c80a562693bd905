"""A static argument, or a Python number that the function closes over, is part of the program: each
new value compiles again. Pass what changes as an argument that is an array.
"""

from functools import partial

import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="causal")  # of few values: it may stay static
def attend(x, scale, causal):
    y = x * scale
    return jnp.tril(y) if causal else y

x = jnp.ones((64, 64))
for step in range(3):  # one compilation: scale is an array
    attend(x, jnp.float32(0.1 * step), causal=True)
