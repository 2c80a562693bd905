"""Give the process only the devices it uses (CUDA_VISIBLE_DEVICES; one a rank with torchrun),
or spread the work. Shares in this report are of the devices that ran something.
"""

import os

import torch

rank = int(os.environ.get("LOCAL_RANK", 0))  # set by torchrun
if torch.cuda.is_available():
    torch.cuda.set_device(rank)
print(rank, torch.cuda.device_count())
