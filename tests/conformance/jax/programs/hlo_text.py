"""HLO text for what other front ends write and JAX does not. XLA runs it too, but where NumPy is named."""

import ml_dtypes
import numpy as np

from programs import inputs
from programs.harness import Registry, TextProgram

CASES = Registry()


@CASES.case("hlo_inverse_functions")
def hlo_inverse_functions(rng):
    """asin acos asinh acosh atanh sinh cosh as opcodes of their own; expected values from NumPy in f64."""
    unit, middle = (
        rng.uniform(-0.999, 0.999, 64).astype(np.float32),
        inputs.wide(rng, 64, np.float32, -4, 1.5),
    )
    large = (1 + 10.0 ** rng.uniform(-3, 6, 64)).astype(np.float32)
    text = """
HloModule inverse_functions

ENTRY main {
  unit = f32[64]{0} parameter(0)
  middle = f32[64]{0} parameter(1)
  large = f32[64]{0} parameter(2)
  a = f32[64]{0} asin(unit)
  b = f32[64]{0} acos(unit)
  c = f32[64]{0} atanh(unit)
  e = f32[64]{0} asinh(middle)
  f = f32[64]{0} sinh(middle)
  g = f32[64]{0} cosh(middle)
  h = f32[64]{0} acosh(large)
  ROOT t = (f32[64]{0}, f32[64]{0}, f32[64]{0}, f32[64]{0}, f32[64]{0}, f32[64]{0}, f32[64]{0}) tuple(a, b, c, e, f, g, h)
}
"""
    u, m, l = (x.astype(np.float64) for x in (unit, middle, large))
    values = (np.arcsin(u), np.arccos(u), np.arctanh(u), np.arcsinh(m), np.sinh(m), np.cosh(m), np.arccosh(l))
    return TextProgram(text, (unit, middle, large), expected=tuple(v.astype(np.float32) for v in values))


@CASES.case("hlo_logistic")
def hlo_logistic(rng):
    """logistic as one opcode, f32 and bf16; expected values from NumPy in f64."""
    x = np.concatenate(
        [
            inputs.wide(rng, 90, np.float32, -5, 1.9),
            np.array([0, -0.0, np.inf, -np.inf, np.nan, 200], np.float32),
        ]
    )
    text = """
HloModule logistic

ENTRY main {
  x = f32[96]{0} parameter(0)
  y = bf16[96]{0} parameter(1)
  a = f32[96]{0} logistic(x)
  b = bf16[96]{0} logistic(y)
  ROOT t = (f32[96]{0}, bf16[96]{0}) tuple(a, b)
}
"""
    y = x.astype(ml_dtypes.bfloat16)
    with np.errstate(over="ignore"):
        value = lambda v: (1 / (1 + np.exp(-v.astype(np.float64)))).astype(v.dtype)
        return TextProgram(text, (x, y), expected=(value(x), value(y)))


@CASES.case("hlo_batch_norm")
def hlo_batch_norm(rng):
    """batch-norm-training, -inference and -grad, as PyTorch/XLA writes them."""
    text = """
HloModule batch_norm

ENTRY main {
  x = f32[4,6,5,3]{3,2,1,0} parameter(0)
  scale = f32[6]{0} parameter(1)
  offset = f32[6]{0} parameter(2)
  mean = f32[6]{0} parameter(3)
  variance = f32[6]{0} parameter(4)
  out = f32[4,6,5,3]{3,2,1,0} parameter(5)
  training = (f32[4,6,5,3]{3,2,1,0}, f32[6]{0}, f32[6]{0}) batch-norm-training(x, scale, offset), epsilon=0.001, feature_index=1
  value = f32[4,6,5,3]{3,2,1,0} get-tuple-element(training), index=0
  batch_mean = f32[6]{0} get-tuple-element(training), index=1
  batch_variance = f32[6]{0} get-tuple-element(training), index=2
  inference = f32[4,6,5,3]{3,2,1,0} batch-norm-inference(x, scale, offset, mean, variance), epsilon=0.001, feature_index=1
  grad = (f32[4,6,5,3]{3,2,1,0}, f32[6]{0}, f32[6]{0}) batch-norm-grad(x, scale, batch_mean, batch_variance, out), epsilon=0.001, feature_index=1
  grad_x = f32[4,6,5,3]{3,2,1,0} get-tuple-element(grad), index=0
  grad_scale = f32[6]{0} get-tuple-element(grad), index=1
  grad_offset = f32[6]{0} get-tuple-element(grad), index=2
  ROOT t = (f32[4,6,5,3]{3,2,1,0}, f32[6]{0}, f32[6]{0}, f32[4,6,5,3]{3,2,1,0}, f32[4,6,5,3]{3,2,1,0}, f32[6]{0}, f32[6]{0}) tuple(value, batch_mean, batch_variance, inference, grad_x, grad_scale, grad_offset)
}
"""
    x, out = (inputs.normal(rng, (4, 6, 5, 3), np.float32, 2.0) for _ in range(2))
    scale, offset, mean = (inputs.normal(rng, (6,), np.float32) for _ in range(3))
    return TextProgram(
        text, (x, scale, offset, mean, rng.uniform(0.5, 4, 6).astype(np.float32), out), kind="contraction"
    )


@CASES.case("hlo_map")
def hlo_map(rng):
    """map of a scalar computation with two parameters."""
    text = """
HloModule map

body {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] multiply(a, b)
  d = f32[] constant(0.5)
  ROOT e = f32[] maximum(c, d)
}

ENTRY main {
  x = f32[5,7]{1,0} parameter(0)
  y = f32[5,7]{1,0} parameter(1)
  ROOT m = f32[5,7]{1,0} map(x, y), dimensions={0,1}, to_apply=body
}
"""
    return TextProgram(text, tuple(inputs.varied(rng, (5, 7), np.float32) for _ in range(2)))


@CASES.case("hlo_topk_custom_call")
def hlo_topk_custom_call(rng):
    """The TopK custom call, with the comparator that XLA's builder gives it; expected values from NumPy."""
    x = rng.permutation(60).reshape(3, 20).astype(np.float32)
    text = """
HloModule topk_custom_call

compare {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT gt = pred[] compare(a, b), direction=GT, type=TOTALORDER
}

ENTRY main {
  x = f32[3,20]{1,0} parameter(0)
  top = (f32[3,4]{1,0}, s32[3,4]{1,0}) custom-call(x), custom_call_target="TopK", called_computations={compare}
  values = f32[3,4]{1,0} get-tuple-element(top), index=0
  indices = s32[3,4]{1,0} get-tuple-element(top), index=1
  ROOT t = (f32[3,4]{1,0}, s32[3,4]{1,0}) tuple(values, indices)
}
"""
    order = np.argsort(-x, axis=1)[:, :4].astype(np.int32)
    return TextProgram(text, (x,), kind="exact", expected=(np.take_along_axis(x, order, axis=1), order))


@CASES.case("hlo_conditional_forms")
def hlo_conditional_forms(rng):
    """conditional by pred and by s32 (also out of range: the last branch), tuple operands and results."""
    text = """
HloModule conditional_forms

double {
  p = (f32[6]{0}, s32[]) parameter(0)
  x = f32[6]{0} get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  y = f32[6]{0} add(x, x)
  ROOT t = (f32[6]{0}, s32[]) tuple(y, n)
}

count {
  p = (f32[6]{0}, s32[]) parameter(0)
  x = f32[6]{0} get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  m = s32[] add(n, one)
  y = f32[6]{0} negate(x)
  ROOT t = (f32[6]{0}, s32[]) tuple(y, m)
}

absolute {
  x = f32[6]{0} parameter(0)
  ROOT y = f32[6]{0} abs(x)
}

ENTRY main {
  x = f32[6]{0} parameter(0)
  n = s32[] parameter(1)
  yes = pred[] parameter(2)
  pair = (f32[6]{0}, s32[]) tuple(x, n)
  a = (f32[6]{0}, s32[]) conditional(yes, pair, pair), true_computation=double, false_computation=count
  b = (f32[6]{0}, s32[]) conditional(n, pair, pair, pair), branch_computations={double, double, count}
  zero = s32[] constant(0)
  c = f32[6]{0} conditional(zero, x), branch_computations={absolute}
  a0 = f32[6]{0} get-tuple-element(a), index=0
  a1 = s32[] get-tuple-element(a), index=1
  b0 = f32[6]{0} get-tuple-element(b), index=0
  b1 = s32[] get-tuple-element(b), index=1
  ROOT t = (f32[6]{0}, s32[], f32[6]{0}, s32[], f32[6]{0}) tuple(a0, a1, b0, b1, c)
}
"""
    x = inputs.varied(rng, (6,), np.float32)
    return TextProgram(
        text,
        (x, np.int32(-7), np.bool_(True)),
        kind="exact",
        expected=(x + x, np.int32(-7), -x, np.int32(-6), np.abs(x)),
    )


@CASES.case("hlo_layouts")
def hlo_layouts(rng):
    """Column-major arrays inside the module and at its entry; .npy files hold logical order nonetheless."""
    text = """
HloModule layouts, entry_computation_layout={(f32[3,5]{0,1}, f32[5,4]{1,0})->(f32[3,4]{0,1}, f32[5,3]{1,0}, f32[15]{0})}

ENTRY main {
  a = f32[3,5]{0,1} parameter(0)
  b = f32[5,4]{1,0} parameter(1)
  d = f32[3,4]{0,1} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[5,3]{1,0} transpose(a), dimensions={1,0}
  c = f32[3,5]{1,0} copy(a)
  r = f32[15]{0} reshape(c)
  ROOT out = (f32[3,4]{0,1}, f32[5,3]{1,0}, f32[15]{0}) tuple(d, t, r)
}
"""
    a, b = inputs.varied(rng, (3, 5), np.float32), inputs.varied(rng, (5, 4), np.float32)
    product = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    return TextProgram(text, (a, b), kind="contraction", expected=(product, a.T.copy(), a.reshape(15)))


@CASES.case("hlo_nested_tuples")
def hlo_nested_tuples(rng):
    """Nested tuple results (leaves in order), a tuple constant; expected values by hand."""
    text = """
HloModule nested_tuples

ENTRY main {
  x = f32[4]{0} parameter(0)
  n = s32[] constant(3)
  two = f32[] constant(2)
  b = f32[4]{0} broadcast(two), dimensions={}
  y = f32[4]{0} multiply(x, b)
  inner = (f32[4]{0}, s32[]) tuple(y, n)
  again = f32[4]{0} get-tuple-element(inner), index=0
  pair = (s32[2]{0}, pred[]) constant(({5, -6}, true))
  ROOT t = ((f32[4]{0}, s32[]), f32[4]{0}, (s32[2]{0}, pred[])) tuple(inner, again, pair)
}
"""
    x = inputs.varied(rng, (4,), np.float32)
    return TextProgram(
        text,
        (x,),
        kind="exact",
        expected=(x * 2, np.int32(3), x * 2, np.array([5, -6], np.int32), np.bool_(True)),
    )


@CASES.case("hlo_variadic")
def hlo_variadic(rng):
    """A reduce of three arrays of different types at once, and a scatter into two arrays."""
    text = """
HloModule variadic

best {
  v0 = f32[] parameter(0)
  i0 = s32[] parameter(1)
  c0 = s8[] parameter(2)
  v1 = f32[] parameter(3)
  i1 = s32[] parameter(4)
  c1 = s8[] parameter(5)
  first = pred[] compare(v0, v1), direction=GE
  v = f32[] select(first, v0, v1)
  i = s32[] select(first, i0, i1)
  c = s8[] add(c0, c1)
  ROOT t = (f32[], s32[], s8[]) tuple(v, i, c)
}

both {
  a0 = f32[] parameter(0)
  b0 = s32[] parameter(1)
  a1 = f32[] parameter(2)
  b1 = s32[] parameter(3)
  a = f32[] add(a0, a1)
  b = s32[] maximum(b0, b1)
  ROOT t = (f32[], s32[]) tuple(a, b)
}

ENTRY main {
  x = f32[4,9]{1,0} parameter(0)
  position = s32[4,9]{1,0} iota(), iota_dimension=1
  one = s8[] constant(1)
  ones = s8[4,9]{1,0} broadcast(one), dimensions={}
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  none = s8[] constant(0)
  r = (f32[4]{0}, s32[4]{0}, s8[4]{0}) reduce(x, position, ones, low, zero, none), dimensions={1}, to_apply=best
  r0 = f32[4]{0} get-tuple-element(r), index=0
  r1 = s32[4]{0} get-tuple-element(r), index=1
  r2 = s8[4]{0} get-tuple-element(r), index=2
  indices = s32[5]{0} parameter(1)
  updates = f32[5,9]{1,0} parameter(2)
  more = s32[5,9]{1,0} parameter(3)
  s = (f32[4,9]{1,0}, s32[4,9]{1,0}) scatter(x, position, indices, updates, more), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=both
  scattered0 = f32[4,9]{1,0} get-tuple-element(s), index=0
  scattered1 = s32[4,9]{1,0} get-tuple-element(s), index=1
  ROOT t = (f32[4]{0}, s32[4]{0}, s8[4]{0}, f32[4,9]{1,0}, s32[4,9]{1,0}) tuple(r0, r1, r2, scattered0, scattered1)
}
"""
    x, updates = (
        rng.permutation(36).reshape(4, 9).astype(np.float32),
        inputs.integers(rng, -9, 9, (5, 9)).astype(np.float32),
    )
    more = inputs.integers(rng, -3, 12, (5, 9))
    return TextProgram(text, (x, np.array([2, 0, 2, 7, -1], np.int32), updates, more), kind="exact")


@CASES.case("hlo_pred_arithmetic")
def hlo_pred_arithmetic(rng):
    """add is or, multiply is and, on pred; power and remainder on s32; expected values from NumPy."""
    text = """
HloModule pred_arithmetic

ENTRY main {
  a = pred[16]{0} parameter(0)
  b = pred[16]{0} parameter(1)
  m = s32[8]{0} parameter(2)
  n = s32[8]{0} parameter(3)
  c = pred[16]{0} add(a, b)
  d = pred[16]{0} multiply(a, b)
  e = pred[16]{0} maximum(a, b)
  f = pred[16]{0} minimum(a, b)
  p = s32[8]{0} power(m, n)
  ROOT t = (pred[16]{0}, pred[16]{0}, pred[16]{0}, pred[16]{0}, s32[8]{0}) tuple(c, d, e, f, p)
}
"""
    a, b = rng.random((2, 16)) < 0.5
    m, n = np.array([2, -3, 0, 1, -1, 5, 2, -1], np.int32), np.array([10, 5, 0, -4, -3, -2, 31, 6], np.int32)
    powers = np.array([1024, -243, 1, 1, -1, 0, -(2**31), 1], np.int32)
    return TextProgram(text, (a, b, m, n), kind="exact", expected=(a | b, a & b, a | b, a & b, powers))


@CASES.case("hlo_identities")
def hlo_identities(rng):
    """replica-id, partition-id, get-dimension-size, copy, real and imag of reals, after-all, on one
    device."""
    text = """
HloModule identities

ENTRY main {
  x = f32[3,5]{1,0} parameter(0)
  r = u32[] replica-id()
  p = u32[] partition-id()
  n = s32[] get-dimension-size(x), dimensions={1}
  c = f32[3,5]{1,0} copy(x)
  done = token[] after-all()
  re = f32[3,5]{1,0} real(x)
  im = f32[3,5]{1,0} imag(x)
  ROOT t = (u32[], u32[], s32[], f32[3,5]{1,0}, f32[3,5]{1,0}, f32[3,5]{1,0}) tuple(r, p, n, c, re, im)
}
"""
    x = inputs.varied(rng, (3, 5), np.float32)
    return TextProgram(
        text, (x,), kind="exact", expected=(np.uint32(0), np.uint32(0), np.int32(5), x, x, np.zeros_like(x))
    )


def _groups(sizes, limit):
    """[begin, end) of each group; what lies beyond the limit is left out."""
    ends = np.minimum(np.cumsum(sizes), limit)
    return zip(np.concatenate([[0], ends[:-1]]), ends)


@CASES.case("hlo_ragged_dot")
def hlo_ragged_dot(rng):
    """ragged-dot over rows, over the contracting dimension and over a batch, with sizes for all and for each
    batch; expected values from NumPy, group by group."""
    text = """
HloModule ragged_dot

ENTRY main {
  a = f32[9,4]{1,0} parameter(0)
  b = f32[3,4,5]{2,1,0} parameter(1)
  g = s32[3]{0} parameter(2)
  c = f32[9,6]{1,0} parameter(3)
  ab = f32[2,4,7]{2,1,0} parameter(4)
  bb = f32[5,2,3,4]{3,2,1,0} parameter(5)
  gb = s64[2,3]{1,0} parameter(6)
  rows = f32[9,5]{1,0} ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
  sums = f32[3,4,6]{2,1,0} ragged-dot(a, c, g), lhs_contracting_dims={0}, rhs_contracting_dims={0}, lhs_ragged_dims={0}
  ab16 = bf16[2,4,7]{2,1,0} convert(ab)
  bb16 = bf16[5,2,3,4]{3,2,1,0} convert(bb)
  batched = f32[2,7,5]{2,1,0} ragged-dot(ab16, bb16, gb), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={1}, rhs_contracting_dims={3}, lhs_ragged_dims={2}, rhs_group_dims={2}
  two = s32[1]{0} slice(g), slice={[0:1]}
  whole = f32[2,7,7]{2,1,0} ragged-dot(ab, ab, two), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}, lhs_ragged_dims={0}
  ROOT t = (f32[9,5]{1,0}, f32[3,4,6]{2,1,0}, f32[2,7,5]{2,1,0}, f32[2,7,7]{2,1,0}) tuple(rows, sums, batched, whole)
}
"""
    whole = lambda *shape: inputs.integers(rng, -4, 5, shape).astype(np.float32)
    a, b, c, ab, bb = whole(9, 4), whole(3, 4, 5), whole(9, 6), whole(2, 4, 7), whole(5, 2, 3, 4)
    g, gb = np.array([4, 0, 3], np.int32), np.array([[2, 5, 9], [1, 1, 1]], np.int64)
    rows, sums, batched = np.zeros((9, 5), np.float32), np.zeros((3, 4, 6), np.float32), np.zeros((2, 7, 5), np.float32)
    for group, (begin, end) in enumerate(_groups(g, 9)):
        rows[begin:end] = a[begin:end] @ b[group]
        sums[group] = a[begin:end].T @ c[begin:end]
    for batch in range(2):
        for group, (begin, end) in enumerate(_groups(gb[batch], 7)):
            batched[batch, begin:end] = ab[batch, :, begin:end].T @ bb[:, batch, group].T
    expected = (rows, sums, batched, np.einsum("bkm,bkn->bmn", ab, ab))
    return TextProgram(text, (a, b, g, c, ab, bb, gb), kind="exact", expected=expected)


@CASES.case("hlo_scaled_dot")
def hlo_scaled_dot(rng):
    """scaled-dot with a power of two for each block of 32; expected values from NumPy in f64."""
    text = """
HloModule scaled_dot

ENTRY main {
  a = f8e4m3fn[4,64]{1,0} parameter(0)
  b = f8e4m3fn[64,3]{1,0} parameter(1)
  sa = f8e8m0fnu[4,2]{1,0} parameter(2)
  sb = f8e8m0fnu[2,3]{1,0} parameter(3)
  ROOT d = f32[4,3]{1,0} scaled-dot(a, b, sa, sb), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
    a, b = (rng.normal(size=s).astype(ml_dtypes.float8_e4m3fn) for s in ((4, 64), (64, 3)))
    sa, sb = (np.exp2(rng.integers(-2, 3, s)).astype(ml_dtypes.float8_e8m0fnu) for s in ((4, 2), (2, 3)))
    wide = lambda x: x.astype(np.float64)
    product = (wide(a) * np.repeat(wide(sa), 32, 1)) @ (wide(b) * np.repeat(wide(sb), 32, 0))
    return TextProgram(text, (a, b, sa, sb), kind="contraction", expected=(product.astype(np.float32),))


@CASES.case("hlo_collectives_alone")
def hlo_collectives_alone(rng):
    """Collectives in which a device is its own and only partner, in one piece and in two halves."""
    text = """
HloModule collectives_alone

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}

ENTRY main {
  x = f32[4,3]{1,0} parameter(0)
  y = s32[5]{0} parameter(1)
  a = f32[4,3]{1,0} all-reduce(x), replica_groups={}, to_apply=add
  n = f32[4,3]{1,0} negate(x)
  b = (f32[4,3]{1,0}, f32[4,3]{1,0}) all-reduce(x, n), replica_groups={{0}}, to_apply=add
  b1 = f32[4,3]{1,0} get-tuple-element(b), index=1
  c = f32[4,3]{1,0} all-gather(n), replica_groups={{0}}, dimensions={1}
  d = f32[4,3]{1,0} reduce-scatter(x), replica_groups=[1,1]<=[1], dimensions={0}, to_apply=add
  e = s32[5]{0} all-to-all(y), replica_groups={{0}}, dimensions={0}
  f = s32[5]{0} collective-permute(y), source_target_pairs={{0,0}}
  g = s32[5]{0} collective-permute(y), channel_id=2, source_target_pairs={}
  hs = f32[4,3]{1,0} all-reduce-start(n), replica_groups={}, to_apply=add
  h = f32[4,3]{1,0} all-reduce-done(hs)
  is = (s32[5]{0}, s32[5]{0}) all-gather-start(y), replica_groups={}, dimensions={0}
  i = s32[5]{0} all-gather-done(is)
  js = (s32[5]{0}, s32[5]{0}, u32[], u32[]) collective-permute-start(y), source_target_pairs={{0,0}}
  j = s32[5]{0} collective-permute-done(js)
  ROOT t = (f32[4,3]{1,0}, f32[4,3]{1,0}, f32[4,3]{1,0}, f32[4,3]{1,0}, s32[5]{0}, s32[5]{0}, s32[5]{0}, f32[4,3]{1,0}, s32[5]{0}, s32[5]{0}) tuple(a, b1, c, d, e, f, g, h, i, j)
}
"""
    x, y = inputs.varied(rng, (4, 3), np.float32), inputs.integers(rng, -9, 9, (5,))
    return TextProgram(text, (x, y), kind="exact")


@CASES.case("hlo_handed_on")
def hlo_handed_on(rng):
    """Instructions that only order or group others: add-dependency, domain, fusion, a composite call, after-all."""
    text = """
HloModule handed_on

fused {
  p = f32[8]{0} parameter(0)
  q = f32[8]{0} parameter(1)
  m = f32[8]{0} multiply(p, q)
  s = f32[8]{0} subtract(m, p)
  ROOT d = f32[8]{0} add(s, s)
}

decomposition {
  p = f32[8]{0} parameter(0)
  ROOT n = f32[8]{0} negate(p)
}

ENTRY main {
  x = f32[8]{0} parameter(0)
  y = f32[8]{0} parameter(1)
  start = token[] after-all()
  x1 = f32[8]{0} add-dependency(x, start)
  x2 = f32[8]{0} domain(x1), domain={kind="sharding", entry={replicated}, exit={maximal device=0}}
  f = f32[8]{0} fusion(x2, y), kind=kLoop, calls=fused
  c = f32[8]{0} call(f), to_apply=decomposition, is_composite=true, frontend_attributes={composite.attributes={k = 1 : i32},composite.name="test.negate",composite.version="1"}
  ROOT t = (f32[8]{0}, f32[8]{0}) tuple(f, c)
}
"""
    x, y = (inputs.integers(rng, -9, 9, (8,)).astype(np.float32) for _ in range(2))
    return TextProgram(text, (x, y), kind="exact")


@CASES.case("hlo_asynchronous")
def hlo_asynchronous(rng):
    """async-start, -update and -done around a computation and in their short form, copy-start and -done;
    expected values from NumPy."""
    text = """
HloModule asynchronous

squares {
  p = f32[6]{0} parameter(0)
  q = f32[6]{0} parameter(1)
  m = f32[6]{0} multiply(p, p)
  ROOT s = f32[6]{0} add(m, q)
}, execution_thread="side"

ENTRY main {
  x = f32[6]{0} parameter(0)
  y = f32[6]{0} parameter(1)
  a = ((f32[6]{0}, f32[6]{0}), f32[6]{0}, u32[]) async-start(x, y), async_execution_thread="side", calls=squares
  b = ((f32[6]{0}, f32[6]{0}), f32[6]{0}, u32[]) async-update(a)
  c = f32[6]{0} async-done(b)
  d = ((f32[6]{0}), f32[6]{0}) negate-start(y)
  e = f32[6]{0} negate-done(d)
  f = ((f32[6]{0}), f32[2]{0}, s32[]) slice-start(x), slice={[1:5:2]}
  g = f32[2]{0} slice-done(f)
  h = (f32[6]{0}, f32[6]{0}, u32[]) copy-start(c), cross_program_prefetch_index=0
  i = f32[6]{0} copy-done(h)
  ROOT t = (f32[6]{0}, f32[6]{0}, f32[2]{0}) tuple(i, e, g)
}
"""
    x, y = (inputs.integers(rng, -9, 9, (6,)).astype(np.float32) for _ in range(2))
    return TextProgram(text, (x, y), kind="exact", expected=(x * x + y, -y, x[1:5:2]))


@CASES.case("hlo_stochastic_convert")
def hlo_stochastic_convert(rng):
    """stochastic-convert of floats to narrower integers, by random bits of the same width."""
    text = """
HloModule stochastic_convert

ENTRY main {
  x = f32[64]{0} parameter(0)
  r = u32[64]{0} parameter(1)
  h = f16[64]{0} parameter(2)
  s = u16[64]{0} parameter(3)
  a = s8[64]{0} stochastic-convert(x, r)
  b = s32[64]{0} stochastic-convert(x, r)
  c = s8[64]{0} stochastic-convert(h, s)
  ROOT t = (s8[64]{0}, s32[64]{0}, s8[64]{0}) tuple(a, b, c)
}
"""
    x = np.concatenate([rng.uniform(-100, 100, 58), [0, -0.0, 127.5, -128.5, 300, -300]]).astype(np.float32)
    r, s = rng.integers(0, 2**32, 64, np.uint32), rng.integers(0, 2**16, 64, np.uint16)
    return TextProgram(text, (x, r, x.astype(np.float16), s), kind="exact")
