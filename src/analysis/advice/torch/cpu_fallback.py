"""Look for tensors and modules that stay on the CPU, and for ops that the device's backend lacks: each
runs on the CPU and its data goes there and back. Move the module and its inputs to one device.
"""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(8, 8).to(device)
batch = torch.ones(4, 8, device=device)
assert {p.device for p in model.parameters()} == {batch.device}
assert model(batch).device == batch.device
