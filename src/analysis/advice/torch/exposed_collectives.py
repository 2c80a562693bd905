"""Overlap them with the backward pass and send fewer bytes: DDP reduces a bucket as soon as its
gradients are there (tune bucket_cap_mb; gradient_as_bucket_view, static_graph), a hook sends
bfloat16, no_sync() skips the reduction while gradients are accumulated. With FSDP, prefetch the
next block's parameters. Larger batches a device give more compute to hide them behind.
"""

import os
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

store = "file://" + os.path.join(tempfile.mkdtemp(), "store")
dist.init_process_group("gloo", init_method=store, rank=0, world_size=1)  # "nccl", by torchrun
model = DistributedDataParallel(torch.nn.Linear(128, 128), bucket_cap_mb=50, gradient_as_bucket_view=True)
model.register_comm_hook(None, default_hooks.bf16_compress_hook)  # half the bytes
with model.no_sync():  # the first half of the batch: nothing is sent
    model(torch.ones(4, 128)).sum().backward()
model(torch.ones(4, 128)).sum().backward()  # reduced once, behind the backward pass
dist.destroy_process_group()
