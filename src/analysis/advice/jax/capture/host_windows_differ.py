"""Start and stop the profiler on all hosts in the same step: by step number, not by time or by
hand.
"""

import tempfile

import jax
import jax.numpy as jnp

step = jax.jit(lambda x: jnp.tanh(x @ x))
x = jnp.ones((256, 256))
logdir = tempfile.mkdtemp()  # your log directory
FIRST, LAST = 3, 7  # the same on every host
for i in range(10):
    if i == FIRST:
        x.block_until_ready()
        jax.profiler.start_trace(logdir)
    with jax.profiler.StepTraceAnnotation("train", step_num=i):
        x = step(x)
    if i == LAST:
        x.block_until_ready()
        jax.profiler.stop_trace()
