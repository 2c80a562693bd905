# SPDX-License-Identifier: MIT
"""What is looked at while a job runs. The same names stand in tpusight itself; this is the place where some programs look for them."""
from ..dashboard import SimpleLiveDashboard

__all__ = ["SimpleLiveDashboard"]
