"""What this op costs decides the run: look at its shapes, its dtype and its source line first.
A Pallas kernel, another algorithm or a smaller problem pays here and nowhere else.
"""

import tempfile

import jax
import jax.numpy as jnp

f = jax.jit(lambda x: jnp.sort(x @ x, axis=-1))
x = jnp.ones((256, 256))
compiled = f.lower(x).compile()
print(compiled.cost_analysis())  # FLOPs and bytes, to hold against its time
with jax.profiler.trace(tempfile.mkdtemp()):  # the part alone, after a first run
    compiled(x).block_until_ready()
