"""A frame is compiled again when a guard fails: another shape, dtype, Python number or object
than the code was made for. Mark sizes that change as dynamic, pad to a few sizes, and pass what
changes as tensors; TORCH_LOGS=recompiles or a log of TORCH_TRACE names the guards.
"""

import torch

step = torch.compile(lambda x: torch.relu(x) * 2)
for n in (100, 120, 200):
    x = torch.randn(n, 64)
    torch._dynamo.mark_dynamic(x, 0)  # one compilation for every n
    step(x)
