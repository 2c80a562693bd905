"""Put the same work on fewer, larger tensors: torch._foreach functions or torch.stack for what
is computed alike, torch.compile for the rest, and what only logs need every hundred steps.
"""

import torch

def statistics(layers):  # one pass over all of them, not four kernels a layer
    x = torch.stack(layers).flatten(1)
    return torch.stack([x.mean(-1), x.std(-1), x.amin(-1), x.amax(-1)])

print(statistics([torch.full((16, 16), float(i)) for i in range(8)]).shape)
