"""Do the same in fewer, larger ops: update all parameters as one flat array, batch with vmap
instead of a Python loop, and jit the whole step instead of its parts.
"""

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

params = {f"layer{i}": jnp.ones((16, 16)) for i in range(32)}
grads = jax.tree.map(jnp.ones_like, params)

@jax.jit
def update(params, grads):  # one op over all parameters
    flat, unflatten = ravel_pytree(params)
    return unflatten(flat - 0.1 * ravel_pytree(grads)[0])

params = update(params, grads)
