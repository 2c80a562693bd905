# SPDX-License-Identifier: MIT
"""SimpleLiveDashboard, as `from tpusight.visualization.live_dashboard import SimpleLiveDashboard` has it: the class of
tpusight.dashboard."""
from ..dashboard import SimpleLiveDashboard

__all__ = ["SimpleLiveDashboard"]
