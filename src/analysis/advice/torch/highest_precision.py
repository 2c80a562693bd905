"""Full float32 products are an order of magnitude slower than TF32 or bfloat16 on matrix units.
Ask for them only where the result needs it.
"""

import torch

torch.set_float32_matmul_precision("high")  # TF32; "medium": bfloat16
x = torch.ones(256, 256)
y = x @ x
torch.set_float32_matmul_precision("highest")  # only where it matters
exact = x @ x
