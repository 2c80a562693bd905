"""The chip held its own clock back, for its power or its temperature, so the program alone cannot
mend it: look at cooling, at the limits that are set, and at whether other chips of the same host do
it too. What draws less power for the same work helps as well: products in bfloat16 in place of
float32, and fewer bytes from the chip's memory.
"""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.ones(512, 512, device=device)
with torch.autocast(device, dtype=torch.bfloat16):
    y = x @ x
print(y.dtype)
