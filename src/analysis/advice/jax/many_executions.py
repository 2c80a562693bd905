"""A Python loop under jit is unrolled, and a scan over single elements runs one small op at a time.
Do many elements at once with vmap or a larger batch; where the order matters, scan over blocks, or
give scan an unroll of a few.
"""

import jax
import jax.numpy as jnp

x = jnp.ones((1024, 64))
w = jnp.ones((64, 64)) / 64

one_by_one = jax.jit(lambda x: jax.lax.map(lambda row: row @ w, x))  # 1024 small products
at_once = jax.jit(jax.vmap(lambda row: row @ w))  # one product
assert jnp.allclose(one_by_one(x), at_once(x), rtol=1e-2)
