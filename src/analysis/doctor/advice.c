/*
 * What to change, and how: for each rule a few sentences and a piece of code. The code runs as it
 * stands on today's JAX, on any backend, with small arrays in place of the user's. What is said to
 * users of PyTorch stands in advice_torch.c.
 */
#include "analysis/doctor/doctor.h"

const struct ts_advice ts_advices_jax[] = {
	{ "host_copies",
	  "Keep the arrays in device memory where they fit. Else move fewer bytes (bf16 instead of "
	  "f32 halves "
	  "them; offload only the largest and longest-lived arrays), and start each fetch one "
	  "block early, so "
	  "that it runs behind the compute of the block before (double buffering).",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "dev = jax.devices()[0]\n"
	  "on_host = jax.sharding.SingleDeviceSharding(dev, memory_kind=\"pinned_host\")\n"
	  "on_device = jax.sharding.SingleDeviceSharding(dev, memory_kind=\"device\")\n"
	  "work = jax.jit(lambda block: block * 2 + 1)\n"
	  "\n"
	  "blocks = [jax.device_put(jnp.ones((256, 256), jnp.bfloat16), on_host) for _ in "
	  "range(4)]\n"
	  "ahead = jax.device_put(blocks[0], on_device)\n"
	  "for i in range(len(blocks)):\n"
	  "    block = ahead\n"
	  "    if i + 1 < len(blocks):  # starts now, runs while work() computes\n"
	  "        ahead = jax.device_put(blocks[i + 1], on_device)\n"
	  "    blocks[i] = jax.device_put(work(block), on_host)  # not waited for\n"
	  "jax.block_until_ready(blocks)\n" },
	{ "infeed_outfeed",
	  "Replace infeed and outfeed by arguments and results of the jitted step: put the next "
	  "batch on the "
	  "device while the step runs, and fetch results some steps later.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "import numpy as np\n"
	  "\n"
	  "step = jax.jit(lambda w, batch: (w + batch.mean(), (batch * w).sum()))\n"
	  "w = jnp.float32(0)\n"
	  "batches = [np.ones((8, 128), np.float32) for _ in range(4)]\n"
	  "ahead = jax.device_put(batches[0])\n"
	  "losses = []\n"
	  "for i in range(len(batches)):\n"
	  "    batch = ahead\n"
	  "    if i + 1 < len(batches):\n"
	  "        ahead = jax.device_put(batches[i + 1])\n"
	  "    w, loss = step(w, batch)\n"
	  "    losses.append(loss)  # stays on the device; fetch every hundred steps\n"
	  "print(np.asarray(jnp.stack(losses)))\n" },
	{ "large_transfers",
	  "Move the array in parts while the step before computes, or keep it on the device: one "
	  "large copy "
	  "can only be waited for. What is the same in every step is sent once; results are "
	  "fetched as the few "
	  "numbers that are looked at.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "import numpy as np\n"
	  "\n"
	  "table = np.ones((1024, 256), np.float32)  # large, on the host\n"
	  "work = jax.jit(lambda part: (part * part).sum())\n"
	  "parts = np.array_split(table, 4)\n"
	  "ahead = jax.device_put(parts[0])\n"
	  "sums = []\n"
	  "for i in range(len(parts)):\n"
	  "    part = ahead\n"
	  "    if i + 1 < len(parts):  # moves while work() runs\n"
	  "        ahead = jax.device_put(parts[i + 1])\n"
	  "    sums.append(work(part))\n"
	  "print(float(jnp.stack(sums).sum()))  # one number comes back, not the table\n" },
	{ "large_transfers_small",
	  "Pack what goes to the device in one step into one transfer, and fetch results together: "
	  "each "
	  "transfer costs its start, however little it moves.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "import numpy as np\n"
	  "from jax.flatten_util import ravel_pytree\n"
	  "\n"
	  "inputs = {f\"feature{i}\": np.full(16, i, np.float32) for i in range(32)}\n"
	  "_, unpack = ravel_pytree(inputs)\n"
	  "packed = np.concatenate([inputs[name].ravel() for name in sorted(inputs)])\n"
	  "\n"
	  "@jax.jit\n"
	  "def step(packed):  # one array crosses, taken apart on the device\n"
	  "    features = unpack(packed)\n"
	  "    return jnp.stack([features[name].sum() for name in sorted(features)])\n"
	  "\n"
	  "print(np.asarray(step(jax.device_put(packed))).shape)  # one fetch for all\n" },
	{ "input_bound",
	  "Prepare batches on threads of their own and keep a few of them on the device: the step "
	  "then finds "
	  "its input ready. Decode and augment less, or in more workers; cache what does not "
	  "change.",
	  "import queue\n"
	  "import threading\n"
	  "\n"
	  "import jax\n"
	  "import numpy as np\n"
	  "\n"
	  "def prefetch(batches, depth=2):\n"
	  "    ready = queue.Queue(depth)\n"
	  "    def fill():\n"
	  "        for batch in batches:\n"
	  "            ready.put(jax.device_put(batch))\n"
	  "        ready.put(None)\n"
	  "    threading.Thread(target=fill, daemon=True).start()\n"
	  "    while (batch := ready.get()) is not None:\n"
	  "        yield batch\n"
	  "\n"
	  "step = jax.jit(lambda batch: batch.sum())\n"
	  "for batch in prefetch(np.ones((8, 128), np.float32) for _ in range(4)):\n"
	  "    result = step(batch)\n"
	  "result.block_until_ready()\n" },
	{ "compilation",
	  "Run the step once before the profile starts, and keep compiled programs in the "
	  "persistent cache, so "
	  "that the next start of the job finds them.",
	  "import tempfile\n"
	  "\n"
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "jax.config.update(\"jax_compilation_cache_dir\", tempfile.mkdtemp())  # a lasting "
	  "folder\n"
	  "jax.config.update(\"jax_persistent_cache_min_compile_time_secs\", 1)\n"
	  "x = jnp.ones((8, 128))\n"
	  "step = jax.jit(lambda x: x * 2).lower(x).compile()  # here, not inside the profile\n"
	  "with jax.profiler.trace(tempfile.mkdtemp()):\n"
	  "    jax.block_until_ready(step(x))\n" },
	{ "recompilation",
	  "A step compiles again when a shape, a dtype or a static argument is new. Pad to a few "
	  "fixed sizes, "
	  "pass changing Python numbers as arrays, and let JAX say what missed its cache.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "jax.config.update(\"jax_explain_cache_misses\", True)\n"
	  "\n"
	  "BUCKETS = (128, 256, 512)\n"
	  "def pad(tokens):\n"
	  "    size = next(b for b in BUCKETS if b >= tokens.shape[0])\n"
	  "    mask = jnp.arange(size) < tokens.shape[0]\n"
	  "    return jnp.pad(tokens, (0, size - tokens.shape[0])), mask\n"
	  "\n"
	  "step = jax.jit(lambda tokens, mask: jnp.where(mask, tokens, 0).sum())\n"
	  "for n in (100, 120, 200):  # two compilations, not three\n"
	  "    step(*pad(jnp.ones(n, jnp.int32)))\n" },
	{ "idle",
	  "Give the device more work at a time: do not wait for results (float(), print, "
	  "np.asarray, "
	  "block_until_ready) in every step, and put several steps into one jitted call, so that "
	  "the host can "
	  "run ahead.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "def step(w, batch):\n"
	  "    loss = ((batch @ w) ** 2).mean()\n"
	  "    return w * 0.99, loss\n"
	  "\n"
	  "@jax.jit\n"
	  "def many_steps(w, batches):  # one dispatch for all of them\n"
	  "    return jax.lax.scan(step, w, batches)\n"
	  "\n"
	  "w, losses = many_steps(jnp.ones((128, 128)), jnp.ones((10, 8, 128)))\n"
	  "print(float(losses[-1]))  # one wait\n" },
	{ "exposed_collectives",
	  "Send fewer bytes (reduce gradients in bf16; reduce-scatter and gather later instead of "
	  "an "
	  "all-reduce), shard so that the large axis stays inside a chip's neighbours, and give "
	  "the compiler "
	  "independent work to hide them: larger batches per chip, or layers that overlap.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "from jax.sharding import PartitionSpec as P\n"
	  "\n"
	  "mesh = jax.make_mesh((len(jax.devices()),), (\"data\",))\n"
	  "\n"
	  "def reduce_gradients(g):  # half the bytes, and each device keeps its own part only\n"
	  "    return jax.lax.psum_scatter(g.astype(jnp.bfloat16), \"data\", tiled=True)\n"
	  "\n"
	  "reduce = jax.jit(jax.shard_map(reduce_gradients, mesh=mesh, in_specs=P(), "
	  "out_specs=P(\"data\"),\n"
	  "                               check_vma=False))\n"
	  "reduce(jnp.ones((len(jax.devices()) * 128, 128))).block_until_ready()\n" },
	{ "exposed_async",
	  "The wait comes right where its data is needed. Give the compiler compute to put in "
	  "front of it: begin "
	  "the next layer's loads earlier (unroll the loop, or carry the next block's weights "
	  "through it), keep "
	  "what is used again in fast memory, and leave the scheduler room (larger scoped VMEM "
	  "makes prefetches "
	  "shorter).",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "def layer(x, w):\n"
	  "    return jnp.tanh(x @ w), None\n"
	  "\n"
	  "@jax.jit\n"
	  "def model(x, weights):  # two layers a trip: one computes while the other's weights "
	  "come\n"
	  "    return jax.lax.scan(layer, x, weights, unroll=2)[0]\n"
	  "\n"
	  "model(jnp.ones((8, 128)), jnp.ones((4, 128, 128))).block_until_ready()\n" },
	{ "mxu_utilization",
	  "Give the matrix units more to do at a time: larger batches, bf16 operands, dims that "
	  "are multiples "
	  "of the array; batch small products into one. Where memory is what they wait for, fuse "
	  "what stands "
	  "around them, or raise the batch so that weights are read for more rows.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "@jax.jit\n"
	  "def project(x, wq, wk, wv):  # one product instead of three, in bf16, summed in f32\n"
	  "    w = jnp.concatenate([wq, wk, wv], axis=1).astype(jnp.bfloat16)\n"
	  "    y = jnp.dot(x.astype(jnp.bfloat16), w, preferred_element_type=jnp.float32)\n"
	  "    return jnp.split(y, 3, axis=1)\n"
	  "\n"
	  "x, w = jnp.ones((512, 256)), jnp.ones((256, 256))\n"
	  "q, k, v = project(x, w, w, w)\n" },
	{ "matmul_fill",
	  "Make the dims that lie on the array multiples of its size (128; 256 on v6e and v7x): "
	  "pad them once "
	  "where the weights are made, merge heads or experts into one larger product, or choose "
	  "the hidden "
	  "size so.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "ARRAY = 256  # 128 before v6e\n"
	  "def pad_to_array(w):\n"
	  "    return jnp.pad(w, [(0, -n % ARRAY) for n in w.shape])\n"
	  "\n"
	  "w = pad_to_array(jnp.ones((200, 300)))  # once, not in the step\n"
	  "x = jnp.pad(jnp.ones((64, 200)), ((0, 0), (0, w.shape[0] - 200)))\n"
	  "y = jax.jit(jnp.dot)(x, w)[:, :300]\n" },
	{ "highest_precision",
	  "Ask for highest precision only where the result needs it: three bf16 passes (\"high\") "
	  "are mostly "
	  "enough, and for training one pass (the default) with f32 sums.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "x = jnp.ones((256, 256))\n"
	  "with jax.default_matmul_precision(\"high\"):  # three passes; \"default\": one\n"
	  "    y = jax.jit(jnp.dot)(x, x)\n"
	  "exact = jnp.dot(x, x, precision=jax.lax.Precision.HIGHEST)  # only where it matters\n" },
	{ "padding_waste",
	  "Choose sizes that fill tiles: the minor dim a multiple of 128, the one before of 8 (16 "
	  "for bf16 in "
	  "some layouts, 32 for int8). Merge small dims, or put a large dim last, so that the "
	  "small one is not "
	  "padded to a whole tile.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "x = jnp.ones((1024, 16, 4))  # 4 of 128 lanes hold data\n"
	  "\n"
	  "@jax.jit\n"
	  "def scale(x):\n"
	  "    flat = x.reshape(1024, 64)  # or x.transpose(1, 2, 0): 1024 in the lanes\n"
	  "    return (flat * 2).reshape(x.shape)\n"
	  "\n"
	  "scale(x).block_until_ready()\n" },
	{ "memory_bound",
	  "Move fewer bytes: jit the whole step so that elementwise ops fuse, keep activations in "
	  "bf16, do not "
	  "write out what is used once, and do more arithmetic on what was read (larger batches).",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "def layer(x, scale, bias):\n"
	  "    return jax.nn.gelu(x * scale + bias)\n"
	  "\n"
	  "fused = jax.jit(layer)  # one pass over x, not three\n"
	  "x = jnp.ones((1024, 1024), jnp.bfloat16)  # half the bytes of f32\n"
	  "fused(x, jnp.bfloat16(2), jnp.bfloat16(1)).block_until_ready()\n" },
	{ "layout_copies",
	  "Let producer and consumer agree on one layout: write products as einsum over the dims "
	  "as they are, "
	  "instead of transposing or reshaping first, and donate buffers that are updated in "
	  "place.",
	  "import functools\n"
	  "\n"
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "@jax.jit\n"
	  "def scores(q, k):  # no q.transpose(0, 2, 1, 3) before the product\n"
	  "    return jnp.einsum(\"bqhd,bkhd->bhqk\", q, k)\n"
	  "\n"
	  "@functools.partial(jax.jit, donate_argnums=0)  # updated in place, not copied\n"
	  "def update(cache, new, at):\n"
	  "    return jax.lax.dynamic_update_slice(cache, new, (0, at, 0, 0))\n"
	  "\n"
	  "x = jnp.ones((2, 16, 4, 64))\n"
	  "scores(x, x)\n"
	  "update(jnp.zeros((2, 32, 4, 64)), x, 0)\n" },
	{ "upcasts",
	  "Cast to bf16 where the array is made, not where it is read: return the smaller type "
	  "from the function that "
	  "makes it, and give products preferred_element_type where f32 sums are wanted.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "@jax.jit\n"
	  "def layer(x, w):\n"
	  "    y = jnp.dot(x, w, preferred_element_type=jnp.float32)  # summed in f32\n"
	  "    return jax.nn.gelu(y).astype(jnp.bfloat16)             # stored in bf16\n"
	  "\n"
	  "x = jnp.ones((128, 256), jnp.bfloat16)\n"
	  "layer(x, jnp.ones((256, 256), jnp.bfloat16))\n" },
	{ "hbm_bandwidth",
	  "These ops move bytes slower than the memory can. Make their transfers longer: keep the "
	  "last dimension a "
	  "multiple of 128 and the one before of 8, gather whole rows (sorted indices help), slice "
	  "along the outer "
	  "dimensions, and batch small ops into one.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "@jax.jit\n"
	  "def lookup(table, ids):  # rows of 128 x n elements, in the order they lie in memory\n"
	  "    order = jnp.argsort(ids)\n"
	  "    rows = jnp.take(table, ids[order], axis=0, indices_are_sorted=True)\n"
	  "    return jnp.zeros_like(rows).at[order].set(rows)\n"
	  "\n"
	  "lookup(jnp.ones((1024, 128)), jnp.array([7, 3, 900, 3]))\n" },
	{ "rematerialization",
	  "Save more of what is cheap to keep: name the values that give most time for their "
	  "memory and keep "
	  "these, or take a checkpoint policy that keeps all products "
	  "(dots_with_no_batch_dims_saveable) and "
	  "computes only the elementwise ops again. Where memory allows, checkpoint fewer blocks.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "from jax.ad_checkpoint import checkpoint_name\n"
	  "\n"
	  "def block(x, w):\n"
	  "    return jnp.tanh(checkpoint_name(x @ w, \"product\"))\n"
	  "\n"
	  "policy = jax.checkpoint_policies.save_only_these_names(\"product\")\n"
	  "kept = jax.checkpoint(block, policy=policy)\n"
	  "grad = jax.jit(jax.grad(lambda w: kept(jnp.ones((8, 128)), w).sum()))\n"
	  "grad(jnp.ones((128, 128))).block_until_ready()\n" },
	{ "hbm_capacity",
	  "Donate the arguments that the step replaces (parameters, optimizer state), recompute "
	  "activations "
	  "instead of keeping them (jax.checkpoint), shard the largest arrays over more devices, "
	  "keep them in "
	  "bf16, or take a smaller batch in several parts. compiled.memory_analysis() says what "
	  "each brings.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "def loss(w, batch):\n"
	  "    layer = jax.checkpoint(lambda h, w: jnp.tanh(h @ w))  # keeps h, computes the rest "
	  "again\n"
	  "    h, _ = jax.lax.scan(lambda h, w: (layer(h, w), None), batch, w)\n"
	  "    return (h.astype(jnp.float32) ** 2).mean()\n"
	  "\n"
	  "def step(w, batch, parts=4):\n"
	  "    def add(total, part):  # a quarter of the batch at a time\n"
	  "        return total + jax.grad(loss)(w, part), None\n"
	  "    split = batch.reshape(parts, -1, batch.shape[-1])\n"
	  "    grads, _ = jax.lax.scan(add, jnp.zeros_like(w), split)\n"
	  "    return w - 0.1 * grads / parts\n"
	  "\n"
	  "w, batch = jnp.ones((4, 128, 128), jnp.bfloat16), jnp.ones((64, 128), jnp.bfloat16)\n"
	  "compiled = jax.jit(step, donate_argnums=0).lower(w, batch).compile()\n"
	  "print(compiled.memory_analysis())\n"
	  "w = compiled(w, batch)\n" },
	{ "donation",
	  "Name the arguments that the caller does not use again in donate_argnums: the results "
	  "are then "
	  "written over them. The caller must take the result in their place.",
	  "import functools\n"
	  "\n"
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "@functools.partial(jax.jit, donate_argnums=(0, 1))\n"
	  "def step(params, momentum, batch):\n"
	  "    momentum = 0.9 * momentum + jax.grad(lambda p: ((batch @ p) ** 2).mean())(params)\n"
	  "    return params - 0.1 * momentum, momentum\n"
	  "\n"
	  "params, momentum = jnp.ones((128, 128)), jnp.zeros((128, 128))\n"
	  "for _ in range(3):\n"
	  "    params, momentum = step(params, momentum, jnp.ones((8, 128)))\n" },
	{ "memory_growth",
	  "Something is kept from each step: losses and metrics gathered as device arrays, a cache "
	  "or a history "
	  "that only grows, old parameters that somebody still refers to. Gather numbers instead "
	  "of arrays, and "
	  "save a memory profile at two steps: the line of source that gained is the one that "
	  "keeps them.",
	  "import os\n"
	  "import tempfile\n"
	  "\n"
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "step = jax.jit(lambda w: (0.9 * w, (w ** 2).mean()), donate_argnums=0)\n"
	  "w, losses, folder = jnp.ones((128, 128)), [], tempfile.mkdtemp()\n"
	  "for i in range(4):\n"
	  "    w, loss = step(w)\n"
	  "    losses.append(float(loss))  # a number: the array would stay on the device\n"
	  "    if i in (1, 3):  # then: tpusight report step3.prof, and the same of step1.prof\n"
	  "        jax.profiler.save_device_memory_profile(os.path.join(folder, "
	  "f\"step{i}.prof\"))\n"
	  "print(len(jax.live_arrays()), \"arrays are held\")\n" },
	{ "dominant_op",
	  "What this op costs decides the run: look at its shapes, its dtype and its source line "
	  "first. A "
	  "Pallas kernel, another algorithm or a smaller problem pays here and nowhere else.",
	  "import tempfile\n"
	  "\n"
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "f = jax.jit(lambda x: jnp.sort(x @ x, axis=-1))\n"
	  "x = jnp.ones((256, 256))\n"
	  "compiled = f.lower(x).compile()\n"
	  "print(compiled.cost_analysis())  # FLOPs and bytes, to hold against its time\n"
	  "with jax.profiler.trace(tempfile.mkdtemp()):  # the part alone, after a first run\n"
	  "    compiled(x).block_until_ready()\n" },
	{ "small_ops",
	  "Do the same in fewer, larger ops: update all parameters as one flat array, batch with "
	  "vmap instead "
	  "of a Python loop, and jit the whole step instead of its parts.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "from jax.flatten_util import ravel_pytree\n"
	  "\n"
	  "params = {f\"layer{i}\": jnp.ones((16, 16)) for i in range(32)}\n"
	  "grads = jax.tree.map(jnp.ones_like, params)\n"
	  "\n"
	  "@jax.jit\n"
	  "def update(params, grads):  # one op over all parameters\n"
	  "    flat, unflatten = ravel_pytree(params)\n"
	  "    return unflatten(flat - 0.1 * ravel_pytree(grads)[0])\n"
	  "\n"
	  "params = update(params, grads)\n" },
	{ "straggler",
	  "Give this core no more work than the others (even shards, no padding on one of them, no "
	  "extra host "
	  "callbacks), and see whether it is slower by itself: time the same work on each device. "
	  "If one stays "
	  "behind, have the machine looked at or replaced; if it is another one each time, look at "
	  "its host.",
	  "import time\n"
	  "\n"
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "work = jax.jit(lambda x: x @ x / x.shape[0])\n"
	  "for device in jax.local_devices():  # in every process\n"
	  "    x = work(jax.device_put(jnp.ones((512, 512), jnp.bfloat16), device))\n"
	  "    x.block_until_ready()  # compiled\n"
	  "    start = time.perf_counter()\n"
	  "    for _ in range(20):\n"
	  "        x = work(x)\n"
	  "    x.block_until_ready()\n"
	  "    print(jax.process_index(), device, f\"{(time.perf_counter() - start) * 1e3:.2f} "
	  "ms\")\n" },
	{ "op_chains",
	  "Put the same work on fewer, larger arrays: stack what is computed alike (vmap), keep "
	  "scalars "
	  "and statistics in one array until the end, and compute what only logs need every "
	  "hundred steps.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "@jax.jit\n"
	  "def statistics(layers):  # one pass over all of them, not four ops a layer\n"
	  "    x = jnp.stack(layers).reshape(len(layers), -1)\n"
	  "    mean, square = x.mean(-1), (x * x).mean(-1)\n"
	  "    return jnp.stack([mean, jnp.sqrt(square - mean * mean), x.min(-1), x.max(-1)])\n"
	  "\n"
	  "layers = [jnp.full((16, 16), float(i)) for i in range(8)]\n"
	  "print(statistics(layers).shape)  # one array comes back\n" },
	{ "unfused",
	  "Let producer and consumer meet in one expression over one shape, and look at what the "
	  "compiler "
	  "made of it: fewer fusions and fewer bytes accessed.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "def apart(x):  # the mean is needed before the difference can be squared: x is read "
	  "twice\n"
	  "    mean = x.mean(-1, keepdims=True)\n"
	  "    return jnp.square(x - mean).mean(-1)\n"
	  "\n"
	  "def together(x):  # both sums in one pass\n"
	  "    return jnp.square(x).mean(-1) - jnp.square(x.mean(-1))\n"
	  "\n"
	  "x = jnp.ones((1024, 1024))\n"
	  "for f in (apart, together):\n"
	  "    compiled = jax.jit(f).lower(x).compile()\n"
	  "    cost = compiled.cost_analysis()\n"
	  "    print(f.__name__, compiled.as_text().count(\" fusion(\"), cost.get(\"bytes "
	  "accessed\"))\n" },
	{ "unfused_collective", "",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "from jax.sharding import PartitionSpec as P\n"
	  "\n"
	  "mesh = jax.make_mesh((len(jax.devices()),), (\"data\",))\n"
	  "\n"
	  "def mean_gradient(g):  # bf16 before the collective; scaled and widened after it, in "
	  "one fusion\n"
	  "    return jax.lax.psum(g.astype(jnp.bfloat16), \"data\").astype(jnp.float32) / "
	  "mesh.size\n"
	  "\n"
	  "reduce = jax.jit(jax.shard_map(mean_gradient, mesh=mesh, in_specs=P(), out_specs=P(),\n"
	  "                               check_vma=False))\n"
	  "reduce(jnp.ones((128, 128))).block_until_ready()\n" },
	{ "unfused_two_products", "",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "def mlp(rows, up, down):\n"
	  "    return jax.nn.gelu(rows @ up) @ down\n"
	  "\n"
	  "@jax.jit\n"
	  "def in_pieces(x, up, down):  # the hidden layer of 256 rows fits on the chip\n"
	  "    return jax.lax.map(lambda row: mlp(row, up, down), x, batch_size=256)\n"
	  "\n"
	  "x = jnp.ones((1024, 128), jnp.bfloat16)\n"
	  "up, down = jnp.ones((128, 512), jnp.bfloat16), jnp.ones((512, 128), jnp.bfloat16)\n"
	  "in_pieces(x, up, down).block_until_ready()\n" },
	{ "slow_steps",
	  "Compare a slow step with its neighbours in the trace. Regular ones come from "
	  "checkpoints, "
	  "evaluation or logging (do these on a thread, or every n steps); irregular ones from the "
	  "host: "
	  "garbage collection, input, other jobs on the machine.",
	  "import gc\n"
	  "\n"
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "step = jax.jit(lambda x: x * 2)\n"
	  "x = step(jnp.ones(8))\n"
	  "gc.collect()\n"
	  "gc.freeze()\n"
	  "gc.disable()  # no collection inside a step\n"
	  "for i in range(4):\n"
	  "    x = step(x)\n"
	  "    if i % 2 == 1:\n"
	  "        x.block_until_ready()\n"
	  "        gc.collect()  # between steps, where it can be seen\n" },
	{ "kernel_roofline",
	  "Look at the kernel's blocks first: a grid of several steps lets Mosaic fetch the next "
	  "block while this "
	  "one is computed, blocks of a whole number of tiles (8 x 128 for f32, 16 x 128 for bf16) "
	  "waste nothing, "
	  "and larger ones spend less on each step. Then at its dtypes: products in bf16, sums in "
	  "f32.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "from jax.experimental import pallas as pl\n"
	  "\n"
	  "def double(x_ref, o_ref):\n"
	  "    o_ref[...] = x_ref[...] * 2\n"
	  "\n"
	  "x = jnp.ones((1024, 512), jnp.bfloat16)\n"
	  "block = pl.BlockSpec((256, 512), lambda i: (i, 0))  # four steps: fetch and compute "
	  "overlap\n"
	  "kernel = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), "
	  "grid=(4,),\n"
	  "                        in_specs=[block], out_specs=block,\n"
	  "                        cost_estimate=pl.CostEstimate(flops=x.size, transcendentals=0,\n"
	  "                                                      bytes_accessed=2 * x.nbytes),\n"
	  "                        interpret=jax.default_backend() == \"cpu\")\n"
	  "kernel(x).block_until_ready()\n" },
	{ "sparsecore_offload",
	  "Give the TensorCore something to do between the start and the done (work that does not "
	  "need the result; "
	  "in a loop the fetch for the next turn), or leave the work on the TensorCore: for "
	  "collectives "
	  "xla_tpu_enable_sparse_core_collective_offload_all_gather, _reduce_scatter or "
	  "_all_reduce false, for "
	  "gathers xla_tpu_offload_gather_to_sparsecore, for all of a program's compute "
	  "xla_tpu_enable_sparse_core_compute_offload. Turn off one, and measure: the estimate "
	  "takes HBM's peak, "
	  "which a TensorCore does not reach on short scattered rows.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "options = {}\n"
	  "if jax.default_backend() == \"tpu\":  # libtpu's flags: other backends do not know "
	  "them\n"
	  "    options = {\"xla_tpu_offload_gather_to_sparsecore\": \"false\"}\n"
	  "look_up = jax.jit(lambda table, rows: table[rows] * 2, compiler_options=options)\n"
	  "look_up(jnp.ones((1024, 128)), jnp.arange(256)).block_until_ready()\n" },
	{ "kernel_gaps",
	  "Fewer, larger kernels: jit more of the step at once, so that XLA fuses across it, and "
	  "let XLA replay sequences of "
	  "kernels as CUDA graphs (command buffers).",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "options = {}\n"
	  "if jax.default_backend() == \"gpu\":  # other backends do not know it\n"
	  "    options = {\"xla_gpu_enable_command_buffer\": \"FUSION,CUBLAS,CUDNN,COLLECTIVES\"}\n"
	  "step = jax.jit(lambda w, x: w - 0.1 * (x @ w).mean(), compiler_options=options)\n"
	  "step(jnp.ones((128, 128)), jnp.ones((8, 128))).block_until_ready()\n" },
	{ "short_kernels",
	  "Join them: one jitted function instead of many calls, vmap or scan instead of loops in "
	  "Python, larger "
	  "batches, and optimizers that update all parameters in one call.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "weights = [jnp.ones(16) for _ in range(100)]\n"
	  "update = jax.jit(lambda ws: jax.tree.map(lambda w: w * 0.9, ws))  # one call for all of "
	  "them\n"
	  "jax.block_until_ready(update(weights))\n" },
	{ "launch_queue",
	  "Nothing is lost as long as the GPU has work. Where the host must react meanwhile, "
	  "launch less: jit more of the "
	  "step at once.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "\n"
	  "many = jax.jit(lambda x: jax.lax.fori_loop(0, 10, lambda i, y: y * 1.01, x))  # one "
	  "launch for ten\n"
	  "many(jnp.ones(16)).block_until_ready()\n" },
	{ "late_rank",
	  "Find what that rank does more: uneven shards, a slower host or input pipeline, a GPU "
	  "that is throttled, work that "
	  "only the first process does (logging, checkpoints).",
	  "import jax\n"
	  "\n"
	  "if jax.process_index() == 0:  # such work makes this process late: do it on a thread\n"
	  "    print(\"step\")\n" },
	{ "unknown_cost",
	  "Give the kernel a cost estimate: then its FLOPs and bytes count in utilization, here "
	  "and in XProf, "
	  "and XLA schedules around it with the right numbers.",
	  "import jax\n"
	  "import jax.numpy as jnp\n"
	  "from jax.experimental import pallas as pl\n"
	  "\n"
	  "def double(x_ref, o_ref):\n"
	  "    o_ref[...] = x_ref[...] * 2\n"
	  "\n"
	  "x = jnp.ones((256, 256))\n"
	  "cost = pl.CostEstimate(flops=x.size, transcendentals=0, bytes_accessed=2 * x.nbytes)\n"
	  "kernel = pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),\n"
	  "                        cost_estimate=cost,\n"
	  "                        interpret=jax.default_backend() == \"cpu\")\n"
	  "kernel(x).block_until_ready()\n" },
	{ "capture", /* each cause brings words of its own (analysis/run/capture_fixes.c) */
	  "See what `tpusight check` says of this profile, and take it again.", "" },
	{ "unknown_chip",
	  "Profile with a newer libtpu, which writes the chip's peak rates into the profile, or "
	  "ask for a row in "
	  "the chip table.",
	  "import jax\n"
	  "\n"
	  "print(jax.devices()[0].platform, jax.devices()[0].device_kind)\n" },
	{ NULL, NULL, NULL },
};

static const struct ts_advice *const tables[TS_NR_FRAMEWORKS] = {
	[TS_JAX] = ts_advices_jax,
	[TS_TORCH] = ts_advices_torch,
};

const struct ts_advice *ts_advice_at(enum ts_framework framework, size_t at)
{
	return &tables[framework][at];
}

static const struct ts_advice *find_in(const struct ts_advice *row, const char *rule)
{
	while (row->rule && strcmp(row->rule, rule) != 0)
		row++;
	return row;
}

const struct ts_advice *ts_advice_find(enum ts_framework framework, const char *rule)
{
	static const struct ts_advice none = { "", "", "" };
	const struct ts_advice *row = find_in(tables[framework], rule);

	for (int other = 0; other < TS_NR_FRAMEWORKS && !row->rule; other++)
		row = find_in(tables[other], rule);
	return row->rule ? row : &none;
}
