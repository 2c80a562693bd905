"""The chip held its own clock back, for its power or its temperature, so the program alone cannot
mend it: look at cooling, at the limits that are set, and at whether other chips of the same host do
it too. What draws less power for the same work helps as well: products in bfloat16 or int8 in
place of float32, and fewer bytes from HBM. Record power and temperature beside the ops next time.
"""

import jax
import jax.numpy as jnp

options = jax.profiler.ProfileOptions()
options.advanced_configuration = {
    "tpu_power_trace_level": 1,
    "tpu_e2e_enable_fw_throttle_event": True,
    "tpu_e2e_enable_fw_thermal_event": True,
}
work = jax.jit(lambda x: x @ x / x.shape[0])
x = work(jnp.ones((512, 512), jnp.bfloat16)).block_until_ready()  # compiled
if jax.default_backend() == "tpu":
    jax.profiler.start_trace("/tmp/power", profiler_options=options)
    for _ in range(20):
        x = work(x)
    x.block_until_ready()
    jax.profiler.stop_trace()
