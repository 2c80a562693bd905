"""The figures are made without these times, and copies and traces keep them as they are. If they are many, give the schedule a
warm-up step and update PyTorch and the driver: records whose times were not filled in are a fault of the profiler.
"""
