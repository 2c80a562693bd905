"""Compare a slow step with its neighbours in the trace. Regular ones come from checkpoints,
evaluation or logging (do these on a thread, or every n steps); irregular ones from the host:
garbage collection, workers of the DataLoader that start anew each epoch
(persistent_workers=True), other jobs on the machine.
"""

import gc

import torch

model = torch.nn.Linear(8, 8)
gc.collect()
gc.freeze()
gc.disable()  # no collection inside a step
for i in range(4):
    model(torch.ones(4, 8)).sum().backward()
    if i % 2 == 1:
        gc.collect()  # between steps, where it can be seen
