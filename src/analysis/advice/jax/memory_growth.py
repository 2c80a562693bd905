"""Something is kept from each step: losses and metrics gathered as device arrays, a cache or a
history that only grows, old parameters that somebody still refers to. Gather numbers instead of
arrays, and save a memory profile at two steps: the line of source that gained is the one that
keeps them.
"""

import os
import tempfile

import jax
import jax.numpy as jnp

step = jax.jit(lambda w: (0.9 * w, (w ** 2).mean()), donate_argnums=0)
w, losses, folder = jnp.ones((128, 128)), [], tempfile.mkdtemp()
for i in range(4):
    w, loss = step(w)
    losses.append(float(loss))  # a number: the array would stay on the device
    if i in (1, 3):  # then: tpusight report step3.prof, and the same of step1.prof
        jax.profiler.save_device_memory_profile(os.path.join(folder, f"step{i}.prof"))
print(len(jax.live_arrays()), "arrays are held")
