# SPDX-License-Identifier: MIT
# What looks for the line that names the licence; tests/lint.sh runs it.
EXTRA_DIST += tests/house/spdx.py
