# SPDX-License-Identifier: MIT
# The Python package. Tests that profile with jax or torch skip where $TS_JAX_PYTHON, $TS_TORCH_PYTHON name no Python with it.
EXTRA_DIST += tests/python/package.py
# What these tests run: the examples and the notebooks.
EXTRA_DIST += examples/README.md examples/live.py examples/optimizers.py examples/profile_training.py examples/regression.py \
	examples/slow_input.py examples/small.py examples/torch_profiling.py examples/traces.py examples/train_with_profiling.py
EXTRA_DIST += notebooks/demo.ipynb notebooks/torch_trace.ipynb
