"""These ops move bytes slower than the memory can. Make their transfers longer: keep the last
dimension a multiple of 128 and the one before of 8, gather whole rows (sorted indices help),
slice along the outer dimensions, and batch small ops into one.
"""

import jax
import jax.numpy as jnp

@jax.jit
def lookup(table, ids):  # rows of 128 x n elements, in the order they lie in memory
    order = jnp.argsort(ids)
    rows = jnp.take(table, ids[order], axis=0, indices_are_sorted=True)
    return jnp.zeros_like(rows).at[order].set(rows)

lookup(jnp.ones((1024, 128)), jnp.array([7, 3, 900, 3]))
