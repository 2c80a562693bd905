"""Launch fewer, larger kernels: optimizers with fused=True (or foreach=True), torch.compile for
chains of elementwise ops, vmap or one batched product instead of a Python loop, and a CUDA
graph (mode="reduce-overhead") where the kernels stay short.
"""

import torch

layers = [torch.nn.Parameter(torch.ones(16, 16)) for _ in range(32)]
optimizer = torch.optim.AdamW(layers, fused=True)  # one kernel for all, not several a layer
for layer in layers:
    layer.grad = torch.ones_like(layer)
optimizer.step()
x = torch.ones(32, 8, 16)
y = torch.bmm(x, torch.stack(layers))  # one product instead of 32
