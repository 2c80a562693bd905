# The Python package; those of what profiles with jax or torch skip where $TS_JAX_PYTHON, $TS_TORCH_PYTHON name no Python with it.
EXTRA_DIST += tests/python/package.py
EXTRA_DIST += tests/python/program_test.py
TESTS += tests/python/program_test.py
EXTRA_DIST += tests/python/traces_test.py tests/python/suite_test.py tests/python/torch_test.py
TESTS += tests/python/traces_test.py tests/python/suite_test.py tests/python/torch_test.py
EXTRA_DIST += tests/python/benchmark_test.py tests/python/helpers_test.py tests/python/live_test.py tests/python/profiler_test.py
EXTRA_DIST += tests/python/examples_test.py
TESTS += tests/python/examples_test.py
TESTS += tests/python/benchmark_test.py tests/python/helpers_test.py tests/python/live_test.py tests/python/profiler_test.py
