# SPDX-License-Identifier: MIT
"""Programs that bench/before_programs.py judges for chips that are not there. PROGRAMS: name, function, arguments, mesh, shardings."""
import functools
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

BF16, F32, I32 = jnp.bfloat16, jnp.float32, jnp.int32


class Model(NamedTuple):
    name: str
    function: Callable[..., Any]
    arguments: Tuple[Any, ...]
    mesh: Optional[Dict[str, int]] = None
    shardings: Any = None
    jit: Optional[Dict[str, Any]] = None


PROGRAMS: List[Model] = []


def of(*sizes: int, dtype: Any = BF16) -> Any:
    return jax.ShapeDtypeStruct(sizes, dtype)


def model(*arguments: Any, **more: Any) -> Callable[..., Any]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Model(function.__name__, function, arguments, **more))
        return function
    return keep


def trained(loss: Callable[..., Any], weights: Any, *data: Any) -> Any:
    """One step of plain descent."""
    return jax.tree.map(lambda w, g: (w - 0.01 * g).astype(w.dtype), weights, jax.grad(loss)(weights, *data))


def perceptron(weights: Any, x: Any) -> Any:
    for w in weights[:-1]:
        x = jax.nn.relu(x @ w)
    return ((x @ weights[-1]).astype(F32)**2).mean()


LAYERS = [of(500, 1024), of(1024, 1024), of(1024, 500)]


@model(LAYERS, of(1024, 500), jit={"donate_argnums": 0})
def mlp(weights: Any, x: Any) -> Any:
    return trained(perceptron, weights, x)


@model(LAYERS, of(2048, 500), mesh={"data": -1}, shardings=(None, P("data")))
def data_parallel(weights: Any, x: Any) -> Any:
    return trained(perceptron, weights, x)


@model([of(512, 2048), of(2048, 512)], of(2048, 512), mesh={"data": -1}, shardings=(P("data"), P("data")))
def fsdp(weights: Any, x: Any) -> Any:
    return trained(perceptron, weights, x)


@model([of(512, 2048), of(2048, 512)], of(1024, 512), mesh={"data": 2, "model": 2}, shardings=([P(None, "model"), P("model")], P("data")))
def tensor_parallel(weights: Any, x: Any) -> Any:
    return trained(perceptron, weights, x)


WIDTH, HEADS = 512, 4
BLOCK = {"qkv": of(WIDTH, 3 * WIDTH), "out": of(WIDTH, WIDTH), "up": of(WIDTH, 4 * WIDTH), "down": of(4 * WIDTH, WIDTH)}


def normed(x: Any) -> Any:
    wide = x.astype(F32)
    return (wide * lax.rsqrt((wide**2).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype)


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) / q.shape[-1]**0.5
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(q.dtype), v)


def block(x: Any, weights: Any) -> Any:
    split = (normed(x) @ weights["qkv"]).reshape(*x.shape[:2], 3, HEADS, -1)
    x = x + attention(split[:, :, 0], split[:, :, 1], split[:, :, 2]).reshape(x.shape) @ weights["out"]
    return x + jax.nn.gelu(normed(x) @ weights["up"]) @ weights["down"]


def deep(weights: Any, x: Any, body: Any = block) -> Any:
    for layer in weights:
        x = body(x, layer)
    return (x.astype(F32)**2).mean()


@model([BLOCK] * 2, of(4, 256, WIDTH))
def transformer(weights: Any, x: Any) -> Any:
    return trained(deep, weights, x)


@model([BLOCK] * 2, of(4, 256, WIDTH))
def transformer_remat(weights: Any, x: Any) -> Any:
    return trained(functools.partial(deep, body=jax.checkpoint(block)), weights, x)


@model({name: of(4, *array.shape) for name, array in BLOCK.items()}, of(4, 256, WIDTH), jit={"donate_argnums": 0})
def transformer_scan(weights: Any, x: Any) -> Any:
    def loss(weights: Any, x: Any) -> Any:
        return (lax.scan(lambda x, layer: (block(x, layer), None), x, weights)[0].astype(F32)**2).mean()
    return trained(loss, weights, x)


@model(of(512, 8, dtype=F32), of(8, 512, 1024), of(8, 1024, 512), of(1024, 512))
def moe(gate: Any, up: Any, down: Any, x: Any) -> Any:
    weights, chosen = lax.top_k(jax.nn.softmax(x.astype(F32) @ gate), 2)
    spread = (jax.nn.one_hot(chosen, 8) * weights[..., None]).sum(1).astype(x.dtype)
    hidden = jax.nn.gelu(jnp.einsum("td,edf->etf", x, up))
    return jnp.einsum("etf,efd,te->td", hidden, down, spread)


@model(of(8, 512, 1024), of(8, 1024, 512), of(2048, 512), mesh={"expert": -1}, shardings=(P("expert"), P("expert"), P("expert")))
def moe_experts(up: Any, down: Any, x: Any, mesh: Any) -> Any:
    """Tokens go to the experts' devices and back."""
    def body(up: Any, down: Any, x: Any) -> Any:
        sent = lax.all_to_all(x.reshape(8, -1, x.shape[-1]), "expert", 0, 1, tiled=True)
        made = jnp.einsum("etf,efd->etd", jax.nn.gelu(jnp.einsum("etd,edf->etf", sent, up)), down)
        return lax.all_to_all(made, "expert", 1, 0, tiled=True).reshape(x.shape)
    return jax.shard_map(body, mesh=mesh, in_specs=(P("expert"),) * 3, out_specs=P("expert"))(up, down, x)


@model({"first": of(3, 3, 3, 64), "second": of(3, 3, 64, 128), "third": of(3, 3, 128, 128), "out": of(128, 1000)}, of(16, 32, 32, 3))
def conv_net(weights: Any, x: Any) -> Any:
    def loss(weights: Any, x: Any) -> Any:
        for name in ("first", "second", "third"):
            x = jax.nn.relu(lax.conv_general_dilated(x, weights[name], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return ((x.mean((1, 2)) @ weights["out"]).astype(F32)**2).mean()
    return trained(loss, weights, x)


@model(*[of(2, 4, 2048, 128)] * 3)
def attention_pallas(q: Any, k: Any, v: Any) -> Any:
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention
    return flash_attention(q, k, v, causal=True)


@model(of(50257, 256, dtype=F32), of(16, 512, dtype=I32))
def embedding(table: Any, tokens: Any) -> Any:
    return trained(lambda table, tokens: (table[tokens]**2).mean(), table, tokens)


@model(of(32, 512, 512), of(1024, 512), mesh={"stage": -1}, shardings=(P("stage"), None))
def pipeline(weights: Any, x: Any, mesh: Any) -> Any:
    def body(weights: Any, x: Any) -> Any:
        stages = lax.axis_size("stage")
        x = lax.pcast(x, ("stage",), to="varying")
        for _ in range(4):
            x = lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, weights)[0]
            x = lax.ppermute(x, "stage", [(i, (i + 1) % stages) for i in range(stages)])
        return x
    return jax.shard_map(body, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P("stage"))(weights, x)


@model(*[of(2, 2048, 4, 128)] * 3, mesh={"ring": -1}, shardings=(P(None, "ring"),) * 3)
def ring_attention(q: Any, k: Any, v: Any, mesh: Any) -> Any:
    def body(q: Any, k: Any, v: Any) -> Any:
        count = lax.axis_size("ring")
        out = jnp.zeros(q.shape, F32)
        for _ in range(count):
            out = out + attention(q, k, v)
            k, v = (lax.ppermute(part, "ring", [(i, (i + 1) % count) for i in range(count)]) for part in (k, v))
        return out
    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "ring"),) * 3, out_specs=P(None, "ring"))(q, k, v)


@model([BLOCK] * 2, of(16, 1, WIDTH), of(2, 2, 16, 1024, HEADS, WIDTH // HEADS), jit={"donate_argnums": 2})
def decode(weights: Any, x: Any, cache: Any) -> Any:
    for n, layer in enumerate(weights):
        split = (normed(x) @ layer["qkv"]).reshape(*x.shape[:2], 3, HEADS, -1)
        cache = lax.dynamic_update_slice(cache, split[None, None, :, :, 1], (n, 0, 0, 100, 0, 0))
        cache = lax.dynamic_update_slice(cache, split[None, None, :, :, 2], (n, 1, 0, 100, 0, 0))
        x = x + attention(split[:, :, 0], cache[n, 0], cache[n, 1]).reshape(x.shape) @ layer["out"]
        x = x + jax.nn.gelu(normed(x) @ layer["up"]) @ layer["down"]
    return x, cache


@model(of(512, 2048), of(256, 2048), of(64, 128, 256))
def recurrent(inner: Any, outer: Any, x: Any) -> Any:
    def cell(state: Any, x: Any) -> Any:
        h, c = state
        i, f, g, o = jnp.split(x @ outer + h @ inner, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None
    zero = jnp.zeros((128, 512), BF16)
    return lax.scan(cell, (zero, zero), x)[0]


@model(of(512, 50257), of(1024, 512), of(1024, dtype=I32))
def vocabulary(head: Any, x: Any, labels: Any) -> Any:
    def loss(head: Any, x: Any, labels: Any) -> Any:
        logits = (x @ head).astype(F32)
        return (jax.nn.logsumexp(logits, -1) - jnp.take_along_axis(logits, labels[:, None], 1)[:, 0]).mean()
    return trained(loss, head, x, labels)


@model(of(64, 50257, dtype=F32), of(64, dtype=F32))
def sampling(logits: Any, threshold: Any) -> Any:
    best, where = lax.top_k(logits, 40)
    return where[jnp.arange(64), jnp.argmax(best * threshold[:, None], -1)], jnp.cumsum(jax.nn.softmax(best), -1)


@model(of(2048, 1024, dtype=jnp.int8), of(1024, 2048, dtype=jnp.int8), of(1024, dtype=F32))
def quantized(weights: Any, x: Any, scale: Any) -> Any:
    product = lax.dot_general(x, weights, (((1,), (0,)), ((), ())), preferred_element_type=I32)
    return (product * scale).astype(BF16)


@model([of(2048, 2048, dtype=F32)] * 3, [of(2048, 2048)] * 3)
def adam(state: Any, gradients: Any) -> Any:
    weights, mean, square = state
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients[0])
    square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g.astype(F32)**2, square, gradients[1])
    return weights - 1e-3 * mean * lax.rsqrt(square + 1e-8), mean, square


@model(of(3, 3, 128, 128), of(128, 384), of(8, 32, 32, 128))
def denoiser(kernel: Any, qkv: Any, x: Any) -> Any:
    for _ in range(2):
        x = x + jax.nn.silu(lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        split = (x.reshape(8, -1, 128) @ qkv).reshape(8, -1, 3, 4, 32)
        x = x + attention(split[:, :, 0], split[:, :, 1], split[:, :, 2]).reshape(x.shape)
    return x
