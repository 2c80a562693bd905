"""Run the step once before the profile starts, and keep compiled programs in the persistent
cache, so that the next start of the job finds them.
"""

import tempfile

import jax
import jax.numpy as jnp

jax.config.update("jax_compilation_cache_dir", tempfile.mkdtemp())  # a lasting folder
jax.config.update("jax_persistent_cache_min_compile_time_secs", 1)
x = jnp.ones((8, 128))
step = jax.jit(lambda x: x * 2).lower(x).compile()  # here, not inside the profile
with jax.profiler.trace(tempfile.mkdtemp()):
    jax.block_until_ready(step(x))
