"""These kernels move bytes slower than the memory can. Read whole rows (sorted indices,
contiguous last dimension), avoid strided views as inputs of elementwise ops, and let
torch.compile fuse small ops into one.
"""

import torch

def lookup(table, ids):  # rows in the order in which they lie in memory
    order = torch.argsort(ids)
    rows = table.index_select(0, ids[order])
    return torch.empty_like(rows).index_copy_(0, order, rows)

lookup(torch.ones(1024, 128), torch.tensor([7, 3, 900, 3]))
