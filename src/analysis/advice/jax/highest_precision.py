"""Ask for highest precision only where the result needs it: three bf16 passes ("high") are
mostly enough, and for training one pass (the default) with f32 sums.
"""

import jax
import jax.numpy as jnp

x = jnp.ones((256, 256))
with jax.default_matmul_precision("high"):  # three passes; "default": one
    y = jax.jit(jnp.dot)(x, x)
exact = jnp.dot(x, x, precision=jax.lax.Precision.HIGHEST)  # only where it matters
