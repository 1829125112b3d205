"""Products: dots and convolutions of all layouts, and of operands of different types."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from program import Program


def _dimensions(s):
    """Two shapes with batch, contracting and free dimensions in random order."""
    batch = [s.between(1, 3) for _ in range(s.between(0, 2))]
    summed = [s.between(0 if s.chance(0.05) else 1, 3) for _ in range(s.between(0, 2))]

    def side():
        free = [s.between(1, 3) for _ in range(s.between(0, 2))]
        labels = [("b", i) for i in range(len(batch))] + [("c", i) for i in range(len(summed))]
        labels += [("f", i) for i in range(len(free))]
        order = [labels[i] for i in s.rng.permutation(len(labels))]
        size = {"b": batch, "c": summed, "f": free}
        shape = tuple(size[kind][i] for kind, i in order)
        place = lambda kind, n: tuple(order.index((kind, i)) for i in range(n))
        return shape, place("c", len(summed)), place("b", len(batch))
    (a, a_sum, a_batch), (b, b_sum, b_batch) = side(), side()
    return a, b, ((a_sum, b_sum), (a_batch, b_batch))


def dots(s):
    a, b, numbers = _dimensions(s)
    dtype = s.one_of(["float32", "float32", "float64", "complex64"])
    x, y = s.numbers(a, dtype), s.numbers(b, dtype)
    return Program(lambda v, r: [lax.dot_general(v[0], v[1], numbers)], [x, y])


def mixed_dots(s):
    """Operands of different types, or a result that is wider than both."""
    a, b, numbers = _dimensions(s)
    left, right, result = s.one_of([
        ("float32", "int8", "float32"), ("int8", "float32", "float32"), ("float32", "bfloat16", "float32"),
        ("bfloat16", "float32", "float32"), ("bfloat16", "bfloat16", "float32"), ("float16", "float16", "float32"),
        ("float32", "float64", "float64"), ("float32", "float32", "float64")])
    x, y = s.numbers(a, left), s.numbers(b, right)
    wide = lambda x: x.astype(result)

    def f(x, y):
        return [lax.dot_general(x, y, numbers, preferred_element_type=np.dtype(result))]

    def reference(x, y):
        return [lax.dot_general(wide(x), wide(y), numbers)]
    if np.dtype(left).kind == "i":
        return Program(lambda v, r: f(r[0], v[0]), [y], [x], lambda v, r: reference(r[0], v[0]))
    if np.dtype(right).kind == "i":
        return Program(lambda v, r: f(v[0], r[0]), [x], [y], lambda v, r: reference(v[0], r[0]))
    return Program(lambda v, r: f(v[0], v[1]), [x, y], reference=lambda v, r: reference(v[0], v[1]))


def convolutions(s):
    """Groups, strides, dilations, and padding that may be negative."""
    rank = s.between(1, 2)
    feature_groups, batch_groups = s.one_of([(1, 1), (1, 1), (2, 1), (1, 2)])
    batch, features = s.between(1, 2) * batch_groups, s.between(1, 2) * feature_groups
    outputs = s.between(1, 2) * feature_groups * batch_groups
    space = tuple(s.between(3, 5) for _ in range(rank))
    size = tuple(s.between(1, 3) for _ in range(rank))
    x = s.numbers((batch, features) + space)
    y = s.numbers((outputs, features // feature_groups) + size)
    types = s.one_of([None, None, None, ("float32", "bfloat16"), ("bfloat16", "float32")])
    spread = tuple(s.between(1, 2) for _ in range(rank))
    base = tuple(s.between(1, 2) for _ in range(rank))
    padding = []
    for d, n, w, b in zip(space, size, spread, base):
        low = s.between(-1, 2)
        reach, there = (n - 1) * w + 1, (d - 1) * b + 1 + low
        padding.append((low, max(s.between(-1, 2), reach - there)))
    kw = dict(window_strides=tuple(s.between(1, 2) for _ in range(rank)), padding=padding, lhs_dilation=base,
              rhs_dilation=spread, feature_group_count=feature_groups, batch_group_count=batch_groups)
    if s.chance(0.4):  # Channels last.
        x, y = np.moveaxis(x, 1, -1), np.moveaxis(np.moveaxis(y, 1, -1), 0, -1)
        kw["dimension_numbers"] = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC")}[rank]
    if types is None:
        return Program(lambda v, r: [lax.conv_general_dilated(v[0], v[1], **kw)], [x, y])
    x, y = x.astype(types[0]), y.astype(types[1])
    # A convolution of different types is one of the wider.
    return Program(lambda v, r: [lax.conv_general_dilated(v[0].astype("float32"), v[1].astype("float32"), **kw)],
                   [x, y])


def transforms(s):
    x = s.numbers(s.shape(1, zero=0), s.one_of(["complex64", "float32"]))
    if x.dtype == np.complex64:
        f = s.one_of([jnp.fft.fft, jnp.fft.ifft, lambda z: jnp.fft.irfft(z, 4)])
    else:
        f = jnp.fft.rfft
    return Program(lambda v, r: [f(v[0] * 0.5)], [x])


FAMILIES = [(dots, 4), (mixed_dots, 3), (convolutions, 5), (transforms, 1)]
