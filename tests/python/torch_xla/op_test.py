"""Operators of torch, torch.linalg, torch.fft and torch.special on both devices.

Not here is what PyTorch/XLA 2.9 itself gets wrong on any device: the right shift of negative numbers, quotients, means, abs(),
angle() and conj() of complex arrays, count_nonzero along a dimension, norm(inf) along a dimension.
"""

import torch

from support import PluginTest, array, integers, main

F, G, V = array(3, 4), array(3, 4, seed=1), array(4)
P = array(3, 4, low=0.1, high=2)
I, J = integers(3, 4), integers(3, 4, low=1, high=6, seed=1)
S = array(4, 4) @ array(4, 4).T + 4 * torch.eye(4)
H, B = array(3, 4, dtype=torch.float16), array(3, 4, dtype=torch.bfloat16)
C = array(3, 4, dtype=torch.complex64)


class Elementwise(PluginTest):

    def test_unary(self):
        of_all = "sin cos tan asinh exp expm1 sigmoid tanh abs neg sign floor ceil round trunc frac erf relu square atan sinh cosh isnan"
        self.each([(name, getattr(torch, name), F) for name in of_all.split()])
        positive = "sqrt rsqrt log log2 log10 log1p lgamma digamma reciprocal i0"
        self.each([(name, getattr(torch, name), P) for name in positive.split()], rtol=1e-4)
        unit = "asin acos atanh erfinv logit"
        self.each([(name, getattr(torch, name), F * 0.2 + 0.5) for name in unit.split()], rtol=1e-4)

    def test_special(self):
        names = "entr erfcx i0e i1 i1e ndtr log_ndtr ndtri sinc xlog1py zeta bessel_j0 bessel_j1"
        for name in names.split():
            with self.subTest(name):
                function = getattr(torch.special, name)
                arguments = [P * 0.4] if name not in ("xlog1py", "zeta") else [P + 1, P + 0.5]
                self.same(function, *arguments, rtol=1e-4, atol=1e-5)

    def test_binary(self):
        names = "add sub mul div atan2 maximum minimum fmod remainder hypot eq ne lt ge copysign"
        self.each([(name, getattr(torch, name), F, G) for name in names.split()])
        self.each(
            [
                ("pow", torch.pow, P, G),
                ("pow of a number", lambda x: 2.0**x, F),
                ("pow by a number", lambda x: x**3, F),
                ("floor_divide", torch.floor_divide, F, P),
                ("div trunc", lambda x, y: torch.div(x, y, rounding_mode="trunc"), F, G),
                ("lerp", lambda x, y: torch.lerp(x, y, 0.3), F, G),
                ("addcmul", lambda x, y: torch.addcmul(x, y, y, value=0.5), F, G),
                ("addcdiv", lambda x, y: torch.addcdiv(x, x, y), F, P),
                ("clamp", lambda x: x.clamp(-0.5, 0.7), F),
                ("clamp by tensors", lambda x, y: x.clamp(y - 1, y), F, G),
                ("where", lambda x, y: torch.where(x > 0, x, y), F, G),
                ("where of a number", lambda x: torch.where(x > 0, x, -1.0), F),
                ("broadcast", lambda x, y: x[:, None] * y, F, V),
                ("logaddexp", torch.logaddexp, F, G),
                ("xlogy", torch.xlogy, P, P),
                ("nan_to_num", lambda x: (x / (x - x)).nan_to_num(7.0, 1.0, -1.0), F),
                ("heaviside", torch.heaviside, F, G),
                ("nextafter", torch.nextafter, F, G),
                ("float_power", lambda x: torch.float_power(x, 2), F),
                ("dist", torch.dist, F, G),
                ("isclose", lambda x, y: torch.isclose(x, y, atol=0.5), F, G),
            ]
        )

    def test_integers(self):
        names = "add sub mul maximum minimum bitwise_and bitwise_or bitwise_xor floor_divide remainder fmod eq lt gcd"
        self.each([(name, getattr(torch, name), I, J) for name in names.split()])
        self.each(
            [
                ("shifts", lambda x, y: (x << y, x.abs() >> y), I, J),
                ("not", lambda x: ~x, I),
                ("true division", lambda x, y: x / y, I, J),
                ("int8 wraps", lambda x: x.to(torch.int8) * 100, I),
                ("uint8", lambda x: x.to(torch.uint8) + 250, J),
                ("int16 and int32", lambda x, y: x.to(torch.int16) * y.to(torch.int32), I, J),
                ("bool", lambda x: (x > 0) & ~(x > 3) | (x == 0), I),
                ("abs and sign", lambda x: (x.abs(), x.sign()), I),
                ("popcount by parts", lambda x: sum(((x.abs() >> i) & 1) for i in range(4)), I),
                ("int64 beyond 32 bits", lambda x: x * 10**12 + 1, I),
            ]
        )

    def test_types(self):
        for name, x in (("float16", H), ("bfloat16", B), ("float64", F.double()), ("complex64", C)):
            with self.subTest(name):
                self.same(lambda x: (x * 2 + 1, x * x, x.sum(), x @ x.T), x)
        self.each(
            [
                ("promotion", lambda h, b, i: (h + b, h + i, b * 2.5), H, B, I),
                ("double and float", lambda x: x.double() + x, F),
                ("float to int", lambda x: (x * 10).to(torch.int32), F),
                ("complex", lambda z: (z.real, z.imag, z * z, torch.exp(z), z - z.flip(1)), C),
                ("view_as_real", torch.view_as_real, C),
                ("view_as_complex", lambda x: torch.view_as_complex(x.reshape(3, 2, 2)), F),
                ("polar", torch.polar, P, F),
                ("view as integers", lambda x: x.view(torch.int32), F),
                ("view as bytes", lambda x: x.view(torch.uint8), F),
            ]
        )


class Reductions(PluginTest):

    def test_reductions(self):
        names = "sum mean prod amax amin argmax argmin logsumexp std var norm any all"
        for name in names.split():
            for dim in (0, -1):
                with self.subTest(name, dim=dim):
                    self.same(lambda x, name=name, dim=dim: getattr(torch, name)(x, dim=dim), F)
        self.each(
            [
                ("all elements", lambda x: (x.sum(), x.mean(), x.max(), x.min(), x.std(), x.var(unbiased=False), x.norm()), F),
                ("max and its place", lambda x: x.max(dim=1), F),
                ("min keepdim", lambda x: x.min(dim=0, keepdim=True), F),
                ("several dims", lambda x: (x.sum((0, 1)), x.mean((0, 1), keepdim=True), x.amax((0, 1))), F),
                ("std_mean", lambda x: torch.std_mean(x, 1), F),
                ("sum of bools", lambda x: (x > 0).sum(), F),
                ("sum as double", lambda x: x.sum(dtype=torch.float64), F),
                ("median", lambda x: x.median(dim=1), F),
                ("median of all", lambda x: x.median(), F),
                ("mode", lambda x: torch.mode(x, 1).values, I),
                ("quantile", lambda x: torch.quantile(x, torch.tensor([0.1, 0.5], device=x.device), dim=1), F),
                ("nansum", lambda x: torch.nansum(torch.where(x > 0, x, float("nan"))), F),
                ("aminmax", lambda x: torch.aminmax(x, dim=0), F),
                ("norms", lambda x: (x.norm(1), x.abs().amax(1), torch.linalg.vector_norm(x, 3)), F),
                ("histc", lambda x: torch.histc(x, 5, -2, 2), F),
                ("bincount", lambda x: torch.bincount(x.flatten(), minlength=8), J),
                ("cov", torch.cov, F),
                ("corrcoef", torch.corrcoef, F),
                ("cdist", torch.cdist, F, G),
                ("bfloat16 sum", lambda x: x.sum(1), B),
            ]
        )

    def test_scans(self):
        self.each(
            [
                ("cumsum", lambda x: (x.cumsum(0), x.cumsum(1)), F),
                ("cumprod", lambda x: x.cumprod(1), F),
                ("cummax", lambda x: x.cummax(1), F),
                ("logcumsumexp", lambda x: x.logcumsumexp(1), F),
                ("cumsum of integers", lambda x: x.cumsum(1), I),
                ("diff", lambda x: x.diff(dim=1), F),
                ("trapezoid", lambda x: torch.trapezoid(x, dim=1), F),
            ]
        )

    def test_sorts(self):
        X = torch.randperm(60, generator=torch.Generator().manual_seed(1)).reshape(3, 20).float()
        self.each(
            [
                ("sort", lambda x: x.sort(dim=1), X),
                ("sort descending", lambda x: x.sort(dim=0, descending=True), X),
                ("stable sort", lambda x: torch.sort(x, dim=1, stable=True), I),
                ("argsort", lambda x: x.argsort(dim=1), X),
                ("topk", lambda x: x.topk(5, dim=1), X),
                ("topk of the smallest", lambda x: x.topk(2, dim=0, largest=False), X),
                ("kthvalue", lambda x: x.kthvalue(4, dim=1), X),
                ("msort", torch.msort, X),
                ("searchsorted", lambda x, v: torch.searchsorted(x.sort(dim=1).values, v), X, X[:, :3] + 0.5),
                ("bucketize", lambda x: torch.bucketize(x, torch.tensor([10.0, 30.0], device=x.device)), X),
                ("unique", torch.unique, I),
                ("unique with counts", lambda x: torch.unique(x, return_inverse=True, return_counts=True), I),
                ("isin", lambda x: torch.isin(x, torch.tensor([1, 2], device=x.device)), I),
            ]
        )


class Places(PluginTest):

    def test_indexing(self):
        i = torch.tensor([2, 0])
        self.each(
            [
                ("slices", lambda x: (x[1:], x[:, ::2], x[..., -1], x[None, 1], x[-2:, 1:3]), F),
                ("index", lambda x, i: (x[i], x[i, i], x[:, i], x[i[:, None], i]), F, i),
                ("mask", lambda x: x[x > 0], F),
                ("nonzero", lambda x: (x > 0).nonzero(), F),
                ("argwhere", lambda x: torch.argwhere(x > 0.5), F),
                ("masked_select", lambda x: x.masked_select(x > 0), F),
                ("gather", lambda x, i: x.gather(1, i), F, torch.tensor([[0, 3], [1, 1], [2, 0]])),
                ("index_select", lambda x, i: x.index_select(0, i), F, i),
                ("take", lambda x, i: x.take(i), F, torch.tensor([5, 0, 11])),
                ("take_along_dim", lambda x: x.take_along_dim(x.argsort(1), 1), F),
                ("negative index", lambda x: x[torch.tensor([-1, -3], device=x.device)], F),
                ("bool index of rows", lambda x: x[torch.tensor([True, False, True], device=x.device)], F),
                ("index by numbers", lambda x: (x[1, 2], x[0], x[[0, 2]]), F),
                ("narrow", lambda x: (x.narrow(1, 1, 2), x.select(0, 1), x.unfold(1, 2, 1)), F),
                ("tril_indices", lambda x: x[torch.tril_indices(3, 3, device=x.device).unbind()], F),
                ("diagonal", lambda x: (x.diagonal(), x.diag(), torch.diag_embed(x), x[0].diag()), F),
            ]
        )

    def test_writing(self):
        i = torch.tensor([2, 0])

        def changed(change):
            def run(x, *rest):
                y = x.clone()
                change(y, *rest)
                return y

            return run

        self.each(
            [
                ("slice", changed(lambda y: y[1:].fill_(7)), F),
                ("element", changed(lambda y: y.__setitem__((1, 2), 5.0)), F),
                ("rows", changed(lambda y, i: y.__setitem__(i, y[1] * 2)), F, i),
                ("mask", changed(lambda y: y.__setitem__(y > 0, 0.0)), F),
                ("strided", changed(lambda y: y[:, ::2].mul_(3)), F),
                ("transposed", changed(lambda y: y.T[1].add_(1)), F),
                ("masked_fill", lambda x: x.masked_fill(x > 0, -1), F),
                ("masked_scatter", lambda x, y: x.masked_scatter(x > 0, y), F, G),
                ("index_put accumulates", lambda x, i: x.index_put((torch.cat([i, i]),), x[0], accumulate=True), F, i),
                ("index_add", lambda x, i: x.index_add(0, i, x[:2]), F, i),
                ("index_copy", lambda x, i: x.index_copy(0, i, x[:2]), F, i),
                ("index_fill", lambda x, i: x.index_fill(1, i, 9), F, i),
                ("scatter", lambda x, i: x.scatter(1, i, x), F, torch.tensor([[0, 3], [1, 2], [2, 0]])),
                ("scatter a number", lambda x, i: x.scatter(1, i, 5.0), F, torch.tensor([[0, 3], [1, 2], [2, 0]])),
                ("scatter_add", lambda x, i: x.scatter_add(1, i, x), F, torch.tensor([[0, 0], [1, 1], [2, 0]])),
                ("scatter_reduce amax", lambda x, i: x.scatter_reduce(1, i, x * 2, "amax"), F, torch.tensor([[0, 0, 1, 1]] * 3)),
                ("scatter_reduce mean", lambda x, i: x.scatter_reduce(1, i, x * 2, "mean"), F, torch.tensor([[0, 0, 1, 1]] * 3)),
                ("put", lambda x, i: x.put(i, x[0, :2]), F, i),
                ("fill_diagonal", changed(lambda y: y.fill_diagonal_(3)), F),
                ("slice_scatter", lambda x: torch.slice_scatter(x, x[:1] * 5, 0, 1, 2), F),
                ("select_scatter", lambda x: torch.select_scatter(x, x[0], 0, 2), F),
                ("copy of another type", changed(lambda y: y.copy_(torch.ones(4, dtype=torch.int32, device=y.device))), F),
                ("in-place chain", changed(lambda y: y.add_(1).mul_(2).clamp_(0).sqrt_()), F),
                ("through a view", changed(lambda y: y.view(-1)[3:7].zero_()), F),
                ("view of a view", changed(lambda y: y.view(2, 6).t()[1:3].sub_(1)), F),
            ]
        )

    def test_shapes(self):
        self.each(
            [
                ("reshape", lambda x: (x.reshape(2, 6), x.flatten(), x.view(4, 3), x.unflatten(1, (2, 2))), F),
                ("transpose", lambda x: (x.t(), x[None].permute(2, 0, 1), x.movedim(0, 1), x.swapaxes(0, 1)), F),
                ("cat and stack", lambda x, y: (torch.cat([x, y], 1), torch.stack([x, y]), torch.hstack([x, y])), F, G),
                ("split", lambda x: (x.split(3, 1), x.chunk(2, 1), torch.tensor_split(x, 3, 1), x.unbind(0)), F),
                ("repeat", lambda x: (x.repeat(2, 2), x.repeat_interleave(2, 1), x[:, None].expand(-1, 2, -1), x.tile(2)), F),
                ("repeat_interleave by a tensor", lambda x: x.repeat_interleave(torch.tensor([1, 0, 2], device=x.device), 0), F),
                ("flip and roll", lambda x: (x.flip(1), x.roll(1, 0), x.roll((1, 2), (0, 1)), x.rot90()), F),
                ("tril and triu", lambda x: (x.tril(), x.triu(1)), F),
                ("squeeze", lambda x: (x[None].squeeze(0), x.unsqueeze(1)), F),
                ("as_strided", lambda x: x.as_strided((2, 3), (1, 2), 1), F),
                ("meshgrid", lambda v: torch.meshgrid(v, v, indexing="ij"), V),
                ("cartesian_prod", lambda v: torch.cartesian_prod(v, v), V),
                ("arange", lambda x: (torch.arange(5, device=x.device), torch.linspace(0, 1, 7, device=x.device)), F),
                ("eye and full", lambda x: (torch.eye(3, device=x.device), torch.full((2,), 5, device=x.device)), F),
                ("like", lambda x: (torch.zeros_like(x), torch.ones_like(x, dtype=torch.int8), x.new_full((2,), 3)), F),
                ("pad", lambda x: torch.nn.functional.pad(x, (1, 2, 0, 1), value=3), F),
                ("constant pad with crop", lambda x: torch.nn.functional.pad(x, (-1, 1)), F),
                ("empty arrays", lambda x: (x[:0].sum(), x[:0].clone(), torch.cat([x[:0], x])), F),
                ("combinations", lambda v: torch.combinations(v), V),
                ("block_diag", torch.block_diag, F, G),
                ("vander", lambda v: torch.vander(v), V),
            ]
        )


class Linear(PluginTest):

    def test_products(self):
        self.each_differentiated(
            [
                ("matmul", lambda x, y: x @ y.T, F, G),
                ("vector", lambda x, v: x @ v, F, V),
                ("batched", lambda x: x @ x.transpose(-1, -2), array(2, 3, 4)),
                ("broadcast batch", lambda x, y: x @ y, array(5, 1, 3, 4), array(2, 4, 2)),
                ("bmm", torch.bmm, array(2, 3, 4), array(2, 4, 5)),
                ("addmm", lambda x, y: torch.addmm(x[:, :3], x, y.T, beta=0.5, alpha=2), F, G),
                ("baddbmm", torch.baddbmm, array(2, 3, 5), array(2, 3, 4), array(2, 4, 5)),
                ("einsum", lambda x, y: torch.einsum("ij,kj->ik", x, y), F, G),
                ("einsum of three", lambda x, y, v: torch.einsum("ij,ij,j->i", x, y, v), F, G, V),
                ("einsum with batch", lambda x: torch.einsum("bij,bkj->bik", x, x), array(2, 3, 4)),
                ("outer", torch.outer, V, V),
                ("dot", torch.dot, V, array(4, seed=3)),
                ("mv", torch.mv, F, V),
                ("tensordot", lambda x, y: torch.tensordot(x, y, dims=([0, 1], [0, 1])), F, G),
                ("kron", torch.kron, F, G),
                ("cross", torch.linalg.cross, array(2, 3), array(2, 3, seed=1)),
            ]
        )
        self.each([("integers", lambda x, y: x @ y.T, I, J), ("float16", lambda x: x @ x.T, H), ("bfloat16", lambda x: x @ x.T, B)])

    def test_decompositions(self):
        self.each(
            [
                ("cholesky", torch.linalg.cholesky, S),
                ("inv", torch.linalg.inv, S),
                ("det", torch.linalg.det, S),
                ("slogdet", torch.linalg.slogdet, S),
                ("solve", lambda s, v: torch.linalg.solve(s, v), S, V),
                ("triangular_solve", lambda s, x: torch.linalg.solve_triangular(s.tril(), x, upper=False), S, array(4, 2)),
                ("eigh", lambda s: torch.linalg.eigh(s)[0], S),
                ("eigvalsh", torch.linalg.eigvalsh, S),
                ("svd rebuilt", lambda x: (lambda u, s, v: (u * s) @ v)(*torch.linalg.svd(x, full_matrices=False)), F),
                ("svdvals", torch.linalg.svdvals, F),
                ("qr rebuilt", lambda x: (lambda q, r: q @ r)(*torch.linalg.qr(x)), F),
                ("pinv", torch.linalg.pinv, F),
                ("lstsq", lambda x, y: torch.linalg.lstsq(x.T, y.T).solution, F, G),
                ("lu", lambda s: torch.linalg.lu(s), S),
                ("matrix_exp", torch.linalg.matrix_exp, S * 0.1),
                ("matrix_power", lambda s: torch.linalg.matrix_power(s, 3), S),
                ("matrix_rank", torch.linalg.matrix_rank, F),
                ("norms", lambda s: (torch.linalg.norm(s), torch.linalg.matrix_norm(s, 1), torch.linalg.cond(s)), S),
                ("eigvals", lambda s: torch.linalg.eigvals(s).real.sort().values, S),
                ("cholesky_solve", lambda s, x: torch.cholesky_solve(x, torch.linalg.cholesky(s)), S, array(4, 2)),
                ("cholesky_inverse", lambda s: torch.cholesky_inverse(torch.linalg.cholesky(s)), S),
                ("trace", torch.trace, S),
            ],
            rtol=1e-3,
            atol=1e-4,
        )

    def test_fourier(self):
        X = array(4, 8)
        self.each(
            [
                ("fft", torch.fft.fft, X),
                ("ifft", lambda x: torch.fft.ifft(torch.fft.fft(x)), X),
                ("rfft", torch.fft.rfft, X),
                ("irfft", lambda x: torch.fft.irfft(torch.fft.rfft(x)), X),
                ("fft2", torch.fft.fft2, X),
                ("fftn of other sizes", lambda x: torch.fft.fftn(x, s=(3, 5)), X),
                ("fftshift", lambda x: torch.fft.fftshift(x), X),
                ("stft", lambda x: torch.stft(x, 4, 2, window=torch.ones(4, device=x.device), return_complex=True), X),
                ("norm ortho", lambda x: torch.fft.fft(x, norm="ortho"), X),
            ],
            rtol=1e-4,
            atol=1e-4,
        )


if __name__ == "__main__":
    main()
