"""Let workers prepare batches ahead of the step: DataLoader with num_workers,
persistent_workers, prefetch_factor and pin_memory, and copies with non_blocking=True. Where
workers cannot keep up, decode less (smaller images, a packed data set), or augment on the
device.
"""

import torch
from torch.utils.data import DataLoader, TensorDataset

if __name__ == "__main__":
    cuda = torch.cuda.is_available()
    data = TensorDataset(torch.ones(64, 128), torch.ones(64, 1))
    loader = DataLoader(data, batch_size=16, num_workers=2, persistent_workers=True,
                        prefetch_factor=4, pin_memory=cuda)
    device = "cuda" if cuda else "cpu"
    model = torch.nn.Linear(128, 1).to(device)
    for x, y in loader:  # made by the workers while the device works on the one before
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss = torch.nn.functional.mse_loss(model(x), y)
    print(loss.item())
