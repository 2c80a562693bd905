"""Shard the work over all devices, or give the process only those it uses. Shares in this
report are of the devices that ran something.
"""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((len(jax.devices()),), ("data",))
batch = jax.device_put(jnp.ones((len(jax.devices()) * 8, 128)), NamedSharding(mesh, P("data")))
print(batch.sharding.device_set)  # all of them
