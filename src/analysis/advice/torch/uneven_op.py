"""See why the op takes unequal time: work that the data shares out unevenly (experts, lengths of
sequences), or a host that disturbs its device now and then. Give each device the same amount in each
step: sort or pack sequences by length, limit what an expert may take.
"""

import torch

lengths = torch.tensor([512, 64, 300, 128, 500, 80, 310, 100])
order = torch.argsort(lengths)
devices = 4
rounds = len(lengths) // devices
there = torch.arange(devices)
share = torch.cat([there if i % 2 == 0 else there.flip(0) for i in range(rounds)])
load = torch.zeros(devices, dtype=lengths.dtype).index_add(0, share, lengths[order])
print("tokens of each device:", load.tolist())
