# SPDX-License-Identifier: Apache-2.0
# What packaging/installed.sh runs on a fresh system.
EXTRA_DIST += tests/packaging/readme.py
