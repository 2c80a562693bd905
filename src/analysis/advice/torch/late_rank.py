"""Find what that rank does more: uneven batches (sort or pack by length, the same number of
tokens for each rank), a slower loader or host, a GPU that is throttled (nvidia-smi -q -d
PERFORMANCE), work that only rank 0 does (logging, checkpoints).
"""

import torch

lengths = torch.randint(1, 100, (64,))
ranks = 4
order = torch.argsort(lengths, descending=True)
shares = [order[rank::ranks] for rank in range(ranks)]  # long and short ones for each
print([int(lengths[share].sum()) for share in shares])
