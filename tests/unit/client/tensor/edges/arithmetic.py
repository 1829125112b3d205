"""Reductions, numbers of all types, and updates under views at edges, as generate.py records them."""
import torch

from programs import backward, inf, ints, leaf, nan, program, ramp, values


@program
def extremes_of_none():
    return ramp(0, 3).max(0)[0]


@program
def argmax_of_none():
    return ramp(0).argmax()


@program
def max_along_what_is_there_of_none():
    return ramp(0, 3).amax(1), ramp(0, 3).max(1)[1], ramp(2, 0).argmax(0), ramp(0, 3).median(1)[0], ramp(0).median()


@program
def other_reductions_of_none():
    x = ramp(2, 0)
    return x.all(1), x.any(1), x.all(), x.logsumexp(1), x.std(1), x.var(), x.norm(), x.norm(1), x.norm(0), x.count_nonzero(1), x.nansum(1), x.nanmean(1)


@program
def norm_of_none_without_limit():
    return torch.linalg.vector_norm(ramp(0), inf)


@program
def mean_of_integers():
    return ints([1, 2]).mean()


@program
def sums_of_small_types():
    b = torch.tensor([True, True])
    return b.sum(), torch.tensor([200, 100], dtype=torch.uint8).sum(), torch.tensor([100, 100], dtype=torch.int8).prod(), b.prod(), torch.tensor([60000, 60000], dtype=torch.float16).sum(), b.any(), torch.tensor([0, 3], dtype=torch.uint8).any(), torch.tensor([0.5, nan]).all()


@program
def deviation_beyond_its_count():
    x = leaf([1, 2, 4], 3)
    y = x.var(correction=3), x.std(correction=5), torch.tensor(2.0, dtype=torch.float64).std()
    z = x.std(correction=0)
    z.backward()
    return *y, z, x.grad


@program
def norms_at_zero():
    x = leaf([0, 0, 3, -4, 0, 0], 3, 2)
    y = [torch.linalg.vector_norm(x, p, 1) for p in (0, 1, 2, 3, inf, -inf)]
    backward(sum(y))
    return *y, x.grad


@program
def second_derivatives_at_kinks():
    x = leaf([-1, 0, 0, 2], 4)
    f = (x.abs() * x + x.relu() ** 2 + x.clamp(0, 1) * x + torch.maximum(x, x.detach()) * x).sum()
    g, = torch.autograd.grad(f, x, create_graph=True)
    backward(g)
    return g, x.grad


@program
def second_derivative_of_a_norm():
    x = leaf([3, 0, -4], 3)
    g, = torch.autograd.grad(torch.linalg.vector_norm(x, 2), x, create_graph=True)
    backward(g)
    y = leaf([1, 2, 4], 3)
    h, = torch.autograd.grad(y.std(), y, create_graph=True)
    backward(h)
    return g, x.grad, h, y.grad


@program
def logsumexp_of_infinities():
    x = leaf([-inf, -inf, inf, 1, -inf, 2], 3, 2)
    y = x.logsumexp(1)
    y[2].backward()
    return y, x.grad


@program
def derivatives_at_poles():
    x = leaf([0, -0.0, 1], 3)
    y = [x.sqrt(), x.pow(0.5), x.pow(1.5), x.log(), x.reciprocal(), torch.atan2(x, x * 0), torch.xlogy(x, x), torch.hypot(x, x * 0), torch.sinc(x)]
    g = [torch.autograd.grad(z.sum(), x)[0] for z in y]
    return *g,


@program
def powers_at_zero_by_exponent():
    b, e = leaf([0, 0, 0, -2, 4], 5), leaf([2, 0, -1, 2, 0.5], 5)
    y = b ** e
    y.sum().backward()
    z = leaf([0, 1, 2], 3)
    (0.0 ** z).sum().backward()
    return y, b.grad, e.grad, z.grad


@program
def signs_of_remainders():
    a, b = values([5.5, -5.5, 5.5, -5.5, -0.0, 5, -5, 1], 8), values([2, 2, -2, -2, 3, inf, inf, 0], 8)
    return torch.remainder(a, b), torch.fmod(a, b), torch.floor_divide(a, b), torch.div(a, b, rounding_mode="trunc"), torch.div(a, b, rounding_mode="floor")


@program
def derivatives_of_remainders():
    a, b = leaf([5.5, -5.5, 6, -7], 4), leaf([2, 2, 3, -2], 4)
    y = torch.remainder(a, b) + 2 * torch.fmod(a, b)
    backward(y)
    return y, a.grad, b.grad


@program
def division_of_integers_by_zero():
    return torch.remainder(ints([5]), ints([0]))


@program
def integers_that_wrap():
    u, s = torch.tensor([255, 0], dtype=torch.uint8), torch.tensor([-128, 127], dtype=torch.int8)
    return u + 1, -u, s.abs(), -s, s + s, u * u, ~u, ~s, s.square(), u - 1, ints([2**62]) * 4


@program
def shifts():
    x = ints([-8, 7])
    return x << 1, x >> 1, torch.tensor([200], dtype=torch.uint8) >> 1, torch.tensor([-128], dtype=torch.int8) >> 7, torch.tensor([200], dtype=torch.uint8) << 1


@program
def powers_of_integers():
    x = ints([-2, 0, 3])
    return x ** 3, x ** 0, 2 ** ints([0, 3]), x ** 0.5, x.to(torch.int8) ** 5, (-1) ** ints([3, 4]), x ** torch.tensor(2.0)


@program
def negative_power_of_integers():
    return ints([2]) ** -1


@program
def negative_powers_of_integers():
    return ints([1, -1, 2, 0]) ** ints([-1, -1, -1, 0])


@program
def types_with_numbers():
    b, u, h = torch.tensor([True, False]), torch.tensor([1, 2], dtype=torch.uint8), torch.tensor([1, 2], dtype=torch.float16)
    return b + 1, b + 1.5, b * True, u + 1.5, h + 1e10, h * ints([3]), torch.tensor([1, 2], dtype=torch.int32) * 1.5, u + torch.tensor([-1, 1], dtype=torch.int8), h + torch.tensor([1, 2], dtype=torch.bfloat16), u / u, torch.where(b, 1, 2.5), b.sum() / 2, ints([1, 2]) * torch.tensor(2.5, dtype=torch.float16), torch.tensor(3, dtype=torch.int64) + u


@program
def a_number_that_does_not_fit():
    return torch.tensor([1, 2], dtype=torch.uint8).fill_(300)


@program
def bools_that_are_subtracted():
    b = torch.tensor([True, False])
    return b - b


@program
def roundings():
    x = values([0.5, 1.5, 2.5, -0.5, -1.5, nan, inf, 2.675], 8)
    return x.round(), x.round(decimals=2), (x * 100).round(decimals=-2), x.trunc(), x.frac(), x.sign(), torch.signbit(x), x.floor().to(torch.float32), x.nan_to_num()[6:].to(torch.float64)


@program
def clamps_the_wrong_way_round():
    x = leaf([-1, 0, 2, nan], 4)
    lo, hi = leaf([1, 1, 1, 1], 4), leaf([0, 0, 0, 0], 4)
    y = x.clamp(lo, hi)
    y[:3].sum().backward()
    return y, x.clamp(2, 1), x.clamp(max=1), ints([1, 5]).clamp(2.5), x.grad, lo.grad, hi.grad


@program
def gcds():
    a, b = ints([12, -12, 0, 0, 7]), ints([18, 18, 5, 0, -7])
    return torch.gcd(a, b), torch.lcm(a, b)


@program
def conversions_to_integers():
    x = values([2.9, -2.9, 127.5], 3)
    return x.to(torch.int8), x.to(torch.int64), x.to(torch.bool), values([nan, 0, -0.0], 3).to(torch.bool), ints([300, -1]).to(torch.uint8), ints([2**31]).to(torch.int32), ints([2**53 + 1]).to(torch.float64)


@program
def ranges_of_odd_steps():
    return torch.arange(0, 1, 0.3), torch.arange(5, 0, -2), torch.arange(0, 0), torch.linspace(0, 1, 1), torch.linspace(0, 1, 0), torch.linspace(3, -1, 4, dtype=torch.float64), torch.logspace(0, 2, 3, base=3), torch.arange(1, 2.5, dtype=torch.int64)


@program
def overlapping_parts_added():
    x = ramp(4)
    x[1:].add_(x[:-1])
    return x,


@program
def a_matrix_added_to_its_transpose():
    x = ramp(2, 2)
    x.t().add_(x)
    return x,


@program
def a_tensor_added_to_itself():
    x = leaf([1, 2], 2)
    y = x * 1
    y = y + y
    y = y * y
    backward(y)
    return y, x.grad


@program
def chunks_written_and_joined():
    x = leaf(range(1, 11), 2, 5)
    y = x * 1
    a, b, c = y[:, :2], y[:, 2:4], y[:, 4:]
    a.mul_(2)
    c.zero_()
    b[:, 0].copy_(c.detach()[:, 0] + 1)
    z = torch.cat([c, a, b], 1)
    backward(z)
    return y, z, x.grad


@program
def a_strided_slice_scaled():
    x = leaf(range(1, 8), 7)
    y = x * 1
    y[1::3].mul_(y[::3][:2].detach().clone())
    y[::2][1:3].fill_(0)
    backward(y)
    return y, x.grad


@program
def filled_by_what_has_a_gradient():
    x, v = leaf(range(1, 5), 2, 2), torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    y = x * 1
    y[:, 1].fill_(v)
    y.diagonal().mul_(v)
    backward(y)
    return y, x.grad, v.grad


@program
def unfolded_windows_written():
    x = leaf(range(1, 7), 6)
    y = x * 1
    y.unfold(0, 2, 3)[1].mul_(10)
    y.unfold(0, 2, 2)[:, 1].add_(1)
    backward(y)
    return y, x.grad


@program
def strided_views_written():
    x = leaf(range(1, 7), 6)
    y = x * 1
    y.as_strided((2, 2), (3, 1), 1).mul_(values([2, 3, 4, 5], 2, 2))
    backward(y)
    return y, y.detach().as_strided((3, 2), (1, 3)), x.grad


@program
def a_view_beyond_its_storage():
    return ramp(4).as_strided((2, 3), (2, 1))


@program
def masked_parts_filled():
    x = leaf(range(1, 7), 2, 3)
    y = x * 1
    y.t()[1:].masked_fill_(torch.tensor([[True, False], [False, True]]), -1)
    y[0].masked_fill_(y[0].detach() > 2, 0)
    backward(y)
    return y, x.grad


@program
def running_sums_in_place():
    x = leaf(range(1, 7), 2, 3)
    y = x * 1
    y[1].cumsum_(0)
    y[:, 0].neg_()
    y.t()[2].sqrt_()
    backward(y)
    return y, x.grad


@program
def an_update_of_another_shape():
    x = ramp(3)
    x.add_(ramp(2, 3))
    return x,


@program
def gradients_of_a_gradient_not_asked():
    x, u = leaf([1, 2], 2), leaf([3, 4], 2)
    y = x * x
    g = torch.autograd.grad(y.sum(), [x, u], allow_unused=True, retain_graph=True)
    h, = torch.autograd.grad(y.sum(), y)
    return g[0], h


@program
def a_leaf_read_through_expands():
    x = leaf([1, 2], 2, 1)
    y = x.expand(2, 3)
    z = (y * y.t().reshape(2, 3)).sum() + x.expand(3, 2, 1).sum()
    z.backward()
    return z, x.grad


@program
def flips_rolls_and_turns():
    x = leaf(range(1, 7), 2, 3)
    y = x.roll((1, -4), (0, 1)) + x.flip(0, 1) * 2 + x.rot90(3).rot90() + x.roll(-7)
    backward(y)
    return y, x.grad


@program
def joined_with_the_empty_vector():
    x = leaf(range(1, 5), 2, 2)
    y = torch.cat([torch.zeros(0), x, torch.zeros(0)], 1)
    backward(y)
    return y, x.grad


@program
def triangles_of_wide_matrices():
    x = leaf(range(1, 7), 2, 3)
    y = x.tril(1) + 2 * x.triu(-1) + x.tril(-3)
    backward(y)
    return y, x.diag(), x.diag(2), x.diag(5), leaf([1, 2], 2).diag(-1), torch.diag_embed(ramp(2, 1), 1), torch.trace(x), x.grad
