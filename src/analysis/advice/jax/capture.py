"""See what `tpusight check` says of this profile, and take it again.
"""
