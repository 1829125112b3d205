"""Losses, windows and normalisations at edges, as generate.py records them."""
import torch
import torch.nn.functional as F

from programs import backward, ints, leaf, nan, program, ramp, values


@program
def cross_entropy_of_ignored():
    x = leaf([1, 2, -1, 0, 0, 0, 3, 1, 2], 3, 3)
    t, w = ints([2, -100, 0]), values([1, 2, 0.5], 3)
    y = [F.cross_entropy(x, t), F.cross_entropy(x, t, w), F.cross_entropy(x, t, w, label_smoothing=0.2), F.cross_entropy(x, t, w, ignore_index=2, reduction="none") if False else F.cross_entropy(x, ints([2, 1, 0]), w, ignore_index=2, reduction="sum", label_smoothing=0.1)]
    sum(y).backward()
    return *y, F.cross_entropy(x, ints([-100, -100, -100])), F.cross_entropy(x, ints([-100, -100, -100]), reduction="sum"), x.grad


@program
def cross_entropy_of_probabilities():
    x, p, w = leaf([1, 2, -1, 0, 0, 0], 2, 3), leaf([0.5, 0.5, 0, 0.2, 0.3, 0.5], 2, 3), values([1, 2, 0.5], 3)
    y, z = F.cross_entropy(x, p, w, label_smoothing=0.1), F.cross_entropy(x, p, reduction="none")
    backward(z + y)
    return y, z, x.grad, p.grad


@program
def cross_entropy_of_images():
    x = leaf(range(1, 13), 1, 3, 2, 2)
    t = ints([[[0, -100], [2, 1]]])
    y = F.cross_entropy(x * x, t, reduction="none")
    backward(y)
    return y, F.nll_loss(x, t, values([1, 0, 0], 3)), F.nll_loss(x[:, :, 0, 0], ints([1]), values([1, 0, 0], 3)), x.grad


@program
def kl_of_zeros():
    x, t = leaf([-1, -2, -0.5, -3], 2, 2), leaf([0, 1, 0.5, 0.5], 2, 2)
    y, z = F.kl_div(x, t, reduction="batchmean"), F.kl_div(x, t.detach().log(), reduction="none", log_target=True)
    y.backward()
    return y, z, F.kl_div(x, t), x.grad, t.grad


@program
def binary_cross_entropy_at_its_ends():
    x, t = leaf([0, 1, 0, 1, 0.5], 5), values([0, 1, 1, 0, 0.5], 5)
    y = F.binary_cross_entropy(x, t, reduction="none")
    backward(y)
    z = leaf([0, 1000, -1000, 3], 4)
    v = F.binary_cross_entropy_with_logits(z, values([1, 0, 1, 0.5], 4), values([1, 2, 3, 4], 4), pos_weight=values([2, 1, 1, 3], 4), reduction="none")
    backward(v)
    return y, v, x.grad, z.grad


@program
def losses_at_their_kinks():
    x, t = leaf([0, 1, -1, 2, 0.5], 5), values([0, 0, 0, 0, 0], 5)
    y = [F.smooth_l1_loss(x, t, reduction="none"), F.smooth_l1_loss(x, t, beta=0.0, reduction="none"), F.huber_loss(x, t, delta=0.5, reduction="none"), F.l1_loss(x, t, reduction="none"), F.soft_margin_loss(x * 1000, t + 1, reduction="none"), F.hinge_embedding_loss(x, values([1, -1, -1, -1, 1], 5), reduction="none"), F.margin_ranking_loss(x, t, t + 1, margin=1.0, reduction="none")]
    backward(sum(y))
    return *y, x.grad


@program
def other_losses():
    x, t = leaf([0, 1, -1, 2, 0.5], 5), values([0, 1, 3, 0.5, 2], 5)
    y = [F.poisson_nll_loss(x, t, reduction="none"), F.poisson_nll_loss(x.abs(), t, log_input=False, full=True, reduction="none"), F.gaussian_nll_loss(x, t, t * t, reduction="none", full=True), F.mse_loss(x, t, reduction="none")]
    backward(sum(y))
    return *y, x.grad


@program
def similarities_of_zeros():
    x, t = leaf([0, 0, 1, 2, 3, 4], 3, 2), leaf([1, 2, 1, 2, 0, 0], 3, 2)
    y = F.cosine_similarity(x, t)
    backward(y)
    u, v = leaf([1, 1, 1, 2], 2, 2), leaf([1, 1, 3, 4], 2, 2)
    z = F.pairwise_distance(u, v)
    backward(z)
    w = F.triplet_margin_loss(u, v, u.detach() + 1, swap=True, reduction="none")
    return y, z, w, x.grad, t.grad, u.grad, v.grad


@program
def margins_of_classes():
    x = leaf([0.1, 0.2, 0.4, 0.8, 1, 0, 0, 1], 2, 4)
    y = F.multi_margin_loss(x, ints([3, 0]), p=2, margin=0.5, weight=values([1, 2, 3, 4], 4), reduction="none")
    z = F.multilabel_margin_loss(x, ints([[3, 0, -1, 1], [-1, 0, 0, 0]]), reduction="none")
    w = F.multilabel_soft_margin_loss(x, values([0, 1, 1, 0, 1, 0, 0, 1], 2, 4), reduction="none")
    backward(y + z + w)
    return y, z, w, x.grad


@program
def max_pool_of_ties_and_nan():
    x = leaf([1, 1, nan, 2, 2, 2, 3, 1, 3, 3, 0, 0, 5, 5, 1], 1, 3, 5)
    y, i = F.max_pool1d(x, 3, 2, padding=1, ceil_mode=True, return_indices=True)
    backward(y.nan_to_num(0))
    return y, i, x.grad


@program
def pools_that_reach_beyond():
    x = leaf(range(1, 21), 1, 1, 4, 5)
    y = [F.max_pool2d(x, 2, 3, 1, ceil_mode=True), F.max_pool2d(x, (3, 2), dilation=(1, 2)), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False), F.avg_pool2d(x, 2, divisor_override=3), F.avg_pool2d(x, (2, 4), ceil_mode=True)]
    for z in y:
        backward(z)
    return *y, x.grad


@program
def pools_of_uneven_parts():
    x = leaf(range(1, 15), 1, 2, 7)
    y, z = F.adaptive_avg_pool1d(x, 3), F.adaptive_avg_pool1d(x, 9)
    v, i = F.adaptive_max_pool1d(x, 4, return_indices=True)
    backward(y), backward(z), backward(v)
    w = F.lp_pool1d(x - 8, 3, 2, ceil_mode=True)
    u = F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), 2, output_size=[7])
    return y, z, v, i, w, u, x.grad


@program
def power_pools_at_zero():
    x = leaf([0, 0, 3, -4], 1, 1, 4)
    y = F.lp_pool1d(x, 2, 2)
    backward(y)
    return y, x.grad


@program
def convolutions_at_their_borders():
    x, k = leaf(range(1, 11), 1, 2, 5), leaf(range(1, 9), 2, 2, 2)
    y = [F.conv1d(x, k, padding="same"), F.conv1d(x, k, stride=3, padding=2, dilation=2), F.conv1d(x, k[:, :1], groups=2, padding="valid"), F.conv1d(x, k, padding="same", dilation=3), F.conv_transpose1d(x, k, stride=3, padding=2, output_padding=1, dilation=2), F.conv1d(x, k, padding=6)]
    for z in y:
        backward(z)
    return *y, x.grad, k.grad


@program
def convolutions_of_none():
    x, k = ramp(0, 2, 5, grad=True), leaf(range(1, 9), 2, 2, 2)
    y = F.conv1d(x, k)
    y.sum().backward()
    return y, k.grad, x.grad


@program
def a_kernel_larger_than_its_input():
    return F.conv1d(ramp(1, 1, 2), ramp(1, 1, 3))


@program
def paddings():
    x = leaf(range(1, 7), 1, 2, 3)
    y = [F.pad(x, (2, 2), mode="reflect"), F.pad(x, (3, 1), mode="circular"), F.pad(x, (4, 0), mode="replicate"), F.pad(x, (-1, 2, 1, -1), value=7.0), F.pad(x, (-1, 2), mode="replicate"), F.pad(x, (2, -1), mode="reflect")]
    for z in y:
        backward(z)
    return *y, x.grad


@program
def a_reflection_as_wide_as_its_input():
    return F.pad(ramp(1, 1, 3), (3, 0), mode="reflect")


@program
def columns_and_back():
    x = leaf(range(1, 21), 1, 1, 4, 5)
    y = F.unfold(x, (2, 3), dilation=(2, 1), padding=(1, 0), stride=(1, 2))
    z = F.fold(y, (4, 5), (2, 3), dilation=(2, 1), padding=(1, 0), stride=(1, 2))
    backward(z)
    return y, z, x.grad


@program
def interpolations_of_a_line():
    x = leaf([1, 5, 2, 8], 1, 1, 4)
    y = [F.interpolate(x, scale_factor=1.6), F.interpolate(x, size=3, mode="nearest-exact"), F.interpolate(x, size=7, mode="linear", align_corners=True), F.interpolate(x, size=1, mode="linear", align_corners=True), F.interpolate(x, scale_factor=1.6, mode="linear"), F.interpolate(x, scale_factor=1.6, mode="linear", recompute_scale_factor=True), F.interpolate(x, size=3, mode="area"), F.interpolate(x, size=9, mode="linear")]
    for z in y:
        backward(z)
    return *y, x.grad


@program
def interpolations_of_an_image():
    x = leaf(range(1, 13), 1, 1, 3, 4)
    y = [F.interpolate(x * x, size=(2, 7), mode="bicubic"), F.interpolate(x, size=(5, 2), mode="bicubic", align_corners=True), F.interpolate(x, size=(1, 9), mode="bilinear"), F.interpolate(x, scale_factor=(0.5, 1.3), mode="bilinear")]
    for z in y:
        backward(z)
    return *y, x.grad


@program
def samples_of_a_grid():
    x = leaf(range(1, 7), 1, 1, 2, 3)
    g = leaf([-1, -1, 0, 0, 1.2, -1.7, 3, 0.5, 0.25, -0.25, -2.6, 1], 1, 2, 3, 2)
    y = [F.grid_sample(x, g, m, p, align_corners=a) for m in ("bilinear", "nearest", "bicubic") for p in ("zeros", "border", "reflection") for a in (True, False)]
    for z in y:
        backward(z)
    return *y, x.grad, g.grad


@program
def normalisations_in_training():
    x, w, b = leaf([1, 2, 4, 8, 3, 3, 3, 3], 2, 2, 2), leaf([2, 3], 2), leaf([0.5, -1], 2)
    m, v = values([0.1, 0.2], 2), values([1, 2], 2)
    y = F.batch_norm(x, m, v, w, b, training=True, momentum=0.3)
    backward(y * y)
    return y, m, v, x.grad, w.grad, b.grad


@program
def normalisations_by_running_values():
    x, w = leaf([1, 2, 4, 8], 2, 2), leaf([2, 3], 2)
    m, v = values([0.1, 0.2], 2), values([1, 0], 2)
    y = F.batch_norm(x, m, v, w)
    backward(y)
    return y, m, v, x.grad, w.grad


@program
def a_batch_of_one_value():
    return F.batch_norm(ramp(1, 2), ramp(2), ramp(2), training=True)


@program
def an_instance_of_one_value():
    return F.instance_norm(ramp(1, 2, 1))


@program
def other_normalisations():
    x, w = leaf([1, 2, 4, 8, 3, 3, 3, 3], 2, 4), leaf([1, 2, 3, 4], 4)
    y = [F.layer_norm(x, (4,), w), F.layer_norm(x, (2, 4)), F.group_norm(x, 2, w), F.rms_norm(x, (4,), w), F.normalize(x * 0, dim=1), F.local_response_norm(x.reshape(1, 4, 2), 2).reshape(2, 4), F.layer_norm(ramp(2, 4) * 0, (4,))]
    for z in y[:4]:
        backward(z)
    return *y, F.layer_norm(ramp(0, 4), (4,)), x.grad, w.grad
