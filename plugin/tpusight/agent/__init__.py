# SPDX-License-Identifier: MIT
"""`tpusight mcp`: a server that answers an agent's questions about profiles, and changes nothing."""
