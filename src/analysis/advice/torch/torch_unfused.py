"""Compile the part of the model that these ops stand in: Inductor joins ops on the same
elements, and the reductions behind them, into one kernel that reads and writes device memory
once. Where it is compiled, look for what runs outside of it: optimizers, losses, data on the
device.
"""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64)).to(device)
step = torch.compile(lambda x: net(x).square().mean())  # with its loss
step(torch.randn(8, 64, device=device)).backward()
