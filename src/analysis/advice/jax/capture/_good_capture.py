import tempfile

import jax
import jax.numpy as jnp

step = jax.jit(lambda x: jnp.tanh(x @ x))
x = jnp.ones((256, 256))
logdir = tempfile.mkdtemp()  # your log directory
x = step(x).block_until_ready()  # compiles, before the profile
with jax.profiler.trace(logdir):
    for i in range(10):
        with jax.profiler.StepTraceAnnotation("train", step_num=i):
            x = step(x)
    x.block_until_ready()  # inside: what is still running is not recorded
