"""Prepare batches on threads of their own and keep a few of them on the device: the step then
finds its input ready. Decode and augment less, or in more workers; cache what does not change.
"""

import queue
import threading

import jax
import numpy as np

def prefetch(batches, depth=2):
    ready = queue.Queue(depth)
    def fill():
        for batch in batches:
            ready.put(jax.device_put(batch))
        ready.put(None)
    threading.Thread(target=fill, daemon=True).start()
    while (batch := ready.get()) is not None:
        yield batch

step = jax.jit(lambda batch: batch.sum())
for batch in prefetch(np.ones((8, 128), np.float32) for _ in range(4)):
    result = step(batch)
result.block_until_ready()
