/*
 * What advice.c has for users of JAX, for users of PyTorch: their profiles are known by the profiler that
 * wrote them (model/trace_class.h). The code runs as it stands on PyTorch 2.4 and later, with or
 * without a GPU. Rules that look into XLA's programs have no row here; those that only profiles of
 * PyTorch tell of have none in advice.c.
 */
#include "analysis/doctor/doctor.h"

const struct ts_advice ts_advices_torch[] = {
{ "host_copies",
  "Keep what fits on the device. What must cross: pin it (pin_memory) and copy it with non_blocking=True "
  "on a stream of its own, one batch early, so that the copy runs behind the compute of the batch before; "
  "and move fewer bytes (bfloat16 instead of float32, uint8 images that are made floats on the device).",
  "import contextlib\n"
  "\n"
  "import torch\n"
  "\n"
  "device = torch.device(\"cuda\" if torch.cuda.is_available() else \"cpu\")\n"
  "side = torch.cuda.Stream() if device.type == \"cuda\" else None\n"
  "\n"
  "def fetch(block):  # begins at once, runs beside what the device computes\n"
  "    with torch.cuda.stream(side) if side else contextlib.nullcontext():\n"
  "        return block.to(device, non_blocking=True)\n"
  "\n"
  "def arrived(block):\n"
  "    if side:\n"
  "        torch.cuda.current_stream().wait_stream(side)\n"
  "        block.record_stream(torch.cuda.current_stream())\n"
  "    return block\n"
  "\n"
  "blocks = [torch.ones(256, 256, dtype=torch.bfloat16) for _ in range(4)]\n"
  "if side:\n"
  "    blocks = [block.pin_memory() for block in blocks]  # others cannot be copied asynchronously\n"
  "ahead = fetch(blocks[0])\n"
  "for i in range(len(blocks)):\n"
  "    block = arrived(ahead)\n"
  "    if i + 1 < len(blocks):\n"
  "        ahead = fetch(blocks[i + 1])\n"
  "    result = block * 2 + 1\n"
  "print(result.sum().item())\n" },
{ "large_transfers",
  "Move the tensor in parts while the step before computes, or keep it on the device: one large copy can "
  "only be waited for. What is the same in every step is sent once (register_buffer), and results are "
  "reduced on the device to the few numbers that are looked at.",
  "import torch\n"
  "\n"
  "device = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n"
  "table = torch.ones(1024, 256)  # large, on the host\n"
  "if device == \"cuda\":\n"
  "    table = table.pin_memory()\n"
  "sums = []\n"
  "for part in table.split(256):  # each is copied while the one before is summed\n"
  "    part = part.to(device, non_blocking=True)\n"
  "    sums.append(part.square().sum())\n"
  "print(torch.stack(sums).sum().item())  # one number comes back, not the table\n" },
{ "large_transfers_small",
  "Pack what goes to the device in one step into one tensor, and fetch results together: each copy costs "
  "its start, however little it moves. Losses and metrics stay on the device until they are printed.",
  "import torch\n"
  "\n"
  "device = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n"
  "features = {f\"feature{i}\": torch.full((16,), float(i)) for i in range(32)}\n"
  "packed = torch.cat(list(features.values())).to(device, non_blocking=True)  # one copy\n"
  "sizes = [feature.numel() for feature in features.values()]\n"
  "on_device = dict(zip(features, packed.split(sizes)))  # views: nothing moves\n"
  "sums = torch.stack([feature.sum() for feature in on_device.values()])\n"
  "print(sums.tolist()[:3])  # one fetch for all\n" },
{ "input_bound",
  "Let workers prepare batches ahead of the step: DataLoader with num_workers, persistent_workers, "
  "prefetch_factor and pin_memory, and copies with non_blocking=True. Where workers cannot keep up, decode "
  "less (smaller images, a packed data set), or augment on the device.",
  "import torch\n"
  "from torch.utils.data import DataLoader, TensorDataset\n"
  "\n"
  "if __name__ == \"__main__\":\n"
  "    cuda = torch.cuda.is_available()\n"
  "    data = TensorDataset(torch.ones(64, 128), torch.ones(64, 1))\n"
  "    loader = DataLoader(data, batch_size=16, num_workers=2, persistent_workers=True,\n"
  "                        prefetch_factor=4, pin_memory=cuda)\n"
  "    device = \"cuda\" if cuda else \"cpu\"\n"
  "    model = torch.nn.Linear(128, 1).to(device)\n"
  "    for x, y in loader:  # made by the workers while the device works on the one before\n"
  "        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)\n"
  "        loss = torch.nn.functional.mse_loss(model(x), y)\n"
  "    print(loss.item())\n" },
{ "compilation",
  "Run each shape once before the profile starts: torch.compile compiles at the first call. Its caches "
  "(TORCHINDUCTOR_CACHE_DIR, on a disk that outlives the job) make the next start find what was compiled, "
  "and mode=\"default\" compiles faster than max-autotune.",
  "import os\n"
  "import tempfile\n"
  "\n"
  "os.environ.setdefault(\"TORCHINDUCTOR_CACHE_DIR\", tempfile.mkdtemp())  # a lasting folder\n"
  "import torch\n"
  "from torch.profiler import profile\n"
  "\n"
  "backend = \"inductor\" if torch.cuda.is_available() else \"eager\"\n"
  "model = torch.compile(torch.nn.Linear(128, 128), backend=backend)\n"
  "x = torch.ones(8, 128)\n"
  "model(x)  # here, not inside the profile\n"
  "with profile() as prof:\n"
  "    model(x)\n"
  "print(len(prof.events()))\n" },
{ "recompilation",
  "A compiled function compiles again when a shape, a dtype or a Python number that it used is new. Say "
  "which dimensions change (mark_dynamic, or dynamic=True), pad to a few fixed sizes, and pass changing "
  "numbers as tensors. TORCH_LOGS=recompiles names the guard that failed.",
  "import torch\n"
  "\n"
  "compiled = []\n"
  "\n"
  "def count(graph, inputs):  # in the compiler's place, to see how often it is asked\n"
  "    compiled.append(graph)\n"
  "    return graph.forward\n"
  "\n"
  "@torch.compile(backend=count)\n"
  "def step(tokens):\n"
  "    return tokens.float().mean()\n"
  "\n"
  "for n in (100, 120, 200):\n"
  "    tokens = torch.ones(n, dtype=torch.long)\n"
  "    torch._dynamo.mark_dynamic(tokens, 0)  # one program for all lengths\n"
  "    step(tokens)\n"
  "print(len(compiled), \"compilation\")\n" },
{ "idle",
  "Keep the launches ahead of the device: take what waits (loss.item(), print of a tensor, .cpu(), "
  "torch.cuda.synchronize, nonzero and boolean masks) out of the step, and where kernels are short record "
  "them once as a CUDA graph: torch.compile(mode=\"reduce-overhead\") or torch.cuda.make_graphed_callables.",
  "import torch\n"
  "\n"
  "device = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n"
  "model = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.GELU(), torch.nn.Linear(128, 1)).to(device)\n"
  "if device == \"cuda\":  # launches are recorded once and played back as one\n"
  "    model = torch.compile(model, mode=\"reduce-overhead\")\n"
  "losses = []\n"
  "for batch in torch.ones(20, 8, 128, device=device):\n"
  "    losses.append(model(batch).square().mean().detach().clone())  # no .item(): the host runs ahead\n"
  "print(torch.stack(losses).tolist()[-1])  # one wait for all\n" },
{ "exposed_collectives",
  "Overlap them with the backward pass and send fewer bytes: DDP reduces a bucket as soon as its gradients "
  "are there (tune bucket_cap_mb; gradient_as_bucket_view, static_graph), a hook sends bfloat16, no_sync() "
  "skips the reduction while gradients are accumulated. With FSDP, prefetch the next block's parameters. "
  "Larger batches a device give more compute to hide them behind.",
  "import os\n"
  "import tempfile\n"
  "\n"
  "import torch\n"
  "import torch.distributed as dist\n"
  "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks\n"
  "from torch.nn.parallel import DistributedDataParallel\n"
  "\n"
  "store = \"file://\" + os.path.join(tempfile.mkdtemp(), \"store\")\n"
  "dist.init_process_group(\"gloo\", init_method=store, rank=0, world_size=1)  # \"nccl\", by torchrun\n"
  "model = DistributedDataParallel(torch.nn.Linear(128, 128), bucket_cap_mb=50, gradient_as_bucket_view=True)\n"
  "model.register_comm_hook(None, default_hooks.bf16_compress_hook)  # half the bytes\n"
  "with model.no_sync():  # the first half of the batch: nothing is sent\n"
  "    model(torch.ones(4, 128)).sum().backward()\n"
  "model(torch.ones(4, 128)).sum().backward()  # reduced once, behind the backward pass\n"
  "dist.destroy_process_group()\n" },
{ "straggler",
  "Give this rank no more work than the others (DistributedSampler, batches of equal length, no logging or "
  "evaluation on rank 0 alone), and see whether its device is slower by itself: time the same work on "
  "each. If one stays behind, look at its clocks and temperature (nvidia-smi -q -d PERFORMANCE, rocm-smi); "
  "if it is another one each time, look at its host.",
  "import time\n"
  "\n"
  "import torch\n"
  "\n"
  "devices = [torch.device(\"cuda\", i) for i in range(torch.cuda.device_count())] or [torch.device(\"cpu\")]\n"
  "for device in devices:  # in every process\n"
  "    x = torch.ones(512, 512, dtype=torch.bfloat16, device=device)\n"
  "    for repeats in (3, 20):  # the first warms up\n"
  "        if device.type == \"cuda\":\n"
  "            torch.cuda.synchronize(device)\n"
  "        start = time.perf_counter()\n"
  "        for _ in range(repeats):\n"
  "            x = x @ x / x.shape[0]\n"
  "        if device.type == \"cuda\":\n"
  "            torch.cuda.synchronize(device)\n"
  "    print(device, f\"{(time.perf_counter() - start) * 1e3:.2f} ms\")\n" },
{ "mxu_utilization",
  "Give the tensor cores more to do at a time: bfloat16 by autocast (or TF32 for float32), larger batches, "
  "dimensions that are multiples of 8 (64 is better), channels_last for convolutions, small products "
  "batched into one. torch.compile(mode=\"max-autotune\") chooses among kernels.",
  "import torch\n"
  "\n"
  "device = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n"
  "torch.set_float32_matmul_precision(\"high\")  # TF32 for what stays in float32\n"
  "project = torch.nn.Linear(256, 3 * 256).to(device)  # q, k and v in one product\n"
  "x = torch.ones(512, 256, device=device)\n"
  "with torch.autocast(device, dtype=torch.bfloat16):\n"
  "    q, k, v = project(x).chunk(3, dim=-1)\n"
  "print(q.dtype)\n" },
{ "highest_precision",
  "Full float32 products are an order of magnitude slower than TF32 or bfloat16 on tensor cores. Ask for "
  "them only where the result needs it.",
  "import torch\n"
  "\n"
  "torch.set_float32_matmul_precision(\"high\")  # TF32; \"medium\": bfloat16\n"
  "x = torch.ones(256, 256)\n"
  "y = x @ x\n"
  "torch.set_float32_matmul_precision(\"highest\")  # only where it matters\n"
  "exact = x @ x\n" },
{ "memory_bound",
  "Move fewer bytes: torch.compile fuses elementwise ops into one pass, bfloat16 halves what is read and "
  "written, scaled_dot_product_attention never writes the scores, a fused optimizer reads each parameter "
  "once.",
  "import torch\n"
  "import torch.nn.functional as F\n"
  "\n"
  "def layer(x, scale, bias):\n"
  "    return F.gelu(x * scale + bias)\n"
  "\n"
  "backend = \"inductor\" if torch.cuda.is_available() else \"eager\"\n"
  "fused = torch.compile(layer, backend=backend)  # one pass over x, not three\n"
  "x = torch.ones(1024, 1024, dtype=torch.bfloat16)  # half the bytes of float32\n"
  "fused(x, 2, 1)\n"
  "q = torch.ones(1, 4, 128, 64, dtype=torch.bfloat16)\n"
  "F.scaled_dot_product_attention(q, q, q)  # no 128 x 128 scores in memory\n" },
{ "layout_copies",
  "Let producer and consumer agree on one layout: convolutions in channels_last (model and input), "
  "products as einsum or matmul over the dimensions as they are instead of permute().contiguous(), and "
  "preallocated buffers that are written in place instead of torch.cat in every step.",
  "import torch\n"
  "\n"
  "model = torch.nn.Sequential(torch.nn.Conv2d(8, 16, 3), torch.nn.ReLU(), torch.nn.Conv2d(16, 16, 3))\n"
  "model = model.to(memory_format=torch.channels_last)\n"
  "images = torch.ones(4, 8, 32, 32).to(memory_format=torch.channels_last)\n"
  "assert model(images).is_contiguous(memory_format=torch.channels_last)  # no transposes between\n"
  "\n"
  "q = torch.ones(2, 16, 4, 64)\n"
  "scores = torch.einsum(\"bqhd,bkhd->bhqk\", q, q)  # no q.permute(0, 2, 1, 3).contiguous()\n"
  "\n"
  "cache = torch.zeros(2, 32, 4, 64)\n"
  "cache[:, 5:6] = torch.ones(2, 1, 4, 64)  # in place, not torch.cat\n" },
{ "upcasts",
  "Let autocast choose: inside it products take bfloat16, and only what needs float32 (norms, softmax, "
  "losses) gets it. Calls of .float() in the model undo that; so do tensors made in float32 by default.",
  "import torch\n"
  "\n"
  "device = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n"
  "model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.Linear(256, 1)).to(device)\n"
  "x = torch.ones(128, 256, device=device)\n"
  "with torch.autocast(device, dtype=torch.bfloat16):\n"
  "    loss = model(x).square().mean()  # products in bfloat16, the mean in float32\n"
  "loss.backward()\n" },
{ "hbm_bandwidth",
  "These kernels move bytes slower than the memory can. Read whole rows (sorted indices, contiguous last "
  "dimension), avoid strided views as inputs of elementwise ops, and let torch.compile fuse small ops into "
  "one.",
  "import torch\n"
  "\n"
  "def lookup(table, ids):  # rows in the order in which they lie in memory\n"
  "    order = torch.argsort(ids)\n"
  "    rows = table.index_select(0, ids[order])\n"
  "    return torch.empty_like(rows).index_copy_(0, order, rows)\n"
  "\n"
  "lookup(torch.ones(1024, 128), torch.tensor([7, 3, 900, 3]))\n" },
{ "rematerialization",
  "Checkpoint fewer blocks where memory allows, or keep what is dear to compute: a selective policy saves "
  "the results of products and attention and computes only elementwise ops again.",
  "import functools\n"
  "\n"
  "import torch  # 2.5 or later\n"
  "from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts\n"
  "\n"
  "PRODUCTS = {torch.ops.aten.mm.default, torch.ops.aten.addmm.default}\n"
  "\n"
  "def policy(ctx, op, *args, **kwargs):\n"
  "    return CheckpointPolicy.MUST_SAVE if op in PRODUCTS else CheckpointPolicy.PREFER_RECOMPUTE\n"
  "\n"
  "block = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.GELU())\n"
  "x = torch.ones(8, 128, requires_grad=True)\n"
  "keep = functools.partial(create_selective_checkpoint_contexts, policy)\n"
  "checkpoint(block, x, use_reentrant=False, context_fn=keep).sum().backward()\n" },
{ "hbm_capacity",
  "Recompute activations instead of keeping them (checkpoint), accumulate gradients over smaller batches, "
  "shard parameters and optimizer states (FSDP), keep activations in bfloat16.",
  "import torch\n"
  "from torch.utils.checkpoint import checkpoint\n"
  "\n"
  "block = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.GELU(), torch.nn.Linear(512, 128))\n"
  "optimizer = torch.optim.AdamW(block.parameters())\n"
  "for part in torch.ones(4, 8, 128):  # a quarter of the batch at a time\n"
  "    (checkpoint(block, part, use_reentrant=False).square().mean() / 4).backward()\n"
  "optimizer.step()\n"
  "optimizer.zero_grad(set_to_none=True)\n" },
{ "memory_growth",
  "Something is kept from each step: a loss that still has its graph (loss.item() lets go of it), outputs "
  "or hidden states gathered on the device, a graph that retain_graph=True keeps. Gather numbers, "
  "detach what must be kept, and compare memory snapshots of two steps: blocks that only the later one "
  "has are those that are kept, with the stack that took them.",
  "import torch\n"
  "\n"
  "model = torch.nn.Linear(128, 1)\n"
  "losses, states = [], []\n"
  "for i in range(4):\n"
  "    output = model(torch.ones(8, 128))\n"
  "    loss = output.square().mean()\n"
  "    loss.backward()\n"
  "    model.zero_grad(set_to_none=True)\n"
  "    losses.append(loss.item())  # a number: the tensor would keep its graph\n"
  "    states.append(output.detach().cpu())  # without the graph, and off the device\n"
  "print(losses)\n" },
{ "out_of_memory",
  "Take the largest holder first. Activations of the forward pass: recompute them (activation checkpointing), "
  "a smaller batch with accumulated gradients, or lower precision (torch.autocast). Gradients: "
  "zero_grad(set_to_none=True). Optimizer states: shard them (FSDP), or keep them in 8 bits. If much is "
  "reserved and unused, see fragmentation.",
  "import torch\n"
  "from torch.utils.checkpoint import checkpoint\n"
  "\n"
  "block = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.GELU(), torch.nn.Linear(512, 128))\n"
  "optimizer = torch.optim.AdamW(block.parameters())\n"
  "for micro_batch in torch.ones(4, 8, 128):  # four small batches instead of a large one\n"
  "    with torch.autocast(\"cpu\", dtype=torch.bfloat16):  # \"cuda\" on a GPU\n"
  "        loss = checkpoint(block, micro_batch, use_reentrant=False).float().square().mean() / 4\n"
  "    loss.backward()\n"
  "optimizer.step()\n"
  "optimizer.zero_grad(set_to_none=True)  # gradients hold no memory between steps\n" },
{ "device_memory",
  "A longer sequence or a fragment more ends in an out-of-memory error. Take the largest holder first: "
  "activations can be recomputed (activation checkpointing) or stored in bfloat16, gradients let go of "
  "with zero_grad(set_to_none=True), optimizer states sharded (FSDP).",
  "import torch\n"
  "from torch.utils.checkpoint import checkpoint\n"
  "\n"
  "block = torch.nn.Sequential(torch.nn.Linear(128, 512), torch.nn.GELU(), torch.nn.Linear(512, 128))\n"
  "x = torch.ones(8, 128, requires_grad=True)\n"
  "checkpoint(block, x, use_reentrant=False).square().mean().backward()  # the GELU's input is not kept\n"
  "block.zero_grad(set_to_none=True)\n" },
{ "fragmentation",
  "Let the allocator grow its segments (PYTORCH_ALLOC_CONF=expandable_segments:True; PYTORCH_CUDA_ALLOC_CONF "
  "for a PyTorch that does not know it): freed blocks of one size then serve requests of another. Pad shapes that change "
  "from step to step to a few sizes. torch.cuda.empty_cache() once, between phases of different "
  "needs (after an evaluation, after compiling), gives the rest back; in every step it only costs time.",
  "import os\n"
  "\n"
  "os.environ.setdefault(\"PYTORCH_ALLOC_CONF\", \"expandable_segments:True\")\n"
  "os.environ.setdefault(\"PYTORCH_CUDA_ALLOC_CONF\", \"expandable_segments:True\")\n"
  "import torch  # after the settings: they are read once\n"
  "\n"
  "def padded(batch, multiple=64):  # lengths of a few sizes only\n"
  "    missing = -batch.shape[1] % multiple\n"
  "    return torch.nn.functional.pad(batch, (0, missing))\n"
  "\n"
  "assert padded(torch.ones(8, 100)).shape == (8, 128)\n"
  "if torch.cuda.is_available():\n"
  "    torch.cuda.empty_cache()  # once, between phases\n" },
{ "allocator_calls",
  "cudaMalloc and cudaFree wait for the device. In the steady state there should be none: take "
  "torch.cuda.empty_cache() out of the loop, let segments grow (PYTORCH_ALLOC_CONF=expandable_segments:True), "
  "pad shapes that change to a few sizes, and run one step of the largest shape first, so that its blocks "
  "are there for all others. Pinned buffers: make them once and use them again.",
  "import os\n"
  "\n"
  "os.environ.setdefault(\"PYTORCH_ALLOC_CONF\", \"expandable_segments:True\")\n"
  "import torch\n"
  "\n"
  "model = torch.nn.Linear(128, 128)\n"
  "lengths = [17, 93, 64, 128]\n"
  "model(torch.ones(max(lengths), 128)).sum().backward()  # the largest first: later ones fit into its blocks\n"
  "model.zero_grad(set_to_none=True)\n"
  "for n in lengths:\n"
  "    model(torch.ones(n, 128)).sum().backward()\n"
  "    model.zero_grad(set_to_none=True)\n" },
{ "dominant_op",
  "What this kernel costs decides the run: find the operator that launches it and its shapes "
  "(record_shapes=True, with_stack=True), then try another algorithm (scaled_dot_product_attention, "
  "torch.backends.cudnn.benchmark for convolutions of fixed shapes), torch.compile(mode=\"max-autotune\"), "
  "or a smaller dtype. It pays here and nowhere else.",
  "import torch\n"
  "from torch.profiler import profile\n"
  "\n"
  "torch.backends.cudnn.benchmark = True  # the fastest convolution for shapes that stay the same\n"
  "x = torch.ones(256, 256)\n"
  "with profile(record_shapes=True) as prof:  # the part alone\n"
  "    torch.sort(x @ x, dim=-1)\n"
  "print(prof.key_averages(group_by_input_shape=True).table(row_limit=5))\n" },
{ "small_ops",
  "Launch fewer, larger kernels: optimizers with fused=True (or foreach=True), torch.compile for chains of "
  "elementwise ops, vmap or one batched product instead of a Python loop, and a CUDA graph "
  "(mode=\"reduce-overhead\") where the kernels stay short.",
  "import torch\n"
  "\n"
  "layers = [torch.nn.Parameter(torch.ones(16, 16)) for _ in range(32)]\n"
  "optimizer = torch.optim.AdamW(layers, fused=True)  # one kernel for all, not several a layer\n"
  "for layer in layers:\n"
  "    layer.grad = torch.ones_like(layer)\n"
  "optimizer.step()\n"
  "x = torch.ones(32, 8, 16)\n"
  "y = torch.bmm(x, torch.stack(layers))  # one product instead of 32\n" },
{ "op_chains",
  "Put the same work on fewer, larger tensors: torch._foreach functions or torch.stack for what is "
  "computed alike, torch.compile for the rest, and what only logs need every hundred steps.",
  "import torch\n"
  "\n"
  "def statistics(layers):  # one pass over all of them, not four kernels a layer\n"
  "    x = torch.stack(layers).flatten(1)\n"
  "    return torch.stack([x.mean(-1), x.std(-1), x.amin(-1), x.amax(-1)])\n"
  "\n"
  "print(statistics([torch.full((16, 16), float(i)) for i in range(8)]).shape)\n" },
{ "slow_steps",
  "Compare a slow step with its neighbours in the trace. Regular ones come from checkpoints, evaluation or "
  "logging (do these on a thread, or every n steps); irregular ones from the host: garbage collection, "
  "workers of the DataLoader that start anew each epoch (persistent_workers=True), other jobs on the "
  "machine.",
  "import gc\n"
  "\n"
  "import torch\n"
  "\n"
  "model = torch.nn.Linear(8, 8)\n"
  "gc.collect()\n"
  "gc.freeze()\n"
  "gc.disable()  # no collection inside a step\n"
  "for i in range(4):\n"
  "    model(torch.ones(4, 8)).sum().backward()\n"
  "    if i % 2 == 1:\n"
  "        gc.collect()  # between steps, where it can be seen\n" },
{ "kernel_roofline",
  "Look at the kernel's launch first: blocks too few for the device's multiprocessors, registers or shared "
  "memory that keep warps out (the trace has both), then at its dtypes. For Triton kernels, autotune block "
  "sizes and warps; for library kernels, torch.compile(mode=\"max-autotune\") tries others.",
  "import torch\n"
  "\n"
  "properties = torch.cuda.get_device_properties(0) if torch.cuda.is_available() else None\n"
  "print(properties.multi_processor_count if properties else \"no GPU here\", \"multiprocessors to fill\")\n" },
{ "kernel_gaps",
  "Fewer, larger kernels: torch.compile joins elementwise work, mode=\"reduce-overhead\" replays the whole step as one "
  "CUDA graph, in which a kernel begins sooner. Foreach and fused optimizers make one kernel of hundreds.",
  "import torch\n"
  "\n"
  "model = torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.GELU(), torch.nn.Linear(128, 1))\n"
  "if torch.cuda.is_available():\n"
  "    model = torch.compile(model.cuda(), mode=\"reduce-overhead\")\n"
  "device = next(model.parameters()).device\n"
  "optimizer = torch.optim.AdamW(model.parameters(), fused=device.type == \"cuda\")\n"
  "for batch in torch.ones(4, 8, 128, device=device):  # static shapes: a graph is of one shape\n"
  "    model(batch).sum().backward()\n"
  "    optimizer.step()\n"
  "    optimizer.zero_grad(set_to_none=True)\n" },
{ "short_kernels",
  "Join them: torch.compile makes one kernel of a chain of elementwise ops, torch._foreach_* and fused optimizers one "
  "of many small tensors, scaled_dot_product_attention one of an attention. Larger batches make each kernel "
  "longer at the same number.",
  "import torch\n"
  "\n"
  "weights = [torch.ones(16) for _ in range(100)]\n"
  "steps = [torch.ones(16) for _ in range(100)]\n"
  "torch._foreach_add_(weights, steps, alpha=-0.1)  # one kernel, not a hundred\n" },
{ "launch_queue",
  "Nothing is lost as long as the GPU has work. Where the host must react (a loader in the same process, a "
  "collective of another stream), launch fewer kernels: torch.compile, CUDA graphs; and do work of the host on "
  "another thread or process.",
  "import torch\n"
  "\n"
  "model = torch.nn.Linear(128, 1)\n"
  "if torch.cuda.is_available():\n"
  "    model = torch.compile(model.cuda(), mode=\"reduce-overhead\")  # one launch a step\n"
  "model(torch.ones(8, 128, device=next(model.parameters()).device))\n" },
{ "late_rank",
  "Find what that rank does more: uneven batches (sort or pack by length, the same number of tokens for each rank), a "
  "slower loader or host, a GPU that is throttled (nvidia-smi -q -d PERFORMANCE), work that only rank 0 does "
  "(logging, checkpoints).",
  "import torch\n"
  "\n"
  "lengths = torch.randint(1, 100, (64,))\n"
  "ranks = 4\n"
  "order = torch.argsort(lengths, descending=True)\n"
  "shares = [order[rank::ranks] for rank in range(ranks)]  # long and short ones for each\n"
  "print([int(lengths[share].sum()) for share in shares])\n" },
{ "unknown_chip",
  "Ask for a row in the chip table, with the name that PyTorch gives the device.",
  "import torch\n"
  "\n"
  "print(torch.cuda.get_device_name() if torch.cuda.is_available() else \"no GPU here\")\n" },
{ "torch_graph_breaks",
  "Take out of compiled code what Dynamo cannot trace: prints and logging, .item() and branches on the values "
  "of tensors (torch.where, torch.cond), calls into other libraries. TORCH_LOGS=graph_breaks or a log of "
  "TORCH_TRACE names each place and why; fullgraph=True makes the first one an error.",
  "import torch\n"
  "\n"
  "def step(x):\n"
  "    y = x * 2\n"
  "    return torch.where(y.sum() > 0, y + 1, y)  # not: if y.sum() > 0: y = y + 1\n"
  "\n"
  "told = torch._dynamo.explain(step)(torch.randn(8))\n"
  "print(told.graph_break_count, [r.reason for r in told.break_reasons])\n"
  "compiled = torch.compile(step, fullgraph=True)  # an error where the graph would break\n" },
{ "torch_recompilations",
  "A frame is compiled again when a guard fails: another shape, dtype, Python number or object than the code "
  "was made for. Mark sizes that change as dynamic, pad to a few sizes, and pass what changes as tensors; "
  "TORCH_LOGS=recompiles or a log of TORCH_TRACE names the guards.",
  "import torch\n"
  "\n"
  "step = torch.compile(lambda x: torch.relu(x) * 2)\n"
  "for n in (100, 120, 200):\n"
  "    x = torch.randn(n, 64)\n"
  "    torch._dynamo.mark_dynamic(x, 0)  # one compilation for every n\n"
  "    step(x)\n" },
{ "torch_unfused",
  "Compile the part of the model that these ops stand in: Inductor joins ops on the same elements, and the "
  "reductions behind them, into one kernel that reads and writes device memory once. Where it is compiled, "
  "look for what runs outside of it: optimizers, losses, data on the device.",
  "import torch\n"
  "\n"
  "device = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n"
  "net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64)).to(device)\n"
  "step = torch.compile(lambda x: net(x).square().mean())  # with its loss\n"
  "step(torch.randn(8, 64, device=device)).backward()\n" },
{ "torch_cuda_graphs",
  "Launch the kernels of a step as one CUDA graph: torch.compile(mode=\"reduce-overhead\") does so for "
  "compiled code whose shapes stay; torch.cuda.make_graphed_callables() for other code. Larger batches and "
  "fused kernels make fewer launches too.",
  "import torch\n"
  "\n"
  "device = \"cuda\" if torch.cuda.is_available() else \"cpu\"\n"
  "net = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(8)]).to(device)\n"
  "step = torch.compile(net, mode=\"reduce-overhead\")\n"
  "x = torch.randn(8, 64, device=device)  # the same shape in every step\n"
  "for _ in range(3):\n"
  "    torch.compiler.cudagraph_mark_step_begin()\n"
  "    with torch.no_grad():\n"
  "        step(x)\n" },
{ NULL, NULL, NULL },
};
