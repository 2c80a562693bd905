"""Run each shape once before the profile starts: torch.compile compiles at the first call. Its
caches (TORCHINDUCTOR_CACHE_DIR, on a disk that outlives the job) make the next start find what
was compiled, and mode="default" compiles faster than max-autotune.
"""

import os
import tempfile

os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp())  # a lasting folder
import torch
from torch.profiler import profile

backend = "inductor" if torch.cuda.is_available() else "eager"
model = torch.compile(torch.nn.Linear(128, 128), backend=backend)
x = torch.ones(8, 128)
model(x)  # here, not inside the profile
with profile() as prof:
    model(x)
print(len(prof.events()))
