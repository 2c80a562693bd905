"""The figures are made without these times, and copies and traces keep them as they are. If they are many, profile again with
another version of the profiler: records whose times were not filled in are a fault of it.
"""
