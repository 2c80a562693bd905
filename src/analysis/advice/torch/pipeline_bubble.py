"""Cut the batch into more microbatches: with M of them and S stages (S - 1) / (M + S - 1) of the time
is a bubble. Where their size can't get smaller, take a schedule with several stages a device
(ScheduleInterleaved1F1B), or take fewer stages and shard each one.
"""

import torch

stages = 4
batch = torch.ones(64, 128)
for microbatches in (4, 8, 16):
    parts = batch.chunk(microbatches)
    bubble = (stages - 1) / (microbatches + stages - 1)
    print(f"{microbatches} microbatches of {len(parts[0])}: bubble {bubble:.0%}")
