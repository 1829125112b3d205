"""Programs whose arrays are divided over a mesh. Each is a function of a size that gives (function, arguments, divisions of the arguments,
divisions of the results or None). An argument is a shape, with a letter for what it holds: f numbers, i small indices, k a key."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

PROGRAMS = {}


def program(*meshes):
    """Registers a program for these meshes: '4x2' is data=4,model=2, '2x2x2' is data=2,model=2,pipe=2."""

    def register(make):
        PROGRAMS[make.__name__] = (make, meshes)
        return make

    return register


def divide(mesh, x, *axes):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*axes)))


def f(*shape):
    return ("f", shape)


def i(*shape):
    return ("i", shape)


@program("2", "4x2", "2x2x2")
def mlp_gradient(mesh, n):
    m = "model" if "model" in mesh.shape else None
    loss = lambda w1, w2, x: jnp.mean(jnp.square(jnp.tanh(x @ w1) @ w2))
    return jax.value_and_grad(loss, argnums=(0, 1)), (f(4 * n, 16 * n), f(16 * n, 4 * n), f(8 * n, 4 * n)), (P(None, m), P(m, None), P("data", None)), None


@program("4x2")
def mlp_adam_step(mesh, n):
    def step(w, m, v, x, y):
        v = v * v  # A second moment is not negative.
        g = jax.grad(lambda w: jnp.mean(jnp.square(jnp.tanh(x @ w) - y)))(w)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        return w - 0.1 * m / (jnp.sqrt(v) + 1e-3), m, v

    s = P("data", "model")
    return step, (f(8 * n, 8 * n),) * 3 + (f(8 * n, 8 * n),) * 2, (s, s, s, P("data", None), P("data", None)), (s, s, s)


@program("4", "4x2")
def fsdp_scan_checkpoint_gradient(mesh, n):
    def loss(ws, x):
        body = jax.checkpoint(lambda h, w: (jnp.tanh(h @ w), None))
        return jnp.mean(jnp.square(lax.scan(body, x, ws)[0]))

    m = "model" if "model" in mesh.shape else None
    return jax.grad(loss), (f(6, 8 * n, 8 * n), f(8 * n, 8 * n)), (P(None, "data", m), P("data", None)), P(None, "data", m)


@program("4x2")
def sgd_momentum_scan_step(mesh, n):
    def step(ws, ms, x):
        def loss(ws):
            h, _ = lax.scan(lambda h, w: (jnp.tanh(h @ w), None), x, ws)
            return jnp.mean(h * h)

        g = jax.grad(loss)(ws)
        ms = 0.9 * ms + g
        return ws - 0.1 * ms, ms

    s = P(None, "data", "model")
    return step, (f(4, 8 * n, 8 * n),) * 2 + (f(8 * n, 8 * n),), (s, s, P("data", None)), (s, s)


def _attention(x, wq, wk, wv, wo, heads):
    batch, tokens, dim = x.shape
    q, k, v = ((x @ w).reshape(batch, tokens, heads, dim // heads) for w in (wq, wk, wv))
    a = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4, axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(batch, tokens, dim) @ wo


@program("4x2")
def attention_by_heads(mesh, n):
    column, row = P(None, "model"), P("model", None)
    return functools.partial(_attention, heads=8), (f(4, 4 * n, 8 * n),) + (f(8 * n, 8 * n),) * 4, (P("data", None, None), column, column, column, row), None


@program("4x2", "2x2x2")
def attention_by_heads_gradient(mesh, n):
    column, row = P(None, "model"), P("model", None)
    loss = lambda x, *w: jnp.sum(jnp.square(_attention(x, *w, heads=8)))
    return jax.grad(loss, argnums=(1, 2, 3, 4)), (f(4, 4 * n, 8 * n),) + (f(8 * n, 8 * n),) * 4, (P("data", None, None), column, column, column, row), None


@program("2", "4x2")
def attention_by_sequence(mesh, n):
    seq = "model" if "model" in mesh.shape else "data"
    return functools.partial(_attention, heads=4), (f(2, 8 * n, 8 * n),) + (f(8 * n, 8 * n),) * 4, (P(None, seq, None),) + (P(),) * 4, P(None, seq, None)


@program("4")
def attention_by_sequence_gradient(mesh, n):
    loss = lambda x, *w: jnp.sum(jnp.square(divide(mesh, _attention(x, *w, heads=4), None, "data", None)))
    return jax.grad(loss, argnums=(0, 1)), (f(2, 8 * n, 8 * n),) + (f(8 * n, 8 * n),) * 4, (P(None, "data", None),) + (P(),) * 4, None


@program("4x2")
def mixture_of_experts(mesh, n):
    def moe(x, gate, w):
        chosen = jax.nn.one_hot(jnp.argmax(x @ gate, axis=-1), 8)
        routed = divide(mesh, jnp.einsum("te,td->etd", chosen, x), "data", None, None)
        y = divide(mesh, jnp.tanh(jnp.einsum("etd,edf->etf", routed, w)), "data", None, "model")
        return divide(mesh, jnp.einsum("te,etf->tf", chosen, y), "data", None)

    return moe, (f(4 * n, 4 * n), f(4 * n, 8), f(8, 4 * n, 4 * n)), (P("data", None), P(), P("data", None, "model")), None


@program("4", "4x2")
def mixture_of_experts_all_to_all(mesh, n):
    def moe(x, w):  # [tokens of a group, expert, ...]: groups become experts.
        x = divide(mesh, x, "data", None, None, None)
        y = jnp.einsum("gecd,edf->gecf", divide(mesh, x, None, "data", None, None), w)
        return divide(mesh, jnp.tanh(y), "data", None, None, None)

    return moe, (f(4, 8, n, 4 * n), f(8, 4 * n, 4 * n)), (P("data", None, None, None), P("data", None, None)), P("data", None, None, None)


def _convolution(x, k):
    return lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program("4x2")
def convolution_by_batch(mesh, n):
    return _convolution, (f(8, 2 * n, 2 * n, 8), f(3, 3, 8, 16)), (P("data", None, None, None), P(None, None, None, "model")), None


@program("2", "4x2")
def convolution_by_space(mesh, n):
    return _convolution, (f(2, 4 * n, 2 * n, 8), f(3, 3, 8, 16)), (P(None, "data", None, None), P()), P(None, "data", None, None)


@program("4")
def convolution_gradient(mesh, n):
    loss = lambda k, x: jnp.sum(jnp.square(jax.nn.relu(_convolution(x, k))))
    return jax.grad(loss), (f(3, 3, 8, 16), f(8, 2 * n, 2 * n, 8)), (P(), P("data", None, None, None)), P()


@program("4")
def pooling_by_space(mesh, n):
    pool = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    return pool, (f(2, 8 * n, 2 * n, 8),), (P(None, "data", None, None),), None


@program("4x2", "2x2x2")
def embedding(mesh, n):
    return lambda e, ids: jnp.tanh(e[ids]), (f(64, 8 * n), i(8, 4 * n)), (P("model", None), P("data", None)), None


@program("4x2")
def embedding_gradient(mesh, n):
    return jax.grad(lambda e, ids: jnp.sum(jnp.tanh(e[ids]) ** 2)), (f(64, 8 * n), i(8, 4 * n)), (P("model", None), P("data", None)), P("model", None)


@program("4x2", "4")
def vocabulary_parallel_loss(mesh, n):
    v = "model" if "model" in mesh.shape else "data"
    d = "data" if v == "model" else None

    def loss(h, w, ids):
        logits = divide(mesh, h @ w, d, v)
        picked = jnp.sum(jnp.where(jnp.arange(logits.shape[1]) == ids[:, None], logits, 0), axis=-1)
        return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)

    return jax.value_and_grad(loss, argnums=(0, 1)), (f(8 * n, 4 * n), f(4 * n, 16 * n), i(8 * n)), (P(d, None), P(None, v), P(d)), None


@program("4x2")
def layer_norm_gradient(mesh, n):
    def loss(x, g):
        y = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g
        return jnp.sum(jnp.sin(y))

    return jax.grad(loss, argnums=(0, 1)), (f(16 * n, 16 * n), f(16 * n)), (P("data", "model"), P("model")), None


@program("4x2")
def sort_divided(mesh, n):
    return lambda x: jnp.sort(x, axis=0), (f(8 * n, 8 * n),), (P("data", "model"),), None


@program("4")
def argsort_divided(mesh, n):
    return lambda x: jnp.argsort(x, axis=1), (f(8 * n, 8 * n),), (P("data", None),), None


@program("4x2")
def gather_rows(mesh, n):
    return lambda x, ids: x[ids], (f(64, 8 * n), i(16 * n)), (P("data", "model"), P(None)), None


@program("4x2")
def scatter_add(mesh, n):
    return lambda x, ids, u: x.at[ids].add(u), (f(64, 8 * n), i(8 * n), f(8 * n, 8 * n)), (P("data", "model"), P("data"), P("data", "model")), None


@program("4x2")
def top_k(mesh, n):
    return lambda x: (lax.top_k(x, 4), jnp.argmax(x, axis=1)), (f(8 * n, 8 * n),), (P("data", "model"),), None


@program("4x2", "2x2x2")
def uneven_sizes(mesh, n):
    def f_(x, w):
        y = divide(mesh, jnp.tanh(x @ w), "data", "model")
        return y.sum(0), y

    return f_, (f(8 * n + 3, 4 * n + 1), f(4 * n + 1, 8 * n + 5)), (P(), P()), None


@program("4x2")
def uneven_reduce_and_sort(mesh, n):
    def f_(x):
        y = divide(mesh, x * 2, "data", None)
        return jnp.max(y, axis=0), jnp.cumsum(y, axis=0), jnp.sort(y, axis=0)

    return f_, (f(8 * n + 3, 4 * n),), (P(),), None


@program("4x2")
def nested_shard_map(mesh, n):
    def inner(x, w):
        return lax.psum(x @ w, "model")

    def f_(x, w):
        h = jnp.tanh(x)
        y = jax.shard_map(inner, mesh=mesh, in_specs=(P("data", "model"), P("model", None)), out_specs=P("data", None))(h, w)
        return jnp.sum(divide(mesh, y * y, "data", "model"), axis=1)

    return f_, (f(8 * n, 8 * n), f(8 * n, 8 * n)), (P("data", "model"), P("model", None)), None


@program("2x2x2")
def shard_map_ring(mesh, n):
    def rotate(x):
        return x + lax.ppermute(x, "pipe", [(0, 1), (1, 0)])

    spec = P("data", "pipe")
    return lambda x: jax.shard_map(rotate, mesh=mesh, in_specs=spec, out_specs=spec)(x) * 2, (f(8 * n, 8 * n),), (spec,), None


@program("4")
def while_loop(mesh, n):
    return lambda x: lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 0.5 + c[1].mean()), (0, x)), (f(16 * n, 8 * n),), (P("data", None),), None


@program("4x2")
def conditional(mesh, n):
    return lambda p, x: lax.cond(p[0] > 0, lambda x: x @ x.T, lambda x: jnp.outer(x[:, 0], x[:, 1]), x), (f(1), f(8 * n, 8 * n)), (P(), P("data", "model")), None


@program("4x2")
def dynamic_slices(mesh, n):
    def f_(x, at):
        y = lax.dynamic_slice(x, (at[0], 0), (4 * n, 8 * n))
        return y, lax.dynamic_update_slice(x, y * 2, (at[1], 0))

    return f_, (f(16 * n, 8 * n), i(2)), (P("data", "model"), P()), None


@program("4x2")
def concatenate_pad_reverse(mesh, n):
    return lambda x, y: jnp.pad(jnp.concatenate([x, y[::-1]]), ((3, 5), (0, 0))), (f(16 * n, 8 * n), f(8 * n, 8 * n)), (P("data", None), P("data", None)), None


@program("4x2", "2")
def roll_and_difference(mesh, n):
    return lambda x: jnp.roll(x, 3, axis=0) - x, (f(16 * n, 8 * n),), (P("data", None),), P("data", None)


@program("4x2")
def cumulative_sum(mesh, n):
    return lambda x: jnp.cumsum(x, axis=0), (f(16 * n, 8 * n),), (P("data", "model"),), None


@program("4x2")
def reshape_transpose(mesh, n):
    return lambda x: x.reshape(8, n, 8 * n).transpose(1, 0, 2).reshape(8 * n, 8 * n) + 1, (f(8 * n, 8 * n),), (P("data", "model"),), None


@program("4")
def cholesky_batch(mesh, n):
    spd = lambda x: x @ x.mT + 8 * jnp.eye(n)
    return lambda x: jnp.linalg.cholesky(spd(x)), (f(8, n, n),), (P("data", None, None),), None


@program("4x2")
def random_normal(mesh, n):
    key = lambda k: jax.random.normal(jax.random.wrap_key_data(k), (8 * n, 8 * n))
    return key, (("k", (2,)),), (P(),), P("data", "model")


@program("4x2")
def fft_batch(mesh, n):
    return lambda x: jnp.abs(jnp.fft.fft(x, axis=1)), (f(8 * n, 8 * n),), (P("data", None),), None


@program("2x2x2")
def tensor_parallel_block(mesh, n):
    def block(x, wq, wk, wv, wo, up, down):
        h = x + divide(mesh, _attention(x, wq, wk, wv, wo, heads=4), "data", "pipe", None)
        return h + divide(mesh, jax.nn.gelu(h @ up) @ down, "data", "pipe", None)

    column, row = P(None, "model"), P("model", None)
    return block, (f(4, 4 * n, 8 * n),) + (f(8 * n, 8 * n),) * 4 + (f(8 * n, 16 * n), f(16 * n, 8 * n)), (P("data", "pipe", None), column, column, column, row, column, row), None


@program("4x2")
def bf16_block_gradient(mesh, n):
    def loss(w1, w2, x):
        h = jax.nn.silu(x.astype(jnp.bfloat16) @ w1.astype(jnp.bfloat16)) @ w2.astype(jnp.bfloat16)
        return jnp.mean(jnp.square(h.astype(jnp.float32)))

    return jax.grad(loss, argnums=(0, 1)), (f(4 * n, 16 * n), f(16 * n, 4 * n), f(8 * n, 4 * n)), (P(None, "model"), P("model", None), P("data", None)), None


@program("2x2x2")
def three_axes_einsum(mesh, n):
    return lambda x, y: jnp.einsum("abc,cd->abd", x, y), (f(4, 4 * n, 8 * n), f(8 * n, 4 * n)), (P("data", "model", "pipe"), P("pipe", None)), None


@program("4x2")
def axes_combined(mesh, n):
    s = P(("data", "model"), None)
    return lambda x, w: jnp.tanh(x @ w), (f(16 * n, 8 * n), f(8 * n, 8 * n)), (s, P(None, "model")), s


@program("4x2")
def axes_swapped(mesh, n):
    return lambda x: x * 2 + 1, (f(16 * n, 16 * n),), (P("data", "model"),), P("model", "data")


@program("2", "4x2")
def optimizer_lion_step(mesh, n):
    def step(w, m, x):
        g = jax.grad(lambda w: jnp.sum(jnp.cos(x @ w)))(w)
        return w - 0.01 * jnp.sign(0.9 * m + 0.1 * g), 0.99 * m + 0.01 * g

    s = P("data", None)
    return step, (f(8 * n, 8 * n),) * 2 + (f(8 * n, 8 * n),), (s, s, P("data", None)), (s, s)


@program("2x2x2")
def adamw_three_axes_step(mesh, n):
    def step(ws, ms, vs, x):
        vs = vs * vs  # A second moment is not negative.
        h = lambda ws: lax.scan(lambda h, w: (divide(mesh, jnp.tanh(h @ w), "data", "pipe"), None), x, ws)[0]
        g = jax.grad(lambda ws: jnp.mean(jnp.square(h(ws))))(ws)
        norm = jnp.sqrt(jnp.sum(g * g))
        g = g * jnp.minimum(1, 1 / (norm + 1e-6))
        ms, vs = 0.9 * ms + 0.1 * g, 0.95 * vs + 0.05 * g * g
        return ws - 0.01 * (ms / (jnp.sqrt(vs) + 1e-3) + 0.1 * ws), ms, vs

    s = P("pipe", "data", "model")
    return step, (f(4, 8 * n, 8 * n),) * 3 + (f(8 * n, 8 * n),), (s, s, s, P("data", None)), (s, s, s)


@program("2x2x2", "4x2")
def fsdp_tensor_sequence_step(mesh, n):
    seq = "pipe" if "pipe" in mesh.shape else None

    def step(wq, wo, up, down, x):
        def loss(wq, wo, up, down):
            h = divide(mesh, x, "data", seq, None)
            q = divide(mesh, h @ wq, "data", None, "model")
            a = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, q) / 8, axis=-1)
            h = h + divide(mesh, jnp.einsum("bqk,bkd->bqd", a, q) @ wo, "data", seq, None)
            return jnp.mean(jnp.square(h + divide(mesh, jax.nn.silu(h @ up) @ down, "data", seq, None)))

        gradients = jax.grad(loss, argnums=(0, 1, 2, 3))(wq, wo, up, down)
        return tuple(w - 0.1 * g for w, g in zip((wq, wo, up, down), gradients))

    column, row = P("data", "model"), P("model", "data")
    return step, (f(8 * n, 8 * n),) * 2 + (f(8 * n, 16 * n), f(16 * n, 8 * n), f(4, 4 * n, 8 * n)), (column, row, column, row, P("data", seq, None)), (column, row, column, row)


@program("4x2", "2x2x2")
def uneven_mlp_gradient(mesh, n):
    def loss(w1, w2, x):
        h = divide(mesh, jnp.tanh(x @ w1), "data", "model")
        return jnp.mean(jnp.square(divide(mesh, h @ w2, "data", None)))

    return jax.grad(loss, argnums=(0, 1, 2)), (f(4 * n + 1, 8 * n + 3), f(8 * n + 3, 4 * n + 2), f(8 * n + 5, 4 * n + 1)), (P(), P(), P()), None


@program("4x2")
def uneven_convolution(mesh, n):
    return lambda x, k: divide(mesh, _convolution(x, k), None, "data", None, None), (f(2, 4 * n + 3, 2 * n, 3), f(3, 3, 3, 5)), (P(), P()), None


@program("4x2")
def uneven_gather_scatter(mesh, n):
    def f_(x, ids, u):
        y = divide(mesh, x, "data", None)
        return y[ids], divide(mesh, y.at[ids].add(u), "data", None)

    return f_, (f(16 * n + 3, 4 * n), i(8 * n + 1), f(8 * n + 1, 4 * n)), (P(), P(), P()), None


@program("2x2x2")
def nested_shard_map_in_scan(mesh, n):
    def layer(h, w):
        partial = lambda h, w: lax.psum_scatter(h @ w, "model", scatter_dimension=1, tiled=True)
        y = jax.shard_map(partial, mesh=mesh, in_specs=(P("data", "model"), P("model", None)), out_specs=P("data", "model"))(h, w)
        return jnp.tanh(y), None

    return lambda x, ws: lax.scan(layer, x, ws)[0], (f(8 * n, 8 * n), f(3, 8 * n, 8 * n)), (P("data", "model"), P(None, "model", None)), None


@program("2x2x2")
def shard_map_inside_shard_map(mesh, n):
    def outer(x):
        inner = jax.shard_map(lambda y: lax.all_gather(y, "model", axis=1, tiled=True).sum(1), in_specs=P(None, "model"), out_specs=P(), axis_names={"model"}, check_vma=False)
        return x * inner(x)[:, None]

    spec = P("data", "model")
    return lambda x: jax.shard_map(outer, mesh=mesh, in_specs=P("data", None), out_specs=P("data", None), axis_names={"data"})(x) + 1, (f(8 * n, 8 * n),), (spec,), None


@program("4x2")
def shard_map_all_to_all(mesh, n):
    swap = lambda x: lax.all_to_all(x, "data", split_axis=1, concat_axis=0, tiled=True)
    return lambda x: jnp.tanh(jax.shard_map(swap, mesh=mesh, in_specs=P("data", None), out_specs=P(None, "data"))(x)), (f(8 * n, 8 * n),), (P("data", None),), None


@program("4x2")
def mixture_of_experts_gradient(mesh, n):
    def loss(x, w):  # Groups become experts, and back.
        x = divide(mesh, x, "data", None, None, None)
        y = jnp.tanh(jnp.einsum("gecd,edf->gecf", divide(mesh, x, None, "data", None, None), w))
        return jnp.sum(jnp.square(divide(mesh, y, "data", None, None, None)))

    return jax.value_and_grad(loss, argnums=1), (f(4, 8, n, 4 * n), f(8, 4 * n, 4 * n)), (P("data", None, None, None), P("data", None, "model")), None


@program("4x2", "2x2x2")
def mixture_of_experts_top_2(mesh, n):
    def moe(x, gate, w):
        weights, chosen = lax.top_k(jax.nn.softmax(x @ gate), 2)
        routing = (jax.nn.one_hot(chosen, 8) * weights[..., None]).sum(1)
        routed = divide(mesh, jnp.einsum("te,td->etd", (routing > 0).astype(x.dtype), x), "model", "data", None)
        return divide(mesh, jnp.einsum("te,etd,edf->tf", routing, routed, w), "data", None)

    return moe, (f(8 * n, 4 * n), f(4 * n, 8), f(8, 4 * n, 4 * n)), (P("data", None), P(), P("model", None, None)), None


@program("4", "4x2")
def convolution_by_space_gradient(mesh, n):
    loss = lambda k, x: jnp.sum(jnp.square(jnp.tanh(divide(mesh, _convolution(x, k), None, "data", None, None))))
    return jax.grad(loss, argnums=(0, 1)), (f(3, 3, 4, 8), f(2, 8 * n, 2 * n, 4)), (P(), P(None, "data", None, None)), None


@program("4x2")
def strided_convolution_by_space(mesh, n):
    conv = lambda x, k: lax.conv_general_dilated(x, k, (2, 2), "SAME", rhs_dilation=(2, 2), dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return conv, (f(2, 8 * n, 4 * n, 4), f(3, 3, 4, 8)), (P(None, "data", "model", None), P()), None


@program("4x2", "2x2x2")
def sort_pairs(mesh, n):
    def f_(x, y):
        keys, values = lax.sort((x, y), dimension=1, num_keys=1)
        return keys, values, jnp.take_along_axis(x, jnp.argsort(y, axis=1), axis=1)

    return f_, (f(8 * n, 8 * n), f(8 * n, 8 * n)), (P("data", "model"), P("data", None)), None


@program("4x2")
def top_k_divided_gradient(mesh, n):
    return jax.grad(lambda x: jnp.sum(lax.top_k(x, 3)[0] ** 2)), (f(8 * n, 8 * n),), (P("model", "data"),), None


@program("4x2")
def gather_along_divided(mesh, n):
    return lambda x, ids: jnp.take_along_axis(x, ids % x.shape[1], axis=1), (f(8 * n, 16 * n), i(8 * n, 4 * n)), (P("data", "model"), P("data", None)), None


@program("4x2")
def scatter_max_min(mesh, n):
    return lambda x, ids, u: (x.at[ids].max(u), x.at[:, ids].min(u.T)), (f(16 * n, 16 * n), i(4 * n), f(4 * n, 16 * n)), (P("data", None), P(), P(None, "model")), None


@program("2x2x2", "4x2")
def vocabulary_parallel_training_step(mesh, n):
    d = ("data", "pipe") if "pipe" in mesh.shape else "data"

    def step(embedding, w, ids):
        def loss(embedding, w):
            h = divide(mesh, jnp.tanh(embedding[ids[:-1]] @ w), d, None)
            logits = divide(mesh, h @ embedding.T, d, "model")
            picked = jnp.take_along_axis(logits, ids[1:, None], axis=1)[:, 0]
            return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)

        ge, gw = jax.grad(loss, argnums=(0, 1))(embedding, w)
        return embedding - 0.1 * ge, w - 0.1 * gw

    e, s = P("model", None), P(None, "model")
    return step, (f(16 * n, 4 * n), f(4 * n, 4 * n), i(8 * n + 1)), (e, s, P()), (e, s)


@program("2x2x2")
def adafactor_step(mesh, n):
    def step(w, rows, columns, x):
        g = jax.grad(lambda w: jnp.mean(jnp.square(jnp.tanh(x @ w))))(w)
        rows, columns = (0.9 * s * s + 0.1 * jnp.mean(g * g, axis=a) for s, a in ((rows, 1), (columns, 0)))
        update = g * lax.rsqrt(jnp.outer(rows, columns) / jnp.mean(rows) + 1e-6)
        return w - 0.01 * update / jnp.maximum(1, jnp.sqrt(jnp.mean(update * update))), rows, columns

    s = P("data", "model")
    return step, (f(8 * n, 8 * n), f(8 * n), f(8 * n), f(4 * n, 8 * n)), (s, P("data"), P("model"), P("pipe", None)), (s, P("data"), P("model"))


@program("8", "4x2")
def eight_ways(mesh, n):
    m = "model" if "model" in mesh.shape else None
    return jax.grad(lambda w, x: jnp.sum(jax.nn.log_softmax(x @ w) ** 2)), (f(8 * n, 16 * n), f(8 * n, 8 * n)), (P("data", m), P("data", None)), P("data", m)
