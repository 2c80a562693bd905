"""A run on the CPU is measured like any other: its operators, steps and FLOP/s hold. If a GPU was
meant, install the PyTorch that belongs to its driver (torch.version.cuda, torch.version.hip), look
at CUDA_VISIBLE_DEVICES, and move model and batches there with .to("cuda").
"""

import torch

print(torch.__version__, torch.version.cuda, torch.version.hip, torch.cuda.is_available())
