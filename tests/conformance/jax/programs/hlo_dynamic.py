"""Bounded dynamic dimensions inside programs of static parameters and results. XLA runs these, except where NumPy is
named: there a dynamic array is written over a static one, and XLA also copies what lies beyond its size."""

import numpy as np

from programs import inputs
from programs.harness import Registry, TextProgram

CASES = Registry()

SIZES = (0, 1, 5, 8)

_REDUCTIONS = """
HloModule dynamic_reductions

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}

ENTRY main {
  x = f32[8] parameter(0)
  m = f32[3,8] parameter(1)
  n = s32[] parameter(2)
  zero = f32[] constant(0)
  least = f32[] constant(-inf)
  y = f32[<=8] set-dimension-size(x, n), dimensions={0}
  w = f32[3,<=8] set-dimension-size(m, n), dimensions={1}
  size = s32[] get-dimension-size(w), dimensions={1}
  sum = f32[] reduce(y, zero), dimensions={0}, to_apply=add
  largest = f32[3] reduce(w, least), dimensions={1}, to_apply=max
  product = f32[3] dot(w, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  gram = f32[3,3] dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  rows = f32[2,<=8] broadcast(y), dimensions={1}
  flat = f32[<=16] reshape(rows)
  long = f32[<=24] concatenate(flat, x), dimensions={0}
  length = s32[] get-dimension-size(long), dimensions={0}
  all = f32[] reduce(long, zero), dimensions={0}, to_apply=add
  ROOT t = (s32[], f32[], f32[3], f32[3], f32[3,3], s32[], f32[]) tuple(size, sum, largest, product, gram, length, all)
}
"""

_MOVED = """
HloModule dynamic_moves

greater {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GT
}

ENTRY main {
  x = f32[8] parameter(0)
  m = f32[3,8] parameter(1)
  n = s32[] parameter(2)
  zero = f32[] constant(0)
  seven = f32[] constant(7)
  i = s32[] constant(0)
  y = f32[<=8] set-dimension-size(x, n), dimensions={0}
  w = f32[3,<=8] set-dimension-size(m, n), dimensions={1}
  joined = f32[<=24] concatenate(y, x, y), dimensions={0}
  padded = f32[<=18] pad(y, seven), padding=1_2_1
  turned = f32[<=8] reverse(y), dimensions={0}
  flat = f32[<=24] reshape(w)
  sorted = f32[<=8] sort(y), dimensions={0}, to_apply=greater
  cut = f32[<=5] slice(y), slice={[2:7]}
  fill24 = f32[24] broadcast(zero), dimensions={}
  fill18 = f32[18] broadcast(zero), dimensions={}
  fill8 = f32[8] broadcast(zero), dimensions={}
  fill5 = f32[5] broadcast(zero), dimensions={}
  r0 = f32[24] dynamic-update-slice(fill24, joined, i)
  r1 = f32[18] dynamic-update-slice(fill18, padded, i)
  r2 = f32[8] dynamic-update-slice(fill8, turned, i)
  r3 = f32[24] dynamic-update-slice(fill24, flat, i)
  r4 = f32[8] dynamic-update-slice(fill8, sorted, i)
  r5 = f32[5] dynamic-update-slice(fill5, cut, i)
  ROOT t = (f32[24], f32[18], f32[8], f32[24], f32[8], f32[5]) tuple(r0, r1, r2, r3, r4, r5)
}
"""


def _arguments(rng, size):
    return inputs.varied(rng, (8,), np.float32), inputs.varied(rng, (3, 8), np.float32), np.int32(size)


def _reductions(size):
    def build(rng):
        return TextProgram(_REDUCTIONS, _arguments(rng, size), kind="contraction")

    return build


def _moves(size):
    def build(rng):
        x, m, n = _arguments(rng, size)
        y, w = x[:size], m[:, :size]
        padded = np.full(3 + size + max(size - 1, 0), 7, np.float32)
        padded[1 : 1 + 2 * size : 2] = y
        moved = (np.concatenate([y, x, y]), padded, y[::-1], w.reshape(-1), np.sort(y)[::-1], y[2:7])
        expected = [np.zeros(bound, np.float32) for bound in (24, 18, 8, 24, 8, 5)]
        for whole, part in zip(expected, moved):
            whole[: part.size] = part
        return TextProgram(_MOVED, (x, m, n), kind="exact", expected=tuple(expected))

    return build


for _size in SIZES:
    _reduce, _move = _reductions(_size), _moves(_size)
    _reduce.__doc__ = f"Reductions, dots, a reshape and a concatenate over a dynamic dimension of size {_size} of 8."
    _move.__doc__ = f"Dynamic arrays of size {_size} of 8 moved, then written over a static one; expected values by NumPy."
    CASES.case(f"hlo_dynamic_reductions_{_size}")(_reduce)
    CASES.case(f"hlo_dynamic_moves_{_size}")(_move)
