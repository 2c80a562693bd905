"""Compare a slow step with its neighbours in the trace: what the finding names is longer there.
Irregular ones come from the host (garbage collection, other jobs on the machine), regular ones
from evaluation or logging: do these on a thread, or every n steps.
"""

import gc

import jax
import jax.numpy as jnp

step = jax.jit(lambda x: x * 2)
x = step(jnp.ones(8))
gc.collect()
gc.freeze()
gc.disable()  # no collection inside a step
for i in range(4):
    x = step(x)
    if i % 2 == 1:
        x.block_until_ready()
        gc.collect()  # between steps, where it can be seen
