"""The tensors lay on the CPU. Install the PyTorch that belongs to the GPU's driver
(torch.version.cuda, torch.version.hip), look at CUDA_VISIBLE_DEVICES, and move model and
batches there with .to("cuda").
"""

import torch

print(torch.__version__, torch.version.cuda, torch.version.hip, torch.cuda.is_available())
