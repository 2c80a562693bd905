"""Give this rank no more work than the others (DistributedSampler, batches of equal length, no
logging or evaluation on rank 0 alone), and see whether its device is slower by itself: time the
same work on each. If one stays behind, look at its clocks and temperature (nvidia-smi -q -d
PERFORMANCE, rocm-smi); if it is another one each time, look at its host.
"""

import time

import torch

devices = [torch.device("cuda", i) for i in range(torch.cuda.device_count())] or [torch.device("cpu")]
for device in devices:  # in every process
    x = torch.ones(512, 512, dtype=torch.bfloat16, device=device)
    for repeats in (3, 20):  # the first warms up
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        start = time.perf_counter()
        for _ in range(repeats):
            x = x @ x / x.shape[0]
        if device.type == "cuda":
            torch.cuda.synchronize(device)
    print(device, f"{(time.perf_counter() - start) * 1e3:.2f} ms")
