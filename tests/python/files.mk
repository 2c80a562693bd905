# SPDX-License-Identifier: Apache-2.0
# The Python package. Tests that profile with jax or torch skip where $TS_JAX_PYTHON, $TS_TORCH_PYTHON name no Python with it.
EXTRA_DIST += tests/python/package.py
