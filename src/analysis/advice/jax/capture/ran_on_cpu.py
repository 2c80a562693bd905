"""A run on the CPU is measured like any other: its ops, steps and FLOP/s hold. If a TPU or GPU was
meant, install its runtime (pip install "jax[tpu]", or CUDA's), see that no other process holds the
device, and set JAX_PLATFORMS=tpu: then a missing one is an error at start.
"""

import jax

print(jax.default_backend(), jax.devices())  # cpu: nothing else is used
try:
    print(jax.devices("tpu"))
except RuntimeError as error:
    print(error)  # says why the TPU is not there
