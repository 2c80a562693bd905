"""Let producer and consumer agree on one layout: convolutions in channels_last (model and
input), products as einsum or matmul over the dimensions as they are instead of
permute().contiguous(), and preallocated buffers that are written in place instead of torch.cat
in every step.
"""

import torch

model = torch.nn.Sequential(torch.nn.Conv2d(8, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3))
model = model.to(memory_format=torch.channels_last)
images = torch.ones(4, 8, 32, 32).to(memory_format=torch.channels_last)
assert model(images).is_contiguous(memory_format=torch.channels_last)  # no transposes between

q = torch.ones(2, 16, 4, 64)
scores = torch.einsum("bqhd,bkhd->bhqk", q, q)  # no q.permute(0, 2, 1, 3).contiguous()

cache = torch.zeros(2, 32, 4, 64)
cache[:, 5:6] = torch.ones(2, 1, 4, 64)  # in place, not torch.cat
