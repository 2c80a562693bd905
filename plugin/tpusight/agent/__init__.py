# SPDX-License-Identifier: Apache-2.0
"""`tpusight mcp`: a server that answers an agent's questions about profiles, and changes nothing."""
