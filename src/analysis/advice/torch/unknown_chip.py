"""Ask for a row in the chip table, with the name that PyTorch gives the device.
"""

import torch

print(torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU here")
