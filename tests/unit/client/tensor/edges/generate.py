#!/usr/bin/env python3
"""Small programs at edges, of views, updates in place and gradients, run by PyTorch: writes edges.json beside this file.

edges_test.cc has the same programs by the same names. A program returns tensors; one that PyTorch refuses is recorded
as refused. Run it where torch 2.9.1 is installed.
"""
import json
import math
import pathlib

import torch

# Each of these adds programs to PROGRAMS.
import arithmetic  # pylint: disable=unused-import
import layers  # pylint: disable=unused-import
import matrices  # pylint: disable=unused-import
import selections  # pylint: disable=unused-import
from programs import PROGRAMS, program, ramp

NAMES = {torch.bool: "pred", torch.uint8: "u8", torch.int8: "s8", torch.int16: "s16", torch.int32: "s32", torch.int64: "s64", torch.float16: "f16",
         torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64", torch.complex64: "c64"}


@program
def sum_of_none():
    x = ramp(0, 3, grad=True)
    y = x.sum() + 2
    y.backward()
    return y, x.grad


@program
def max_of_none():
    return ramp(0, 3).amax()


@program
def mean_of_none():
    x = ramp(2, 0, grad=True)
    y = x.mean(1)
    y.sum().backward()
    return y, x.grad


@program
def prod_of_none():
    x = ramp(2, 0, grad=True)
    y = x.prod(1)
    (y * ramp(2)).sum().backward()
    return y, x.grad


@program
def add_into_an_empty_slice():
    x = ramp(3, 2)
    x[2:2].add_(5)
    x[3:].mul_(0)
    return x,


@program
def cat_with_none():
    a, b = ramp(0, 2, grad=True), ramp(2, 2, grad=True)
    y = torch.cat([a, b, a], 0)
    (y * y).sum().backward()
    return y, a.grad, b.grad


@program
def matmul_over_none():
    a, b = ramp(2, 0, grad=True), ramp(0, 3, grad=True)
    y = a @ b
    y.sum().backward()
    return y, a.grad, b.grad


@program
def broadcast_of_none():
    a, b = ramp(1, 3, grad=True), ramp(0, 1, grad=True)
    y = a * b
    y.sum().backward()
    return y, a.grad, b.grad


@program
def zero_d_in_place():
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    y = x * 3
    y.add_(1).mul_(y.detach().clone())
    y.backward()
    return y, x.grad


@program
def zero_d_expanded():
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    y = x.expand(2, 3)
    (y * ramp(2, 3)).sum().backward()
    return y, x.grad


@program
def zero_d_promotes_not():
    x = torch.tensor(2.5, dtype=torch.float64)
    return ramp(2, dtype=torch.float32) + x, ramp(2, dtype=torch.int64) + x, ramp(2, dtype=torch.int32) * torch.tensor(3)


@program
def write_to_an_expanded():
    x = ramp(1, 3)
    x.expand(2, 3).add_(1)
    return x,


@program
def write_to_expanded_of_one():
    x = ramp(1, 3)
    x.expand(1, 3).add_(1)
    return x,


@program
def chain_under_views():
    x = ramp(2, 3, grad=True)
    y = x * 1
    v = y.t()[1:]
    v.mul_(2)
    v[0].add_(v[1].detach().clone())
    y[1].mul_(y[1].clone())
    (y * ramp(2, 3)).sum().backward()
    return y, v, x.grad


@program
def repeated_squares_of_a_column():
    x = ramp(2, 2, grad=True)
    y = x.clone()
    for _ in range(3):
        c = y[:, 1]
        d = c.clone()
        c.copy_(d * d)
    y.sum().backward()
    return y, x.grad


@program
def diagonal_filled_then_scaled():
    x = ramp(3, 3, grad=True)
    y = x * 2
    y.diagonal().zero_()
    y.diagonal(1).mul_(3)
    (y * ramp(3, 3)).sum().backward()
    return y, x.grad


@program
def a_leaf_updated_under_no_grad():
    x = ramp(3, grad=True)
    y = (x * x).sum()
    y.backward()
    with torch.no_grad():
        x[1:].sub_(x.grad[1:])
        x.grad.zero_()
    z = (x * x * x).sum()
    z.backward()
    return x, x.grad


@program
def a_leaf_updated_in_place():
    x = ramp(3, grad=True)
    x.add_(1)
    return x,


@program
def a_view_of_a_leaf_updated():
    x = ramp(3, grad=True)
    x[1:].add_(1)
    return x,


@program
def detached_shares():
    x = ramp(3, grad=True)
    y = x * 2
    d = y.detach()
    d[0] = 10
    (y * ramp(3)).sum().backward()
    return y, d, x.grad


@program
def negative_select_and_narrow():
    x = ramp(3, 4, grad=True)
    y = x.select(-1, -2) * x.narrow(-1, -3, 1).squeeze(-1) + x[-1, -4:-1]
    y.sum().backward()
    return y, x.grad


@program
def slice_out_of_range():
    x = ramp(4)
    return x[2:100], x[-100:2], x[3:1], x[4:], x[-1:]


@program
def negative_step():
    return ramp(4)[::-1],


@program
def select_out_of_range():
    return ramp(3).select(0, -4),


@program
def flip_then_write():
    x = ramp(2, 3, grad=True)
    y = x.flip(-1)
    y[0].mul_(0)
    (y * ramp(2, 3)).sum().backward()
    return y, x.grad


@program
def integer_plus_half_in_place():
    x = ramp(3, dtype=torch.int64)
    return x.add_(0.5),


@program
def float_takes_integers_in_place():
    x = ramp(3, dtype=torch.float32, grad=True)
    y = x * 1
    y.mul_(ramp(3, dtype=torch.int64)).add_(torch.tensor([True, False, True]))
    y.sum().backward()
    return y, x.grad


@program
def half_by_double():
    x, w = ramp(3, dtype=torch.float16, grad=True), ramp(3, grad=True)
    y = x * w
    y.sum().backward()
    return y, x.grad, w.grad


@program
def divide_integers():
    a, b = torch.tensor([-7, 7, -8]), torch.tensor([2, -2, 3])
    return a / b, torch.div(a, b, rounding_mode="floor"), torch.div(a, b, rounding_mode="trunc"), a % b, torch.fmod(a, b)


@program
def gather_repeated():
    x = ramp(3, 2, grad=True)
    y = x.gather(0, torch.tensor([[0, 0], [0, 2], [2, 2]]))
    (y * ramp(3, 2)).sum().backward()
    return y, x.grad


@program
def index_with_negatives():
    x = ramp(3, 2, grad=True)
    y = x[torch.tensor([-1, 0, -1])]
    (y * ramp(3, 2)).sum().backward()
    return y, x.grad


@program
def put_repeated_accumulates():
    x, v = ramp(3, grad=True), ramp(4, first=10, grad=True)
    y = (x * 1).index_put((torch.tensor([0, -1, 0, 2]),), v, accumulate=True)
    (y * ramp(3)).sum().backward()
    return y, x.grad, v.grad


@program
def index_add_of_none():
    x = ramp(3, 2, grad=True)
    s = ramp(0, 2, grad=True)
    y = x.index_add(0, torch.zeros(0, dtype=torch.int64), s)
    y.sum().backward()
    return y, x.grad


@program
def gather_of_none():
    x = ramp(3, 2, grad=True)
    y = x.gather(0, torch.zeros(0, 2, dtype=torch.int64))
    z = x[torch.zeros(0, dtype=torch.int64), 1:]
    (y.sum() + z.sum()).backward()
    return y, z, x.grad


@program
def masked_fill_of_broadcast():
    x = ramp(2, 3, grad=True)
    y = x.masked_fill(torch.tensor([True, False, True]), -1.0)
    (y * y).sum().backward()
    return y, x.grad


@program
def masked_select_of_none():
    x = ramp(2, 3, grad=True)
    y = x.masked_select(x < 0)
    y.sum().backward()
    return y, x.grad


@program
def where_of_two_types():
    a, b = ramp(3, dtype=torch.float32, grad=True), ramp(3, grad=True)
    y = torch.where(a > 2, a, b)
    (y * y).sum().backward()
    return y, a.grad, b.grad


@program
def max_of_ties():
    x = torch.tensor([[2.0, 2, 1], [0, 0, 0]], dtype=torch.float64, requires_grad=True)
    y = x.amax(1)
    (y * ramp(2)).sum().backward()
    v, i = torch.tensor([1.0, 3, 3]).max(0)
    return y, x.grad, v, i


@program
def norm_of_zero():
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    y = x.norm()
    y.backward()
    return y, x.grad


@program
def prod_with_zeros():
    x = torch.tensor([[0.0, 2, 3], [0, 0, 5]], dtype=torch.float64, requires_grad=True)
    y = x.prod(1)
    y.sum().backward()
    return y, x.grad


@program
def cumprod_with_zero():
    x = torch.tensor([2.0, 0, 3, 4], dtype=torch.float64, requires_grad=True)
    y = x.cumprod(0)
    (y * ramp(4)).sum().backward()
    return y, x.grad


@program
def power_of_zero():
    x = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    y = x ** torch.tensor([0.0, 1, 2], dtype=torch.float64)
    y.sum().backward()
    return y, x.grad


@program
def as_strided_overlapping_read():
    x = ramp(5, grad=True)
    y = x.as_strided((3, 3), (1, 1))
    (y * ramp(3, 3)).sum().backward()
    return y, x.grad


@program
def unfold_overlapping():
    x = ramp(5, grad=True)
    y = x.unfold(0, 3, 1)
    (y * y).sum().backward()
    return y, x.grad


@program
def second_derivative_through_a_view():
    x = ramp(2, 2, grad=True)
    y = (x.t()[0] ** 3).sum()
    g, = torch.autograd.grad(y, x, create_graph=True)
    (g * ramp(2, 2)).sum().backward()
    return g, x.grad


@program
def gradients_add_up():
    x = ramp(2, grad=True)
    y = x * x
    y.sum().backward(retain_graph=True)
    y.backward(ramp(2))
    return x.grad,


@program
def view_of_other_count():
    return ramp(2, 3).view(4),


@program
def view_with_inferred_of_none():
    return ramp(0, 3).view(3, -1), ramp(0, 3).reshape(0, 5)


@program
def infer_of_none():
    return ramp(0, 3).reshape(-1, 0),


@program
def transpose_then_view():
    return ramp(2, 3).t().view(6),


@program
def copy_broadcasts_and_converts():
    x = ramp(2, 3, dtype=torch.float32)
    x.copy_(torch.tensor([1, 2, 3]))
    x[:, 0].copy_(torch.tensor(7.5, dtype=torch.float64))
    return x,


@program
def softmax_of_none_and_of_a_number():
    return torch.softmax(ramp(2, 0), 1), torch.softmax(torch.tensor(3.0), 0), torch.logsumexp(ramp(2, 0), 1)


@program
def clamp_at_its_ends():
    x = torch.tensor([-1.0, 0, 0.5, 1, 2], dtype=torch.float64, requires_grad=True)
    y = x.clamp(0, 1)
    y.sum().backward()
    return y, x.grad


@program
def std_of_one():
    x = ramp(1, 2, grad=True)
    return x.var(0, unbiased=False), x.var(1)


@program
def squeeze_in_the_middle_then_write():
    x = ramp(2, 1, 2, grad=True)
    y = x + 0
    y.squeeze(1).unsqueeze(0)[0, 1].copy_(torch.tensor([5.0, 6.0]))
    y[..., 0] += 1
    (y * ramp(2, 1, 2)).sum().backward()
    return y, x.grad

# Programs whose results here are not PyTorch's, and why.
DIFFERENCES = {
    "an_instance_of_one_value": "computed here: zeros",
    "bags_max": "equal elements share the gradient here, PyTorch gives it to the first",
    "binary_cross_entropy_at_its_ends": "PyTorch's least divisor is 1e-12 rounded to f32",
    "cholesky_of_an_indefinite_matrix": "NaN here",
    "determinants_of_singular_matrices": "PyTorch's gradient of a determinant of a matrix of rank n - 1 is 0; here it is the cofactors",
    "distances_of_equal_points": "equal differences share the gradient of the greatest here, PyTorch gives each all of it",
    "division_of_integers_by_zero": "refused for host tensors alone: a device's values are not read",
    "inverse_of_a_singular_matrix": "refused for host tensors alone: a device's values are not read",
    "losses_at_their_kinks": "PyTorch's derivative of soft_margin_loss is NaN where exp() overflows",
    "norm_of_none_without_limit": "0 here",
    "other_normalisations": "eps of rms_norm is 1e-6 here unless stated",
    "ranges_of_odd_steps": "an end of integers is not rounded down here",
    "running_logsumexp_of_infinities": "PyTorch's gradient is NaN at -inf",
    "scatter_reduce_amin": "PyTorch shares the gradient with an element that is not included",
}


def number(x):
    if isinstance(x, complex):
        return [number(x.real), number(x.imag)]
    return int(x) if isinstance(x, bool) else x if not isinstance(x, float) or math.isfinite(x) else str(x)


def result(y):
    if y is None:  # A gradient that there is none of.
        return None
    return {"type": NAMES[y.dtype], "dims": list(y.shape), "values": [number(v) for v in y.detach().flatten().tolist()]}


def record(f):
    try:
        results = f()
    except (RuntimeError, IndexError, ValueError) as error:
        return {"refused": str(error).splitlines()[0]}
    return {"results": [result(y) for y in (results if isinstance(results, tuple) else (results,))]}


def main():
    differences = {name: {"differs": reason} for name, reason in DIFFERENCES.items()}
    rows = [f'"{name}": {json.dumps(record(f) | differences.get(name, {}))}' for name, f in PROGRAMS.items()]
    pathlib.Path(__file__).with_name("edges.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")
    print(len(rows))


if __name__ == "__main__":
    main()
