"""Give the matrix units more to do at a time: larger batches, bf16 operands, dims that are
multiples of the array; batch small products into one. Where memory is what they wait for, fuse
what stands around them, or raise the batch so that weights are read for more rows.
"""

import jax
import jax.numpy as jnp

@jax.jit
def project(x, wq, wk, wv):  # one product instead of three, in bf16, summed in f32
    w = jnp.concatenate([wq, wk, wv], axis=1).astype(jnp.bfloat16)
    y = jnp.dot(x.astype(jnp.bfloat16), w, preferred_element_type=jnp.float32)
    return jnp.split(y, 3, axis=1)

x, w = jnp.ones((512, 256)), jnp.ones((256, 256))
q, k, v = project(x, w, w, w)
