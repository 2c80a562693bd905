"""Something is kept from each step: a loss that still has its graph (loss.item() lets go of
it), outputs or hidden states gathered on the device, a graph that retain_graph=True keeps.
Gather numbers, detach what must be kept, and compare memory snapshots of two steps: blocks that
only the later one has are those that are kept, with the stack that took them.
"""

import torch

model = torch.nn.Linear(128, 1)
losses, states = [], []
for i in range(4):
    output = model(torch.ones(8, 128))
    loss = output.square().mean()
    loss.backward()
    model.zero_grad(set_to_none=True)
    losses.append(loss.item())  # a number: the tensor would keep its graph
    states.append(output.detach().cpu())  # without the graph, and off the device
print(losses)
