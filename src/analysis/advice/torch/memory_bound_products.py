"""These products read their weights for few rows, and the memory is what they wait for. Read the
weights for more rows at a time (a larger batch, several tokens a step), or make them smaller: int8
or fp8 weights are half the bytes of bfloat16.
"""

import torch

def quantize(w):  # once, where the weights are loaded: int8 and a scale a column
    scale = w.abs().amax(dim=0) / 127
    return torch.round(w / scale).to(torch.int8), scale.to(torch.bfloat16)

def project(x, w8, scale):  # compiled, the weights are widened on their way into the product
    return (x @ w8.to(x.dtype)) * scale

backend = "inductor" if torch.cuda.is_available() else "eager"
w8, scale = quantize(torch.randn(512, 512))
x = torch.ones(64, 512, dtype=torch.bfloat16)  # 64 rows for one read of the weights, not 16
torch.compile(project, backend=backend)(x, w8, scale)
