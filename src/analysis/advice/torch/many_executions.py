"""A Python loop launches one small kernel at a time. Do many elements at once with a batched op
(torch.bmm, torch.func.vmap, the foreach variants of optimizers), or compile the loop.
"""

import torch

x, w = torch.ones(1024, 64), torch.ones(64, 64) / 64
one_by_one = torch.stack([row @ w for row in x])  # 1024 small products
at_once = x @ w  # one product
assert torch.allclose(one_by_one, at_once)
