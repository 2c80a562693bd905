"""A compiled function compiles again when a shape, a dtype or a Python number that it used is
new. Say which dimensions change (mark_dynamic, or dynamic=True), pad to a few fixed sizes, and
pass changing numbers as tensors. TORCH_LOGS=recompiles names the guard that failed.
"""

import torch

compiled = []

def count(graph, inputs):  # in the compiler's place, to see how often it is asked
    compiled.append(graph)
    return graph.forward

@torch.compile(backend=count)
def step(tokens):
    return tokens.float().mean()

for n in (100, 120, 200):
    tokens = torch.ones(n, dtype=torch.long)
    torch._dynamo.mark_dynamic(tokens, 0)  # one program for all lengths
    step(tokens)
print(len(compiled), "compilation")
