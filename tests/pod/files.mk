# SPDX-License-Identifier: MIT
# Pods: tests with Ray skip where $TS_RAY_PYTHON names no Python with it.
EXTRA_DIST += tests/pod/given.py
