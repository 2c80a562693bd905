import tempfile

import jax
import jax.numpy as jnp

step = jax.jit(lambda x: jnp.tanh(x @ x))
x = jnp.ones((256, 256))
logdir = tempfile.mkdtemp()  # your log directory
x = step(x).block_until_ready()  # compiles, before the profile
options = jax.profiler.ProfileOptions()
options.host_tracer_level = 2     # the default; 0 records no host events
options.device_tracer_level = 1   # the default; 0 records no device
options.python_tracer_level = 0   # fewer events; the others do without
options.enable_hlo_proto = True   # the default; the compiled modules
with jax.profiler.trace(logdir, profiler_options=options):
    for i in range(10):
        with jax.profiler.StepTraceAnnotation("train", step_num=i):
            x = step(x)
    x.block_until_ready()
