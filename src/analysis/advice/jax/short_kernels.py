"""Join them: one jitted function instead of many calls, vmap or scan instead of loops in
Python, larger batches, and optimizers that update all parameters in one call.
"""

import jax
import jax.numpy as jnp

weights = [jnp.ones(16) for _ in range(100)]
update = jax.jit(lambda ws: jax.tree.map(lambda w: w * 0.9, ws))  # one call for all of them
jax.block_until_ready(update(weights))
