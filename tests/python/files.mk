# The Python package. Tests that profile with jax or torch skip where $TS_JAX_PYTHON, $TS_TORCH_PYTHON name no Python with it.
script_tests += tests/python/benchmark_test.py
script_tests += tests/python/examples_test.py
script_tests += tests/python/helpers_test.py
script_tests += tests/python/live_test.py
script_tests += tests/python/profiler_test.py
script_tests += tests/python/program_test.py
script_tests += tests/python/suite_test.py
script_tests += tests/python/torch_test.py
script_tests += tests/python/traces_test.py
EXTRA_DIST += tests/python/package.py
