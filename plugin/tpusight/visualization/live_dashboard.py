# SPDX-License-Identifier: Apache-2.0
"""SimpleLiveDashboard, as `from tpusight.visualization.live_dashboard import SimpleLiveDashboard` has it: the class of
tpusight.dashboard."""
from ..dashboard import SimpleLiveDashboard

__all__ = ["SimpleLiveDashboard"]
