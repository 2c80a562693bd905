"""Profile the process that uses the device (the trainer, not a launcher or a worker of the
DataLoader), with ProfilerActivity.CUDA among the activities, and with no second profiler (nsys,
ncu, another torch.profiler) at work. If the tensors lie on the CPU, there is no device to see.
"""

import torch

print(torch.__version__, torch.version.cuda, torch.version.hip, torch.cuda.is_available())
# include: _good_capture.py
