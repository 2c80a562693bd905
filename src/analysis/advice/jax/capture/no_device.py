"""Profile the process that holds the accelerator (in a job of many, the trainer; not the
launcher or the input workers), with device_tracer_level at its default, and with no second
profiler at work on the same device.
"""

import jax

print(jax.default_backend(), jax.local_devices())  # run this in the process that is profiled
# include: _with_options.py
