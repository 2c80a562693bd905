"""Read times, gaps, copies and communication here, and shares of peak rates in the maker's own
tools.
"""
