"""Join them: torch.compile makes one kernel of a chain of elementwise ops, torch._foreach_* and
fused optimizers one of many small tensors, scaled_dot_product_attention one of an attention.
Larger batches make each kernel longer at the same number.
"""

import torch

weights = [torch.ones(16) for _ in range(100)]
steps = [torch.ones(16) for _ in range(100)]
torch._foreach_add_(weights, steps, alpha=-0.1)  # one kernel, not a hundred
