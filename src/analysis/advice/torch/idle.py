"""Keep the launches ahead of the device: take what waits (loss.item(), print of a tensor,
.cpu(), torch.cuda.synchronize, nonzero and boolean masks) out of the step, and where kernels
are short record them once as a CUDA graph: torch.compile(mode="reduce-overhead") or
torch.cuda.make_graphed_callables.
"""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.GELU(), torch.nn.Linear(128, 1)).to(device)
if device == "cuda":  # launches are recorded once and played back as one
    model = torch.compile(model, mode="reduce-overhead")
losses = []
for batch in torch.ones(20, 8, 128, device=device):
    losses.append(model(batch).square().mean().detach().clone())  # no .item(): the host runs ahead
print(torch.stack(losses).tolist()[-1])  # one wait for all
