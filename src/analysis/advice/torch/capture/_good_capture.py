import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

model = torch.nn.Linear(256, 256)
logdir = tempfile.mkdtemp()  # your log directory
activities = [ProfilerActivity.CPU]
if torch.cuda.is_available():
    activities.append(ProfilerActivity.CUDA)
with profile(activities=activities, schedule=schedule(wait=1, warmup=2, active=5, repeat=1),
             on_trace_ready=tensorboard_trace_handler(logdir), record_shapes=True) as prof:
    for i in range(8):
        model(torch.ones(64, 256)).sum().backward()
        prof.step()  # marks the steps, and starts and stops the recording
