"""Give the matrix units more to do at a time: bfloat16 by autocast (or TF32 for float32),
larger batches, dimensions that are multiples of 8 (64 is better), channels_last for
convolutions, small products batched into one. torch.compile(mode="max-autotune") chooses among
kernels.
"""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.set_float32_matmul_precision("high")  # TF32 for what stays in float32
project = torch.nn.Linear(256, 3 * 256).to(device)  # q, k and v in one product
x = torch.ones(512, 256, device=device)
with torch.autocast(device, dtype=torch.bfloat16):
    q, k, v = project(x).chunk(3, dim=-1)
print(q.dtype)
