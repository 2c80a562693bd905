"""A longer sequence or a fragment more ends in an out-of-memory error. Take the largest holder
first: activations can be recomputed (activation checkpointing) or stored in bfloat16, gradients
let go of with zero_grad(set_to_none=True), optimizer states sharded (FSDP).
"""

import torch
from torch.utils.checkpoint import checkpoint

block = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.GELU(), torch.nn.Linear(512, 128))
x = torch.ones(8, 128, requires_grad=True)
checkpoint(block, x, use_reentrant=False).square().mean().backward()  # the GELU's input is not kept
block.zero_grad(set_to_none=True)
