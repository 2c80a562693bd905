"""Let the allocator grow its segments (PYTORCH_ALLOC_CONF=expandable_segments:True;
PYTORCH_CUDA_ALLOC_CONF for a PyTorch that does not know it): freed blocks of one size then
serve requests of another. Pad shapes that change from step to step to a few sizes.
torch.cuda.empty_cache() once, between phases of different needs (after an evaluation, after
compiling), gives the rest back; in every step it only costs time.
"""

import os

os.environ.setdefault("PYTORCH_ALLOC_CONF", "expandable_segments:True")
os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
import torch  # after the settings: they are read once

def padded(batch, multiple=64):  # lengths of a few sizes only
    missing = -batch.shape[1] % multiple
    return torch.nn.functional.pad(batch, (0, missing))

assert padded(torch.ones(8, 100)).shape == (8, 128)
if torch.cuda.is_available():
    torch.cuda.empty_cache()  # once, between phases
