"""Believe the counters for how busy the units are, and the model for how much of that was FLOPs.
Busy and not full: pad or group products so that their dimensions are multiples of 128 or 256. Less
busy than modelled: a kernel leaves masked or sparse blocks out, and shares of the peak are too high.
"""

import torch

x = torch.ones(500, 500)
padded = torch.nn.functional.pad(x, (0, 12, 0, 12))  # to 512
print(padded.shape)
