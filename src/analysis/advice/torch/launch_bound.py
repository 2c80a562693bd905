"""Launch less often: torch.compile(mode="reduce-overhead") launches the kernels of a step as one CUDA graph and fuses
small ones; larger batches give each launch more to do.
"""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
net = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(8)]).to(device)
step = torch.compile(net, mode="reduce-overhead")
x = torch.randn(64, 64, device=device)  # the same shape in every step
for _ in range(3):
    torch.compiler.cudagraph_mark_step_begin()
    with torch.no_grad():
        step(x)
