"""Look for jax.jit(..., backend="cpu"), jax.default_device and arrays that stay on the CPU: a program
runs where its arrays are. Put them on a device first, and keep the few programs that belong on the
CPU out of the steps.
"""

import jax
import jax.numpy as jnp

device = jax.devices()[0]
batch = jax.device_put(jnp.ones((8, 8)), device)
total = jax.jit(jnp.sum)(batch)
assert total.devices() == {device}, "this program fell back to another device"
