"""Recompute activations instead of keeping them (checkpoint), accumulate gradients over smaller
batches, shard parameters and optimizer states (FSDP), keep activations in bfloat16.
"""

import torch
from torch.utils.checkpoint import checkpoint

block = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.GELU(), torch.nn.Linear(512, 128))
optimizer = torch.optim.AdamW(block.parameters())
for part in torch.ones(4, 8, 128):  # a quarter of the batch at a time
    (checkpoint(block, part, use_reentrant=False).square().mean() / 4).backward()
optimizer.step()
optimizer.zero_grad(set_to_none=True)
