"""JAX found no accelerator and took the CPU. Install the TPU's runtime (pip install "jax[tpu]")
or CUDA's, see that no other process holds the device, and do not set JAX_PLATFORMS=cpu. Setting
it to tpu makes a missing TPU an error at start.
"""

import jax

print(jax.default_backend(), jax.devices())  # cpu: the accelerator is not used at all
try:
    print(jax.devices("tpu"))
except RuntimeError as error:
    print(error)  # says why the TPU is not there
