"""The report misses these events; viewers show them. If they are the work of a device, open an
issue of TPUsight with the names of the plane and of its lines (tpusight redact hashes the others).
"""
