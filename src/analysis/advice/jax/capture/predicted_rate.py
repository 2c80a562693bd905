"""Look at these ops in --view prediction. XLA counts the work of a window or of a scan as if each result
was computed anew; the chip does less, and the time may be right. An op whose time is unknown counts
with 0, and the step takes longer.
"""
