#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The door "plugin" of hostile_test.py: it needs a Python with TensorBoard, $TS_VIEWERS_PYTHON."""
import sys

import hostile_test

if __name__ == "__main__":
    sys.exit(hostile_test.main(["plugin"]))
