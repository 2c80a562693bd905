"""cudaMalloc and cudaFree wait for the device. In the steady state there should be none: take
torch.cuda.empty_cache() out of the loop, let segments grow
(PYTORCH_ALLOC_CONF=expandable_segments:True), pad shapes that change to a few sizes, and run
one step of the largest shape first, so that its blocks are there for all others. Pinned
buffers: make them once and use them again.
"""

import os

os.environ.setdefault("PYTORCH_ALLOC_CONF", "expandable_segments:True")
import torch

model = torch.nn.Linear(128, 128)
lengths = [17, 93, 64, 128]
model(torch.ones(max(lengths), 128)).sum().backward()  # the largest first: later ones fit into its blocks
model.zero_grad(set_to_none=True)
for n in lengths:
    model(torch.ones(n, 128)).sum().backward()
    model.zero_grad(set_to_none=True)
