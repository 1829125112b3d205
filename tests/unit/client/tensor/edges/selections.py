"""Selections, scatters and orders at edges, as generate.py records them."""
import torch
import torch.nn.functional as F

from programs import backward, backward_sum, inf, ints, leaf, nan, program, ramp, values


@program
def scatter_reduce_sum():
    x, s = leaf([2, 3, 4], 3), leaf([2, 3, 3, 5], 4)
    i = ints([0, 0, 0, 2])
    y, z = x.scatter_reduce(0, i, s, "sum"), x.scatter_reduce(0, i, s, "sum", include_self=False)
    backward(y + 2 * z)
    return y, z, x.grad, s.grad


@program
def scatter_reduce_prod():
    x, s = leaf([2, 3, 4], 3), leaf([2, 3, 3, 5], 4)
    i = ints([0, 0, 0, 2])
    y, z = x.scatter_reduce(0, i, s, "prod"), x.scatter_reduce(0, i, s, "prod", include_self=False)
    backward(y + 2 * z)
    return y, z, x.grad, s.grad


@program
def scatter_reduce_mean():
    x, s = leaf([2, 3, 4], 3), leaf([2, 3, 3, 5], 4)
    i = ints([0, 0, 0, 2])
    y, z = x.scatter_reduce(0, i, s, "mean"), x.scatter_reduce(0, i, s, "mean", include_self=False)
    backward(y + 2 * z)
    return y, z, x.grad, s.grad


@program
def scatter_reduce_amax():
    x, s = leaf([2, 3, 4], 3), leaf([2, 3, 3, 5], 4)
    i = ints([0, 0, 0, 2])
    y, z = x.scatter_reduce(0, i, s, "amax"), x.scatter_reduce(0, i, s, "amax", include_self=False)
    backward(y + 2 * z)
    return y, z, x.grad, s.grad


@program
def scatter_reduce_amin():
    x, s = leaf([2, 3, 4], 3), leaf([2, 3, 3, 5], 4)
    i = ints([0, 0, 0, 2])
    y, z = x.scatter_reduce(0, i, s, "amin"), x.scatter_reduce(0, i, s, "amin", include_self=False)
    backward(y + 2 * z)
    return y, z, x.grad, s.grad


@program
def scatter_reduce_prod_of_zeros():
    x, s = leaf([2, 0, 4], 3), leaf([0, 3, 0, 5], 4)
    y = x.scatter_reduce(0, ints([0, 0, 1, 2]), s, "prod")
    backward(y)
    return y, x.grad, s.grad


@program
def scatter_reduce_of_integers():
    x, i = ints([7, -7, 1]), ints([0, 1, 1])
    s = ints([2, 1, 1])
    return x.scatter_reduce(0, i, s, "mean"), x.scatter_reduce(0, i, s, "mean", include_self=False), x.scatter_reduce(0, i, s, "amax", include_self=False)


@program
def scatter_add_of_a_smaller_index():
    x, s = leaf([1, 2, 3, 4, 5, 6], 2, 3), leaf([1, 2], 1, 2)
    y = x.scatter_add(1, ints([[2, 2]]), s) + x.scatter(1, ints([[0]]), s.detach())
    backward(y * y)
    return y, x.grad, s.grad


@program
def index_reduce_of_ties():
    x, s = leaf([1, 5, 2], 3), leaf([5, 5, 1, 2], 4)
    y = x.index_reduce(0, ints([1, 1, 0, 2]), s, "amax")
    z = x.index_reduce(0, ints([1, 1, 0, 2]), s, "mean", include_self=False)
    backward(y + z)
    return y, z, x.grad, s.grad


@program
def index_add_with_alpha():
    x, s = leaf([1, 2, 3], 3), leaf([1, 2, 3], 3)
    y = x.index_add(0, ints([2, 2, 0]), s, alpha=-2)
    backward(y * y)
    return y, x.grad, s.grad


@program
def index_add_of_an_empty_source():
    x, s = leaf([1, 2, 3, 4, 5, 6], 3, 2), ramp(0, 2, grad=True)
    y = x.index_add(0, torch.zeros(0, dtype=torch.int64), s)
    backward(y)
    return y, x.grad, s.grad


@program
def index_copy_and_fill():
    x, s = leaf([1, 2, 3], 3), leaf([4, 5], 2)
    v = torch.tensor(7.0, dtype=torch.float64, requires_grad=True)
    y, z = x.index_copy(0, ints([2, 0]), s), x.index_fill(0, ints([2, 1]), v)
    backward(y * z)
    return y, z, x.grad, s.grad, v.grad


@program
def put_of_two_indices():
    x, v = leaf(range(1, 10), 3, 3), leaf([10, 20, 30], 3)
    y = (x * 1).index_put((ints([0, 0, 2]), ints([1, 1, -1])), v, accumulate=True)
    backward(y)
    return y, x.grad, v.grad


@program
def put_of_a_number():
    x, v = leaf(range(1, 7), 3, 2), torch.tensor(9.0, dtype=torch.float64, requires_grad=True)
    y = (x * 1).index_put((ints([0, 2]),), v)
    backward(y)
    return y, x.grad, v.grad


@program
def put_where_a_mask_is_true():
    x, v = leaf(range(1, 7), 2, 3), leaf([10, 20, 30], 3)
    y = x * 1
    y[y.detach() > 3] = v
    backward(y)
    return y, x.grad, v.grad


@program
def put_into_a_row_of_a_transpose():
    x, v = leaf(range(1, 7), 2, 3), leaf([10, 20], 2)
    y = x * 1
    y.t()[1:].index_put_((ints([0, 1]), ints([1, 0])), v)
    backward(y)
    return y, x.grad, v.grad


@program
def masked_scatter_of_more_than_needed():
    x, s = leaf(range(1, 7), 2, 3), leaf([10, 20, 30, 40], 4)
    y = x.masked_scatter(torch.tensor([True, False, True]), s)
    backward(y)
    return y, x.grad, s.grad


@program
def masked_fill_by_a_tensor():
    x, v = leaf(range(1, 7), 2, 3), torch.tensor(9.0, dtype=torch.float64, requires_grad=True)
    y = x.masked_fill(torch.tensor([True, False, True]), v)
    backward(y * y)
    return y, x.grad, v.grad


@program
def scatters_of_views():
    x, a, b, c = leaf(range(1, 10), 3, 3), leaf([1, 2, 3], 3), leaf([4, 5, 6], 3, 1), leaf([7, 8], 2)
    y = x.select_scatter(a, 0, -1).slice_scatter(b, 1, 0, 3, 3).diagonal_scatter(c, 1)
    backward(y)
    return y, x.grad, a.grad, b.grad, c.grad


@program
def take_of_negatives():
    x = leaf(range(1, 7), 2, 3)
    y = torch.take(x, ints([[-1, 0], [5, -6]]))
    z = torch.take_along_dim(x, ints([[0, 0, 1]]), 0)
    backward(y)
    backward(z)
    return y, z, x.grad


@program
def segments_without_elements():
    x = leaf([1, 5, 5, 2], 4)
    lengths = ints([0, 3, 1])
    y = [torch.segment_reduce(x, r, lengths=lengths, initial=0.5) for r in ("sum", "mean", "max", "min", "prod")]
    backward(sum(y))
    return *y, x.grad


@program
def embedding_with_padding():
    w = leaf(range(1, 9), 4, 2)
    y = F.embedding(ints([[0, 3, 3], [2, 0, 2]]), w, padding_idx=-1)
    backward(y)
    z = leaf(range(1, 9), 4, 2)
    backward(F.embedding(ints([0, 0, 0, 1]), z, scale_grad_by_freq=True))
    return y, w.grad, z.grad


@program
def bags_sum():
    w = leaf([1, 5, 3, 5, 3, 2, 0, 0], 4, 2)
    y = F.embedding_bag(ints([0, 1, 1, 2, 3]), w, ints([0, 0, 3, 5]), mode="sum", padding_idx=2)
    backward(y)
    return y, w.grad


@program
def bags_mean():
    w = leaf([1, 5, 3, 5, 3, 2, 0, 0], 4, 2)
    y = F.embedding_bag(ints([0, 1, 1, 2, 3]), w, ints([0, 0, 3, 5]), mode="mean", padding_idx=2)
    backward(y)
    return y, w.grad


@program
def bags_max():
    w = leaf([1, 5, 3, 5, 3, 2, 0, 0], 4, 2)
    y = F.embedding_bag(ints([0, 1, 1, 2, 3]), w, ints([0, 0, 3, 5]), mode="max", padding_idx=2)
    backward(y)
    return y, w.grad


@program
def repeats_of_zero():
    x = leaf([1, 2, 3], 3)
    y = x.repeat_interleave(ints([0, 2, 1]))
    backward(y * y)
    return y, x.repeat_interleave(0), x.repeat(0, 2), x.tile(2), x.grad


@program
def median_of_an_even_count():
    x = leaf([4, 1, 3, 2, nan, 1], 2, 3)
    v, i = x.median(1)
    backward(v.nan_to_num(0))
    w, j = x.nanmedian(1)
    backward(w)
    return v, i, w, j, x.median(), x.nanmedian(), x.grad


@program
def nanmedian_of_nothing_but_nan():
    return values([nan, nan], 2).nanmedian(), values([nan, nan], 2).nanmedian(0)[0], torch.nanquantile(values([nan, nan], 2), 0.5), values([nan, nan], 2).nanmean(), values([nan, nan], 2).nansum()


@program
def mode_of_ties():
    x = leaf([3, 1, 3, 1, 2, 2, 5, 4], 2, 4)
    v, i = x.mode(1)
    backward(v)
    return v, x.grad


@program
def kthvalue_of_nan():
    x = leaf([nan, 1, 3, 2], 4)
    a, i = x.kthvalue(4)
    b, j = x.kthvalue(2, keepdim=True)
    b.sum().backward()
    return a, i, b, j, x.grad


@program
def kthvalue_beyond():
    return ramp(3).kthvalue(4)[0]


@program
def topk_of_nan():
    x = leaf([nan, 1, 3, 2], 4)
    a, i = x.topk(2)
    b, j = x.topk(2, largest=False)
    backward(b)
    return a, i, b, j, x.topk(0)[0], x.grad


@program
def topk_beyond():
    return ramp(3).topk(4)[0]


@program
def sort_of_nan_is_stable():
    x = leaf([2, nan, 1, 2, -0.0, 0], 6)
    a, i = torch.sort(x, stable=True)
    b, j = torch.sort(x, stable=True, descending=True)
    backward(a.nan_to_num(0))
    return a, i, b, j, x.grad


@program
def sort_of_bools_and_numbers():
    a, i = torch.sort(torch.tensor([True, False, True, False]), stable=True)
    b, j = torch.sort(torch.tensor(3.0), stable=True)
    c, k = torch.sort(ramp(0, 2), dim=0, stable=True)
    return a, i, b, j, c, k


@program
def quantile_linear():
    x, q = leaf([4, 1, 3, 2, 2, 7, 5, 6], 2, 4), values([0, 0.5, 0.9, 1], 4)
    y = torch.quantile(x, q, 1, interpolation="linear")
    backward(y)
    return y, x.grad


@program
def quantile_lower():
    x, q = leaf([4, 1, 3, 2, 2, 7, 5, 6], 2, 4), values([0, 0.5, 0.9, 1], 4)
    y = torch.quantile(x, q, 1, interpolation="lower")
    backward(y)
    return y, x.grad


@program
def quantile_higher():
    x, q = leaf([4, 1, 3, 2, 2, 7, 5, 6], 2, 4), values([0, 0.5, 0.9, 1], 4)
    y = torch.quantile(x, q, 1, interpolation="higher")
    backward(y)
    return y, x.grad


@program
def quantile_midpoint():
    x, q = leaf([4, 1, 3, 2, 2, 7, 5, 6], 2, 4), values([0, 0.5, 0.9, 1], 4)
    y = torch.quantile(x, q, 1, interpolation="midpoint")
    backward(y)
    return y, x.grad


@program
def quantile_nearest():
    x, q = leaf([4, 1, 3, 2, 2, 7, 5, 6], 2, 4), values([0, 0.5, 0.9, 1], 4)
    y = torch.quantile(x, q, 1, interpolation="nearest")
    backward(y)
    return y, x.grad


@program
def quantile_of_none():
    return torch.quantile(ramp(0), 0.5)


@program
def argmax_of_ties_and_nan():
    x = values([1, 3, 3, nan, 1, nan], 2, 3)
    return x.argmax(1), x.argmin(1), x.argmax(), x.argmin(1, keepdim=True), *x.max(1), *x.min(0)


@program
def running_extremes_of_nan():
    x = leaf([1, 3, 3, nan, 5, 2], 6)
    a, i = x.cummax(0)
    b, j = x.cummin(0)
    backward(a.nan_to_num(0) + 2 * b.nan_to_num(0))
    return a, i, b, j, x.grad


@program
def running_results_of_other_types():
    x = torch.tensor([True, True, False])
    return x.cumsum(0), torch.tensor([200, 100], dtype=torch.uint8).cumsum(0), torch.tensor([-3, 2], dtype=torch.int8).cumprod(0), ramp(0, 2).cumsum(0), torch.tensor(3.0).cumsum(0)


@program
def running_products_of_zeros():
    x = leaf([2, 0, 3, 0, 5], 5)
    y = x.cumprod(0)
    g, = torch.autograd.grad((y * ramp(5)).sum(), x, create_graph=True)
    backward(g)
    return y, g, x.grad


@program
def products_of_zeros_twice():
    x = leaf([2, 0, 3, 0, 0, 5], 2, 3)
    g, = torch.autograd.grad(backward_sum(x.prod(1)), x, create_graph=True)
    backward(g)
    return g, x.grad


@program
def running_logsumexp_of_infinities():
    x = leaf([-inf, -inf, 1, 2], 4)
    y = x.logcumsumexp(0)
    (y * values([0, 0, 1, 2], 4)).nansum().backward()
    return y, x.grad


@program
def differences_with_ends():
    x, a = leaf([1, 4, 9], 3), leaf([7], 1)
    y = x.diff(n=2, prepend=a, append=a)
    backward(y)
    return y, x.diff(n=5), torch.tensor([True, False, False]).diff(), x.grad, a.grad


@program
def places_among_sorted():
    s = values([1, 2, 2, 3, inf], 5)
    v = values([2, nan, -inf, inf, 0.5], 5)
    return torch.searchsorted(s, v), torch.searchsorted(s, v, right=True), torch.bucketize(v, s), torch.bucketize(v, s, right=True)


@program
def counts():
    i = ints([3, 0, 3])
    return i.bincount(minlength=6), i.bincount(weights=values([0.5, 1, 2], 3)), torch.bincount(torch.zeros(0, dtype=torch.int64)), torch.histc(values([0, 1, 1, 2, 5], 5), 4, 0, 2), torch.histc(values([3, 3], 2), 2)


@program
def unique_of_nan():
    v, i, c = torch.unique(values([2, nan, 2, nan, 1], 5), return_inverse=True, return_counts=True)
    w, j, e = torch.unique_consecutive(ints([1, 1, 2, 1]), return_inverse=True, return_counts=True)
    return v, i, c, w, j, e
