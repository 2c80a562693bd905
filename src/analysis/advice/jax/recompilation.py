"""A step compiles again when a shape, a dtype or a static argument is new. Pad to a few fixed
sizes, pass changing Python numbers as arrays, and let JAX say what missed its cache.
"""

import jax
import jax.numpy as jnp

jax.config.update("jax_explain_cache_misses", True)

BUCKETS = (128, 256, 512)
def pad(tokens):
    size = next(b for b in BUCKETS if b >= tokens.shape[0])
    mask = jnp.arange(size) < tokens.shape[0]
    return jnp.pad(tokens, (0, size - tokens.shape[0])), mask

step = jax.jit(lambda tokens, mask: jnp.where(mask, tokens, 0).sum())
for n in (100, 120, 200):  # two compilations, not three
    step(*pad(jnp.ones(n, jnp.int32)))
