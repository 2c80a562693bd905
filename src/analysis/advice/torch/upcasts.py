"""Let autocast choose: inside it products take bfloat16, and only what needs float32 (norms,
softmax, losses) gets it. Calls of .float() in the model undo that; so do tensors made in
float32 by default.
"""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.Linear(256, 1)).to(device)
x = torch.ones(128, 256, device=device)
with torch.autocast(device, dtype=torch.bfloat16):
    loss = model(x).square().mean()  # products in bfloat16, the mean in float32
loss.backward()
