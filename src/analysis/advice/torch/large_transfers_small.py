"""Pack what goes to the device in one step into one tensor, and fetch results together: each
copy costs its start, however little it moves. Losses and metrics stay on the device until they
are printed.
"""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
features = {f"feature{i}": torch.full((16,), float(i)) for i in range(32)}
packed = torch.cat(list(features.values())).to(device, non_blocking=True)  # one copy
sizes = [feature.numel() for feature in features.values()]
on_device = dict(zip(features, packed.split(sizes)))  # views: nothing moves
sums = torch.stack([feature.sum() for feature in on_device.values()])
print(sums.tolist()[:3])  # one fetch for all
