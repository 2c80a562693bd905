"""Take the largest holder first. Activations of the forward pass: recompute them (activation
checkpointing), a smaller batch with accumulated gradients, or lower precision (torch.autocast).
Gradients: zero_grad(set_to_none=True). Optimizer states: shard them (FSDP), or keep them in 8
bits. If much is reserved and unused, see fragmentation.
"""

import torch
from torch.utils.checkpoint import checkpoint

block = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.GELU(), torch.nn.Linear(512, 128))
optimizer = torch.optim.AdamW(block.parameters())
for micro_batch in torch.ones(4, 8, 128):  # four small batches instead of a large one
    with torch.autocast("cpu", dtype=torch.bfloat16):  # "cuda" on a GPU
        loss = checkpoint(block, micro_batch, use_reentrant=False).float().square().mean() / 4
    loss.backward()
optimizer.step()
optimizer.zero_grad(set_to_none=True)  # gradients hold no memory between steps
