"""Nothing is lost as long as the GPU has work. Where the host must react (a loader in the same
process, a collective of another stream), launch fewer kernels: torch.compile, CUDA graphs; and
do work of the host on another thread or process.
"""

import torch

model = torch.nn.Linear(128, 1)
if torch.cuda.is_available():
    model = torch.compile(model.cuda(), mode="reduce-overhead")  # one launch a step
model(torch.ones(8, 128, device=next(model.parameters()).device))
