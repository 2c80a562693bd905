"""A constraint that asks for another sharding than an array has by itself is paid for with
collectives, there and where what follows is split the first way again. Constrain to what the
array has, or split what it is made of as the constraint wants it.
"""

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((1, len(jax.devices())), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
columns = NamedSharding(mesh, P("data", "model"))  # and not P("data", None): w1 is split by columns

def hidden(x, w1, w2):
    h = jax.lax.with_sharding_constraint(jax.nn.relu(x @ w1), columns)
    return h @ w2

w1 = jax.device_put(jnp.ones((64, 256)), NamedSharding(mesh, P(None, "model")))
w2 = jax.device_put(jnp.ones((256, 64)), NamedSharding(mesh, P("model", None)))
jax.jit(hidden)(jnp.ones((8, 64)), w1, w2).block_until_ready()
