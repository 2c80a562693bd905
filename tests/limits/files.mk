# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/limits/bombs.py
