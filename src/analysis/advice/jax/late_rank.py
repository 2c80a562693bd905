"""Find what that rank does more: uneven shards, a slower host or input pipeline, a GPU that is
throttled, work that only the first process does (logging, checkpoints).
"""

import jax

if jax.process_index() == 0:  # such work makes this process late: do it on a thread
    print("step")
