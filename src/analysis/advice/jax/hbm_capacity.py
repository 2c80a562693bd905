"""Donate the arguments that the step replaces (parameters, optimizer state), recompute
activations instead of keeping them (jax.checkpoint), shard the largest arrays over more
devices, keep them in bf16, or take a smaller batch in several parts. compiled.memory_analysis()
says what each brings.
"""

import jax
import jax.numpy as jnp

def loss(w, batch):
    layer = jax.checkpoint(lambda h, w: jnp.tanh(h @ w))  # keeps h, computes the rest again
    h, _ = jax.lax.scan(lambda h, w: (layer(h, w), None), batch, w)
    return (h.astype(jnp.float32) ** 2).mean()

def step(w, batch, parts=4):
    def add(total, part):  # a quarter of the batch at a time
        return total + jax.grad(loss)(w, part), None
    split = batch.reshape(parts, -1, batch.shape[-1])
    grads, _ = jax.lax.scan(add, jnp.zeros_like(w), split)
    return w - 0.1 * grads / parts

w, batch = jnp.ones((4, 128, 128), jnp.bfloat16), jnp.ones((64, 128), jnp.bfloat16)
compiled = jax.jit(step, donate_argnums=0).lower(w, batch).compile()
print(compiled.memory_analysis())
w = compiled(w, batch)
