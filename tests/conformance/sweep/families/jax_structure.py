"""Functions of jax.lax that move, select, reduce, sort and loop, over dtypes and awkward shapes, as JAX lowers them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from families.cases import COMPLEX, INTEGERS, TYPES
from families.jax_calls import ANY, FLOATS, NUMBERS, REAL, Call, Calls, spread
from jax import lax

SOME = ["pred", "s8", "u16", "s32", "u64", "bf16", "f16", "f32", "f64", "c64", "c128"]
I32 = np.int32


def indices(*numbers) -> np.ndarray:
    return np.array(numbers, I32)


def calls_of(family: str, types: list[str], table) -> list[Calls]:
    """A module for each type; `table(dtype)` gives rows of a name, a function and its arguments."""
    return [Calls(f"{family}.{t}", [Call(name, f, arguments, near=True) for name, f, arguments in table(t)], sums=True) for t in types]


def moves(t: str):
    x, row, cube, none = spread(t, (3, 5), 1), spread(t, (5,), 2), spread(t, (2, 3, 4), 3), spread(t, (0, 3), 4)
    deep, one = spread(t, (1, 2, 1, 3, 1, 2), 5), spread(t, (1, 1), 6)
    s = spread(t, (), 7)
    yield "broadcast", lambda x: lax.broadcast(x, (2, 0, 3)), [row]
    yield "broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (4, 5, 2), (1,)), [row]
    yield "broadcast_in_dim.stretch", lambda x: lax.broadcast_in_dim(x, (3, 2), (0, 1)), [one]
    yield "broadcast_to.scalar", lambda x: jnp.broadcast_to(x, (2, 1, 3)), [s]
    yield "collapse", lambda x: lax.collapse(x, 1, 4), [deep]
    yield "concatenate", lambda a, b: lax.concatenate([a, b, a], 1), [x, x[:, :2].copy()]
    yield "concatenate.nothing", lambda a, b: lax.concatenate([a, b], 0), [none, spread(t, (2, 3), 8)]
    yield "dynamic_index_in_dim", lambda x, i: lax.dynamic_index_in_dim(x, i, 1), [x, I32(7)]
    yield "dynamic_slice.clamped", lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 3)), [x, I32(-3), I32(9)]
    yield "dynamic_slice.whole", lambda x, i, j: lax.dynamic_slice(x, (i, j), (3, 5)), [x, I32(1), I32(1)]
    yield "dynamic_update_slice.clamped", lambda x, y, i: lax.dynamic_update_slice(x, y, (i, i)), [x, one, np.int64(4)]
    yield "dynamic_update_index_in_dim", lambda x, y, i: lax.dynamic_update_index_in_dim(x, y, i, 0), [x, row, I32(-1)]
    yield "expand_dims", lambda x: lax.expand_dims(x, (0, 2, -1)), [x]
    yield "full_like", lambda x: lax.full_like(x, 1), [none]
    yield "pad.negative", lambda x, v: lax.pad(x, v, ((-1, 2, 0), (1, -2, 1))), [x, s]
    yield "pad.to_nothing", lambda x, v: lax.pad(x, v, ((-2, -1, 0), (0, 0, 3))), [x, s]
    yield "pad.nothing", lambda x, v: lax.pad(x, v, ((2, 1, 1), (0, 0, 2))), [none, s]
    yield "reshape", lambda x: lax.reshape(x, (5, 3), (1, 0)), [x]
    yield "reshape.scalar", lambda x: lax.reshape(x, ()), [one]
    yield "rev", lambda x: lax.rev(x, (0, 2)), [cube]
    yield "roll", lambda x: jnp.roll(x, (1, -2), (0, 2)), [cube]
    yield "select", lambda c, a, b: lax.select(c, a, b), [np.arange(15).reshape(3, 5) % 2 == 0, x, x[::-1].copy()]
    yield "select.scalar", lambda c, a, b: lax.select(c, a, b), [np.bool_(False), x, x[::-1].copy()]
    yield "select_n", lambda w, a, b, c: lax.select_n(w, a, b, c), [indices(*range(5)) % 3, row, row[::-1].copy(), row * 0 if t != "pred" else row]
    yield "slice", lambda x: lax.slice(x, (0, 1, 1), (2, 3, 4), (1, 2, 3)), [cube]
    yield "slice.nothing", lambda x: lax.slice(x, (1, 1), (1, 4)), [x]
    yield "split", lambda x: lax.split(x, (1, 0, 4), 1), [x]
    yield "squeeze", lambda x: lax.squeeze(x, (0, 2, 4)), [deep]
    yield "tile", lambda x: jnp.tile(x, (2, 1, 3)), [x]
    yield "transpose", lambda x: lax.transpose(x, (5, 3, 1, 0, 2, 4)), [deep]
    yield "triu", lambda x: jnp.triu(x, 1), [cube]
    yield "tril", lambda x: jnp.tril(x, -1), [x]
    yield "repeat", lambda x: jnp.repeat(x, indices(0, 2, 1), 0, total_repeat_length=4), [x]
    yield "take.clip", lambda x, i: jnp.take(x, i, 1, mode="clip"), [x, indices(-9, 4, 99)]
    yield "take.wrap", lambda x, i: jnp.take(x, i, 1, mode="wrap"), [x, indices(-9, 4, 99)]
    yield "take.fill", lambda x, i: jnp.take(x, i, 0, mode="fill"), [x, indices(-9, 2, 99)]
    yield "take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), [x, indices(4, 0, 2).reshape(3, 1)]
    yield "index.mask", lambda x, i: x[i, :, None, i], [spread(t, (4, 2, 4), 9), indices(3, 0, -1)]
    yield "index.rows_of_nothing", lambda x, i: x[i], [x, np.zeros((0,), I32)]
    yield "at.set", lambda x, i, y: x.at[i, ::2].set(y), [x, indices(2, -1, 9), spread(t, (3, 3), 10)]
    yield "at.get.fill", lambda x, i: x.at[i].get(mode="fill", fill_value=1), [row, indices(-6, 4, 5)]
    yield "meshgrid", lambda a, b: jnp.meshgrid(a, b, indexing="ij"), [row, row[:2].copy()]
    yield "diagonal", lambda x: jnp.diagonal(x, 1, 0, 2), [cube]
    yield "stack", lambda a, b: jnp.stack([a, b], -1), [x, x]
    yield "where.size", lambda x: jnp.nonzero(x, size=6, fill_value=-1), [row]
    yield "unique.size", lambda x: jnp.unique(x, size=6), [row]
    yield "searchsorted", lambda a, v: jnp.searchsorted(a, v), [np.sort(row), row]
    yield "map", lambda x: lax.map(lambda r: r[::-1], x), [x]
    yield "optimization_barrier", lambda a, b: lax.optimization_barrier((a, b)), [x, s]


def scatters(t: str):
    x, y = spread(t, (4, 5), 1), spread(t, (3, 5), 2)
    rows, far = indices(3, 0, 3), indices(-1, 9, 1)
    for name in ["add", "mul", "min", "max"]:
        if (name in ("min", "max") and t in COMPLEX) or t == "pred":
            continue
        yield f"at.{name}", lambda x, i, y, name=name: getattr(x.at[i], {"mul": "multiply"}.get(name, name))(y), [x, rows, y]
        yield f"at.{name}.drop", lambda x, i, y, name=name: getattr(x.at[i], {"mul": "multiply"}.get(name, name))(y, mode="drop"), [x, far, y]
        yield f"at.{name}.clip", lambda x, i, y, name=name: getattr(x.at[i], {"mul": "multiply"}.get(name, name))(y, mode="clip"), [x, far, y]
    yield "at.apply", lambda x, i: x.at[i, 1].set(x[i, 2]), [x, indices(0, 2)]
    yield "at.window", lambda x, i, y: x.at[1:3, i].set(y), [x, indices(4, 0), spread(t, (2, 2), 3)]
    yield "at.nothing", lambda x, i, y: x.at[i].set(y), [x, np.zeros((0,), I32), spread(t, (0, 5), 4)]
    if t != "pred":
        yield "segment_sum", lambda y, i: jax.ops.segment_sum(y, i, 4), [y, rows]
        yield "segment_prod", lambda y, i: jax.ops.segment_prod(y, i, 4), [y, rows]


def reductions(t: str):
    x, none, cube, one = spread(t, (3, 5), 1), spread(t, (0, 3), 2), spread(t, (2, 1, 7, 3), 3), spread(t, (1,), 4)
    inexact, ordered = t in FLOATS + COMPLEX, t not in COMPLEX
    sums = [("sum", jnp.sum), ("prod", jnp.prod), ("any", jnp.any), ("all", jnp.all), ("count_nonzero", jnp.count_nonzero)]
    for name, f in sums:
        yield name, f, [x]
        yield f"{name}.nothing", lambda x, f=f: f(x, 0), [none]
        yield f"{name}.axes", lambda x, f=f: f(x, (0, 3)), [cube]
        yield f"{name}.keep", lambda x, f=f: f(x, 2, keepdims=True), [cube]
        yield f"{name}.one", f, [one]
    if ordered:
        for name, f in [("max", jnp.max), ("min", jnp.min), ("argmax", jnp.argmax), ("argmin", jnp.argmin), ("ptp", jnp.ptp)]:
            if t == "pred" and name == "ptp":
                continue
            yield name, f, [x]
            yield f"{name}.axis", lambda x, f=f: f(x, 2), [cube]
        yield "median", jnp.median, [x]
    if inexact:
        for name, f in [("mean", jnp.mean), ("var", jnp.var), ("std", jnp.std), ("nansum", jnp.nansum), ("nanmean", jnp.nanmean)]:
            yield name, f, [x]
            yield f"{name}.axis", lambda x, f=f: f(x, -2), [cube]
    for name in ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"]:
        if t == "pred" or (not ordered and name != "cumsum" and name != "cumprod") or (name == "cumlogsumexp" and t not in FLOATS):
            continue
        f = getattr(lax, name)
        yield name, lambda x, f=f: f(x, axis=1), [x]
        yield f"{name}.reverse", lambda x, f=f: f(x, axis=2, reverse=True), [cube]
        yield f"{name}.nothing", lambda x, f=f: f(x, axis=0), [none]
    if t in INTEGERS + ["pred"]:
        for name, f in [("and", lax.reduce_and), ("or", lax.reduce_or), ("xor", lax.reduce_xor)]:
            yield f"reduce_{name}", lambda x, f=f: f(x, (0,)), [x]
    if t in FLOATS + ["s32"]:
        yield "reduce.custom", lambda x: lax.reduce(x, x.dtype.type(0), lambda a, b: a + b + a * b, (0,)), [x]
        yield "average_pool", lambda x: lax.reduce_window(x, x.dtype.type(0), lax.add, (2, 3), (1, 2), "SAME"), [x]
        yield "max_pool", lambda x: lax.reduce_window(x, x.dtype.type(-9), lax.max, (1, 2), (2, 1), ((0, 0), (1, 2))), [x]
        yield "window.dilated", lambda x: lax.reduce_window(x, x.dtype.type(0), lax.add, (2, 2), (1, 1), ((1, 1), (2, 0)), (2, 1), (1, 2)), [x]
        yield "associative_scan", lambda x: lax.associative_scan(jnp.maximum, x, axis=1), [x]
        yield "reduce_precision", lambda x: lax.reduce_precision(x, 4, 3) if t in FLOATS else x, [x]
        yield "bincount", lambda i: jnp.bincount(i, length=5), [indices(0, 3, 3, 4, 1)]
        yield "convolve", lambda a, b: jnp.convolve(a, b, "same"), [x[0].copy(), x[1, :3].copy()]
    if t in FLOATS:
        yield "logsumexp", lambda x: jax.nn.logsumexp(x, 1), [x]
        yield "softmax", lambda x: jax.nn.softmax(x, 0), [x]
        yield "percentile", lambda x: jnp.percentile(x, jnp.array([0, 30, 100.0], x.dtype), axis=1), [x]
        yield "trapezoid", jnp.trapezoid, [x]
        yield "interp", lambda x: jnp.interp(x, jnp.arange(5, dtype=x.dtype), x[0]), [x]


def sorts(t: str):
    x, cube, none = spread(t, (3, 7), 1), spread(t, (2, 5, 3), 2), spread(t, (0, 2), 3)
    yield "sort", lambda x: lax.sort(x, 1), [x]
    yield "sort.axis", lambda x: lax.sort(x, 1), [cube]
    yield "sort.nothing", lambda x: lax.sort(x, 0), [none]
    yield "sort.two_keys", lambda a, b: lax.sort((a, b, a), 1, num_keys=2), [x % x.dtype.type(3) if t in INTEGERS else x, x[::-1].copy()]
    yield "argsort", lambda x: jnp.argsort(x, 1), [x]
    yield "argsort.descending", lambda x: jnp.argsort(x, 0, descending=True), [x]
    yield "lexsort", lambda a, b: jnp.lexsort((a, b)), [x[0].copy(), x[1].copy()]
    yield "top_k", lambda x: lax.top_k(x, 3), [x]
    yield "top_k.all", lambda x: lax.top_k(x, 7), [x]
    if t in ("bf16", "f16", "f32"):
        yield "approx_max_k", lambda x: lax.approx_max_k(x, 2), [x]


def loops(t: str):
    x, s = spread(t, (3, 4), 1), spread(t, (), 2)
    one = TYPES[t](1)
    yield "fori_loop", lambda x: lax.fori_loop(0, 5, lambda i, c: c + one, x), [x]
    yield "fori_loop.dynamic", lambda x, n: lax.fori_loop(0, n, lambda i, c: c + one, x), [x, I32(3)]
    yield "fori_loop.never", lambda x, n: lax.fori_loop(2, n, lambda i, c: c + one, x), [x, I32(-3)]
    yield "while_loop", lambda x: lax.while_loop(lambda c: c[1] < 4, lambda c: (c[0] - one, c[1] + 1), (x, 0)), [x]
    yield "scan", lambda x, s: lax.scan(lambda c, r: (c + r[0], r * c), s, x), [x, s]
    yield "scan.reverse", lambda x, s: lax.scan(lambda c, r: (c + r[1], r - c), s, x, reverse=True), [x, s]
    yield "scan.unroll", lambda x, s: lax.scan(lambda c, r: (c + r[1], None), s, x, unroll=2), [x, s]
    yield "scan.nothing", lambda x, s: lax.scan(lambda c, r: (c + r[0], r), s, x), [spread(t, (0, 4), 3), s]
    yield "scan.length", lambda s: lax.scan(lambda c, _: (c + one, c), s, None, length=6), [s]
    for i in (-4, 0, 1, 9):
        branches = [lambda x: x + one, lambda x: x - one, lambda x: x * x]
        yield f"switch.{i}", lambda i, x, branches=branches: lax.switch(i, branches, x), [I32(i), x]
    for p in (False, True):
        yield f"cond.{p}", lambda p, x: lax.cond(p, lambda x: x + x, lambda x: x * x, x), [np.bool_(p), x]
    yield "vmap.scan", lambda x: jax.vmap(lambda r: lax.scan(lambda c, e: (c + e, c), one, r))(x), [x]
    yield "vmap.while", jax.vmap(lambda s, n: lax.fori_loop(0, n, lambda i, c: c + one, s)), [x[:, 0].copy(), indices(0, 2, 5)]
    yield "vmap.cond", jax.vmap(lambda p, s: lax.cond(p, lambda x: x + one, lambda x: x - one, s)), [np.array([True, False, True]), x[:, 0].copy()]
    if t in ("f32", "f64"):
        yield "grad.scan", jax.grad(lambda x: lax.scan(lambda c, r: (c * r[0] + r[1], None), x[0, 0], x)[0]), [x]
        yield "checkpoint", jax.grad(jax.checkpoint(lambda x: jnp.sum(jnp.sin(jnp.sin(x))))), [x]
        yield "custom_root", lambda x: lax.custom_root(lambda y: y * y * y - jnp.abs(x), x * 0 + 2, lambda f, y: lax.fori_loop(0, 40, lambda i, y: y - f(y) / (3 * y * y), y), lambda g, y: y / g(jnp.ones_like(y))), [x + 7]
        yield "linear_solve", lambda x: lax.custom_linear_solve(lambda v: 4 * v, x, lambda f, b: b / 4), [x]


def contractions(t: str):
    x, y, v = spread(t, (3, 4), 1), spread(t, (4, 5), 2), spread(t, (4,), 3)
    batch, other = spread(t, (2, 3, 1, 4), 4), spread(t, (2, 4, 3), 5)
    none = spread(t, (0, 4), 6)
    image, kernel = spread(t, (2, 7, 5, 3), 7), spread(t, (3, 2, 3, 4), 8)
    yield "dot", lax.dot, [x, y]
    yield "dot.vectors", lax.dot, [v, v]
    yield "dot.nothing", lax.dot, [none, y]
    yield "dot.over_nothing", lax.dot, [none.T.copy()[:3], none[:, :2].copy()]
    yield "dot_general.batch", lambda a, b: lax.dot_general(a, b, (((3,), (1,)), ((0, 1), (0, 2)))), [batch, other]
    yield "dot_general.two", lambda a, b: lax.dot_general(a, b, (((0, 1), (1, 0)), ((), ()))), [x, spread(t, (4, 3, 2), 9)]
    yield "matmul.broadcast", jnp.matmul, [batch, y]
    yield "einsum", lambda a, b: jnp.einsum("ij,kj,j->ik", a, a, b), [x, v]
    yield "tensordot", lambda a, b: jnp.tensordot(a, b, 0), [v, v]
    yield "outer", jnp.outer, [v, x]
    yield "kron", jnp.kron, [x, y[:2, :2].copy()]
    yield "vdot", jnp.vdot, [x, x]
    yield "inner", jnp.inner, [x, x]
    yield "cross", jnp.cross, [x[:, :3].copy(), x[:, 1:].copy()]
    if t in FLOATS + COMPLEX + ["s32"]:
        form = ("NHWC", "HWIO", "NHWC")
        yield "conv.same", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=form), [image, kernel]
        yield "conv.strided", lambda a, k: lax.conv_general_dilated(a, k, (2, 3), ((2, 1), (0, 2)), dimension_numbers=form), [image, kernel]
        yield "conv.dilated", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), ((0, 0), (0, 0)), (2, 1), (1, 2), form), [image, kernel]
        yield "conv.groups", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=form, feature_group_count=3), [image, spread(t, (2, 2, 1, 6), 10)]
        yield "conv.batch_groups", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=form, batch_group_count=2), [image, kernel]
        yield "conv.nothing", lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=form), [image[:0].copy(), kernel]
        yield "conv.one", lambda a, k: lax.conv_general_dilated(a, k, (1,), [(3, 0)], dimension_numbers=("NCW", "OIW", "NCW")), [spread(t, (1, 2, 5), 11), spread(t, (3, 2, 2), 12)]
        yield "conv_transpose", lambda a, k: lax.conv_transpose(a, k, (2, 2), "SAME"), [image, spread(t, (3, 2, 4, 3), 13).transpose(0, 1, 3, 2).copy()]
        yield "conv_patches", lambda a: lax.conv_general_dilated_patches(a, (2, 2), (1, 1), "VALID", dimension_numbers=form), [image]
        yield "ragged_dot", lax.ragged_dot, [x, spread(t, (2, 4, 3), 14), indices(1, 2)]


def inexact(leaf) -> bool:
    return jnp.issubdtype(leaf.dtype, jnp.inexact)


def gradient(function, arguments):
    """A function of the arguments: cotangents of the inexact ones, where each inexact result has a cotangent of 1, 2 ..."""
    held = [i for i, array in enumerate(arguments) if inexact(np.asarray(array))]

    def cotangents(*arrays):
        def leaves(*varied):
            full = list(arrays)
            for i, array in zip(held, varied, strict=True):
                full[i] = array
            return [leaf for leaf in jax.tree.leaves(function(*full)) if inexact(leaf)]

        results, pull = jax.vjp(leaves, *[arrays[i] for i in held])
        return pull([jnp.arange(1, leaf.size + 1, dtype=leaf.dtype).reshape(leaf.shape) for leaf in results])

    return cotangents


def transformed(family: str, transform) -> list[Calls]:
    """Every call of the tables above, transformed; what JAX does not transform is left out."""
    groups = []
    for table in (moves, scatters, reductions, sorts, loops, contractions):
        for dtype in ("f32", "c64") if table in (moves, contractions) else ("f32",):
            calls = []
            for name, function, arguments in table(dtype):
                call = transform(Call(name, function, arguments))
                try:
                    if jax.tree.leaves(jax.eval_shape(call.function, *call.arguments)):
                        calls.append(call)
                except Exception:  # noqa: BLE001: whatever JAX says
                    continue
            groups.append(Calls(f"{family}.{table.__name__}.{dtype}", calls, sums=True))
    return groups


def gradients() -> list[Calls]:
    return transformed("gradient", lambda call: Call(call.name, gradient(call.function, call.arguments), call.arguments))


def batched() -> list[Calls]:
    """vmap over every argument, whose second copy is turned around."""
    return transformed(
        "batched", lambda call: Call(call.name, jax.vmap(call.function), [np.stack([a, np.flip(a)]) for a in call.arguments])
    )


structure = functools.partial(calls_of, "moves", SOME, moves)
scatter_forms = functools.partial(calls_of, "scatters", SOME, scatters)
reduction_forms = functools.partial(calls_of, "reductions", ANY, reductions)
sort_forms = functools.partial(calls_of, "sorts", REAL, sorts)
control = functools.partial(calls_of, "loops", [t for t in NUMBERS if t in SOME], loops)
contraction_forms = functools.partial(calls_of, "contractions", [t for t in NUMBERS if t in SOME], contractions)
