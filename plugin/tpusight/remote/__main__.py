# SPDX-License-Identifier: MIT
import sys

from .main import main

sys.exit(main())
