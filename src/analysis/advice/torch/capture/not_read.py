"""The report misses these events. If they are the work of a device, open an issue of TPUsight with
the trace's first lines (tpusight redact hashes its names), or export the device's events as
kernels, gpu_memcpy and gpu_memset, which are read.
"""
