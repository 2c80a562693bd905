# SPDX-License-Identifier: MIT
# What packaging/installed.sh runs on a fresh system.
EXTRA_DIST += tests/packaging/readme.py
