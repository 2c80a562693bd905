"""Give the TensorCore something to do between the start and the done (work that does not need
the result; in a loop the fetch for the next turn), or leave the work on the TensorCore: for
collectives xla_tpu_enable_sparse_core_collective_offload_all_gather, _reduce_scatter or
_all_reduce false, for gathers xla_tpu_offload_gather_to_sparsecore, for all of a program's
compute xla_tpu_enable_sparse_core_compute_offload. Turn off one, and measure: the estimate
takes HBM's peak, which a TensorCore does not reach on short scattered rows.
"""

import jax
import jax.numpy as jnp

options = {}
if jax.default_backend() == "tpu":  # libtpu's flags: other backends do not know them
    options = {"xla_tpu_offload_gather_to_sparsecore": "false"}
look_up = jax.jit(lambda table, rows: table[rows] * 2, compiler_options=options)
look_up(jnp.ones((1024, 128)), jnp.arange(256)).block_until_ready()
