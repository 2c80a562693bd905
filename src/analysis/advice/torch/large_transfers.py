"""Move the tensor in parts while the step before computes, or keep it on the device: one large
copy can only be waited for. What is the same in every step is sent once (register_buffer), and
results are reduced on the device to the few numbers that are looked at.
"""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
table = torch.ones(1024, 256)  # large, on the host
if device == "cuda":
    table = table.pin_memory()
sums = []
for part in table.split(256):  # each is copied while the one before is summed
    part = part.to(device, non_blocking=True)
    sums.append(part.square().sum())
print(torch.stack(sums).sum().item())  # one number comes back, not the table
