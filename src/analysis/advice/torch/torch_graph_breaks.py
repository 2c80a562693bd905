"""Take out of compiled code what Dynamo cannot trace: prints and logging, .item() and branches
on the values of tensors (torch.where, torch.cond), calls into other libraries.
TORCH_LOGS=graph_breaks or a log of TORCH_TRACE names each place and why; fullgraph=True makes
the first one an error.
"""

import torch

def step(x):
    y = x * 2
    return torch.where(y.sum() > 0, y + 1, y)  # not: if y.sum() > 0: y = y + 1

told = torch._dynamo.explain(step)(torch.randn(8))
print(told.graph_break_count, [r.reason for r in told.break_reasons])
compiled = torch.compile(step, fullgraph=True)  # an error where the graph would break
