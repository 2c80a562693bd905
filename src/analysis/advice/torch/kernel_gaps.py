"""Fewer, larger kernels: torch.compile joins elementwise work, mode="reduce-overhead" replays
the whole step as one CUDA graph, in which a kernel begins sooner. Foreach and fused optimizers
make one kernel of hundreds.
"""

import torch

model = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.GELU(), torch.nn.Linear(128, 1))
if torch.cuda.is_available():
    model = torch.compile(model.cuda(), mode="reduce-overhead")
device = next(model.parameters()).device
optimizer = torch.optim.AdamW(model.parameters(), fused=device.type == "cuda")
for batch in torch.ones(4, 8, 128, device=device):  # static shapes: a graph is of one shape
    model(batch).sum().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
