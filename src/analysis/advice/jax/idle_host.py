"""Take that out of the loop, or run it beside, on another thread: the device has nothing to run
until the next step is launched.
"""

import threading

import jax
import jax.numpy as jnp

def take_notes(value):  # what the host is in
    return float(value)

step = jax.jit(lambda x: x * 0.99)
x = jnp.ones((8, 8))
notes = []
for i in range(20):
    x = step(x)
    if i % 10 == 9:  # less often, and the next steps are launched meanwhile
        notes.append(threading.Thread(target=take_notes, args=(jnp.mean(x),)))
        notes[-1].start()
for note in notes:
    note.join()
