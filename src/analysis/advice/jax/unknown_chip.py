"""Profile with a newer libtpu, which writes the chip's peak rates into the profile, or ask for
a row in the chip table.
"""

import jax

print(jax.devices()[0].platform, jax.devices()[0].device_kind)
