"""Make the dims that lie on the array multiples of its size (128; 256 on v6e and v7x): pad them
once where the weights are made, merge heads or experts into one larger product, or choose the
hidden size so.
"""

import jax
import jax.numpy as jnp

ARRAY = 256  # 128 before v6e
def pad_to_array(w):
    return jnp.pad(w, [(0, -n % ARRAY) for n in w.shape])

w = pad_to_array(jnp.ones((200, 300)))  # once, not in the step
x = jnp.pad(jnp.ones((64, 200)), ((0, 0), (0, w.shape[0] - 200)))
y = jax.jit(jnp.dot)(x, w)[:, :300]
