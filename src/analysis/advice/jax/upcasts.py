"""Cast to bf16 where the array is made, not where it is read: return the smaller type from the
function that makes it, and give products preferred_element_type where f32 sums are wanted.
"""

import jax
import jax.numpy as jnp

@jax.jit
def layer(x, w):
    y = jnp.dot(x, w, preferred_element_type=jnp.float32)  # summed in f32
    return jax.nn.gelu(y).astype(jnp.bfloat16)             # stored in bf16

x = jnp.ones((128, 256), jnp.bfloat16)
layer(x, jnp.ones((256, 256), jnp.bfloat16))
