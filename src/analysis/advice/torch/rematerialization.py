"""Checkpoint fewer blocks where memory allows, or keep what is dear to compute: a selective
policy saves the results of products and attention and computes only elementwise ops again.
"""

import functools

import torch  # 2.5 or later
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

PRODUCTS = {torch.ops.aten.mm.default, torch.ops.aten.addmm.default}

def policy(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_SAVE if op in PRODUCTS else CheckpointPolicy.PREFER_RECOMPUTE

block = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.GELU())
x = torch.ones(8, 128, requires_grad=True)
keep = functools.partial(create_selective_checkpoint_contexts, policy)
checkpoint(block, x, use_reentrant=False, context_fn=keep).sum().backward()
