"""The times of kernels and of their launches do not fit. Give the schedule a warm-up step, in which the profiler measures how the
clocks differ, and keep the profile short: they drift apart.
"""
