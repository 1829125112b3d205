"""torch.nn's layers and losses, forward and backward, on both devices.

Not here is what PyTorch/XLA 2.9 itself gets wrong on any device: gradients of elu, selu and celu for negative numbers, of
smooth_l1_loss by its target, and of BatchNorm in evaluation; the variance that BatchNorm keeps.
"""

import torch
from torch import nn
from torch.nn import functional as f

from support import PluginTest, array, integers, main

X = array(4, 6)
IMAGES = array(2, 3, 8, 8)
SERIES = array(2, 3, 10)
VOLUMES = array(1, 2, 4, 4, 4)
WORDS = integers(2, 5, low=0, high=7)


def layer(make):
    """A function that applies a freshly made layer, whose weights a fixed seed gives, and that is a leaf of nothing."""

    def run(x, *rest):
        torch.manual_seed(0)
        module = make()
        module.to(x.device)
        return module(x, *rest)

    return run


class Layers(PluginTest):

    def test_activations(self):
        names = "relu gelu silu mish softplus softsign leaky_relu hardtanh hardsigmoid hardswish logsigmoid tanhshrink"
        self.each_differentiated([(name, getattr(f, name), X) for name in names.split()])
        self.each_differentiated(
            [
                ("elu", lambda x: f.elu(x.abs()) + f.elu(x).detach(), X),
                ("selu", lambda x: f.selu(x.abs()) + f.celu(x).detach(), X),
                ("gelu tanh", lambda x: f.gelu(x, approximate="tanh"), X),
                ("softmax", lambda x: f.softmax(x, 1), X),
                ("log_softmax", lambda x: f.log_softmax(x, 0), X),
                ("softmin", lambda x: f.softmin(x, 1), X),
                ("glu", f.glu, X),
                ("prelu", f.prelu, X, torch.tensor([0.2])),
                ("threshold", lambda x: f.threshold(x, 0.1, 20), X),
                ("softshrink", lambda x: f.softshrink(x, 0.5), X),
                ("hardshrink", lambda x: f.hardshrink(x, 0.5), X),
                ("normalize", lambda x: f.normalize(x, dim=1), X),
                ("cosine_similarity", f.cosine_similarity, X, array(4, 6, seed=1)),
                ("pairwise_distance", f.pairwise_distance, X, array(4, 6, seed=1)),
            ]
        )

    def test_linear(self):
        self.each_differentiated(
            [
                ("Linear", layer(lambda: nn.Linear(6, 3)), X),
                ("Linear without bias", layer(lambda: nn.Linear(6, 3, bias=False)), X),
                ("Bilinear", layer(lambda: nn.Bilinear(6, 6, 3)), X, array(4, 6, seed=1)),
                ("float64", layer(lambda: nn.Linear(6, 3).double()), X.double()),
            ]
        )

    def test_convolutions(self):
        self.each_differentiated(
            [
                ("Conv1d", layer(lambda: nn.Conv1d(3, 4, 3, padding=1)), SERIES),
                ("Conv2d", layer(lambda: nn.Conv2d(3, 4, 3)), IMAGES),
                ("strided, padded", layer(lambda: nn.Conv2d(3, 4, 3, stride=2, padding=1)), IMAGES),
                ("dilated", layer(lambda: nn.Conv2d(3, 4, 3, dilation=2)), IMAGES),
                ("grouped", layer(lambda: nn.Conv2d(3, 6, 3, groups=3)), IMAGES),
                ("same", layer(lambda: nn.Conv2d(3, 4, 3, padding="same")), IMAGES),
                ("Conv3d", layer(lambda: nn.Conv3d(2, 3, 2)), VOLUMES),
                ("ConvTranspose1d", layer(lambda: nn.ConvTranspose1d(3, 4, 3, stride=2)), SERIES),
                ("ConvTranspose2d", layer(lambda: nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1)), IMAGES),
                ("reflected", layer(lambda: nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect")), IMAGES),
                ("circular", layer(lambda: nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular")), IMAGES),
                ("unfold", lambda x: f.unfold(x, 3, padding=1), IMAGES),
                ("fold", lambda x: f.fold(f.unfold(x, 2, stride=2), (8, 8), 2, stride=2), IMAGES),
            ],
            rtol=1e-4,
            atol=1e-3,
        )

    def test_pooling(self):
        self.each_differentiated(
            [
                ("max_pool1d", lambda x: f.max_pool1d(x, 2), SERIES),
                ("max_pool2d", lambda x: f.max_pool2d(x, 3, stride=2, padding=1), IMAGES),
                ("max_pool2d with places", lambda x: f.max_pool2d(x, 2, return_indices=True), IMAGES),
                ("max_pool3d", lambda x: f.max_pool3d(x, 2), VOLUMES),
                ("avg_pool1d", lambda x: f.avg_pool1d(x, 3), SERIES),
                ("avg_pool2d", lambda x: f.avg_pool2d(x, 3, stride=2, padding=1), IMAGES),
                ("avg_pool2d without padding", lambda x: f.avg_pool2d(x, 3, 2, 1, count_include_pad=False), IMAGES),
                ("avg_pool3d", lambda x: f.avg_pool3d(x, 2), VOLUMES),
                ("adaptive_avg_pool2d", lambda x: f.adaptive_avg_pool2d(x, (4, 2)), IMAGES),
                ("adaptive_avg_pool2d to one", lambda x: f.adaptive_avg_pool2d(x, 1), IMAGES),
                ("adaptive_max_pool2d", lambda x: f.adaptive_max_pool2d(x, 2), IMAGES),
                ("lp_pool2d", lambda x: f.lp_pool2d(x.abs() + 0.1, 2, 2), IMAGES),
            ],
            rtol=1e-4,
            atol=1e-4,
        )

    def test_normalization(self):
        self.each_differentiated(
            [
                ("BatchNorm1d", layer(lambda: nn.BatchNorm1d(6)), X),
                ("BatchNorm2d", layer(lambda: nn.BatchNorm2d(3)), IMAGES),
                ("LayerNorm", layer(lambda: nn.LayerNorm(6)), X),
                ("GroupNorm", layer(lambda: nn.GroupNorm(3, 6)), array(2, 6, 4)),
                ("InstanceNorm2d", layer(lambda: nn.InstanceNorm2d(3)), IMAGES),
                ("RMSNorm", layer(lambda: nn.RMSNorm(6)), X),
                ("local_response_norm", lambda x: f.local_response_norm(x, 2), IMAGES),
            ],
            rtol=1e-3,
            atol=1e-3,
        )

    def test_evaluation(self):
        self.same(layer(lambda: nn.BatchNorm2d(3).eval()), IMAGES)
        self.same(layer(lambda: nn.Dropout(0.5).eval()), X)

    def test_running_statistics(self):
        def run(x):
            norm = nn.BatchNorm2d(3).to(x.device)
            for _ in range(3):
                norm(x)
                x = x * 1.5
            return norm.running_mean, norm.num_batches_tracked  # PyTorch/XLA takes the biased variance for running_var.

        self.same(run, IMAGES)

    def test_images(self):
        self.each_differentiated(
            [
                ("nearest", lambda x: f.interpolate(x, scale_factor=2), IMAGES),
                ("bilinear", lambda x: f.interpolate(x, size=(5, 11), mode="bilinear", align_corners=False), IMAGES),
                ("bilinear with corners", lambda x: f.interpolate(x, size=(12, 12), mode="bilinear", align_corners=True), IMAGES),
                ("bicubic", lambda x: f.interpolate(x, size=(12, 12), mode="bicubic", align_corners=False), IMAGES),
                ("linear", lambda x: f.interpolate(x, size=7, mode="linear"), SERIES),
                ("area", lambda x: f.interpolate(x, size=(4, 4), mode="area"), IMAGES),
                ("pixel_shuffle", lambda x: f.pixel_shuffle(x, 2), array(1, 8, 3, 3)),
                ("pixel_unshuffle", lambda x: f.pixel_unshuffle(x, 2), IMAGES),
                ("grid_sample", lambda x, g: f.grid_sample(x, g, align_corners=False), IMAGES, array(2, 5, 5, 2) * 0.4),
                ("affine_grid", lambda t: f.affine_grid(t, (2, 3, 4, 4), align_corners=False), array(2, 2, 3)),
                ("reflection pad", lambda x: f.pad(x, (1, 1, 2, 0), mode="reflect"), IMAGES),
                ("replication pad", lambda x: f.pad(x, (1, 1, 2, 0), mode="replicate"), IMAGES),
            ],
            rtol=1e-4,
            atol=1e-3,
        )

    def test_words(self):
        self.each(
            [
                ("Embedding", layer(lambda: nn.Embedding(7, 4, padding_idx=2)), WORDS),
                ("EmbeddingBag", layer(lambda: nn.EmbeddingBag(7, 4, mode="mean")), WORDS),
                ("one_hot", lambda i: f.one_hot(i, 7), WORDS),
            ]
        )

        def gradient(i):
            torch.manual_seed(0)
            table = nn.Embedding(7, 4, padding_idx=2).to(i.device)
            (table(i) ** 2).sum().backward()
            return table.weight.grad

        self.same(gradient, WORDS)

    def test_recurrence(self):
        X = array(5, 2, 6)
        self.each_differentiated(
            [
                ("RNN", layer(lambda: nn.RNN(6, 4)), X),
                ("LSTM", layer(lambda: nn.LSTM(6, 4, num_layers=2)), X),
                ("GRU", layer(lambda: nn.GRU(6, 4, bidirectional=True)), X),
                ("LSTMCell", layer(lambda: nn.LSTMCell(6, 4)), X[0]),
                ("GRUCell", layer(lambda: nn.GRUCell(6, 4)), X[0]),
            ],
            rtol=1e-4,
            atol=1e-4,
        )

    def test_attention(self):
        Q, K, V = (array(2, 4, 5, 8, seed=seed) for seed in range(3))
        M = torch.ones(5, 5, dtype=torch.bool).tril()
        self.each_differentiated(
            [
                ("scaled_dot_product_attention", f.scaled_dot_product_attention, Q, K, V),
                ("causal", lambda q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True), Q, K, V),
                ("masked", lambda q, k, v, m: f.scaled_dot_product_attention(q, k, v, attn_mask=m), Q, K, V, M),
                ("MultiheadAttention", layer(lambda: nn.MultiheadAttention(8, 2, batch_first=True)), Q[0], K[0], V[0]),
                ("encoder layer", layer(lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True)), Q[0]),
                ("decoder layer", layer(lambda: nn.TransformerDecoderLayer(8, 2, 16, dropout=0)), Q[0], K[0]),
            ],
            rtol=1e-4,
            atol=1e-4,
        )


class Losses(PluginTest):

    def test_losses(self):
        Y, P, Q = array(4, 6, seed=1), array(4, 6, low=0.05, high=0.95), array(4, 6, low=0.05, high=0.95, seed=1)
        T = integers(4, low=0, high=6)
        S = torch.tensor([1.0, -1, 1, -1])
        self.each_differentiated(
            [
                ("mse_loss", f.mse_loss, X, Y),
                ("l1_loss", f.l1_loss, X, Y),
                ("smooth_l1_loss", lambda x, y: f.smooth_l1_loss(x, y.detach()), X, Y),
                ("huber_loss", f.huber_loss, X, Y),
                ("cross_entropy", f.cross_entropy, X, T),
                ("label smoothing", lambda x, t: f.cross_entropy(x, t, label_smoothing=0.1), X, T),
                ("ignored labels", lambda x, t: f.cross_entropy(x, t, ignore_index=1), X, torch.tensor([0, 1, 3, 1])),
                ("weighted", lambda x, t, w: f.cross_entropy(x, t, weight=w.detach()), X, T, P[0]),
                ("probabilities", lambda x, y: f.cross_entropy(x, y.softmax(1)), X, Y),
                ("nll_loss", lambda x, t: f.nll_loss(f.log_softmax(x, 1), t), X, T),
                ("nll_loss of images", lambda x, t: f.nll_loss(x, t), IMAGES, integers(2, 8, 8, low=0, high=3)),
                ("binary_cross_entropy", f.binary_cross_entropy, P, Q),
                ("with logits", f.binary_cross_entropy_with_logits, X, Q),
                ("kl_div", lambda x, q: f.kl_div(f.log_softmax(x, 1), q, reduction="batchmean"), X, Q),
                ("soft_margin_loss", lambda x, y: f.soft_margin_loss(x, y.detach().sign()), X, Y),
                ("margin_ranking_loss", lambda x, y, s: f.margin_ranking_loss(x[:, 0], y[:, 0], s), X, Y, S),
                ("triplet_margin_loss", f.triplet_margin_loss, X, Y, array(4, 6, seed=2)),
                ("cosine_embedding_loss", lambda x, y, s: f.cosine_embedding_loss(x, y, s.detach()), X, Y, S),
                ("hinge_embedding_loss", lambda x, y: f.hinge_embedding_loss(x, y.sign()), X, Y),
                ("poisson_nll_loss", f.poisson_nll_loss, X, Q),
                ("gaussian_nll_loss", lambda x, y, v: f.gaussian_nll_loss(x, y, v), X, Y, P),
                ("multi_margin_loss", f.multi_margin_loss, X, T),
                ("sums", lambda x, y: f.mse_loss(x, y, reduction="sum"), X, Y),
                ("none", lambda x, y: f.l1_loss(x, y, reduction="none"), X, Y),
                ("ctc_loss", ctc, array(6, 2, 5)),
            ],
            rtol=1e-4,
            atol=1e-4,
        )


def ctc(x):
    lengths = torch.tensor([6, 5]), torch.tensor([2, 3])
    labels = torch.tensor([[1, 2, 0], [3, 1, 4]], device=x.device)
    return f.ctc_loss(x.log_softmax(2), labels, *lengths)


if __name__ == "__main__":
    main()
