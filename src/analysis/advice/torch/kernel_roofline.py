"""Look at the kernel's launch first: blocks too few for the device's multiprocessors, registers
or shared memory that keep warps out (the trace has both), then at its dtypes. For Triton
kernels, autotune block sizes and warps; for library kernels, torch.compile(mode="max-autotune")
tries others.
"""

import torch

properties = torch.cuda.get_device_properties(0) if torch.cuda.is_available() else None
print(properties.multi_processor_count if properties else "no GPU here", "multiprocessors to fill")
