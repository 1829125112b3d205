"""Products, factorisations and distances at edges, as generate.py records them."""
import torch
import torch.nn.functional as F

from programs import backward, inf, leaf, nan, program, ramp, values


@program
def inverse_of_a_singular_matrix():
    return torch.linalg.inv(values([1, 2, 2, 4], 2, 2))


@program
def cholesky_of_an_indefinite_matrix():
    return torch.linalg.cholesky(values([1, 2, 2, 1], 2, 2))


@program
def determinants_of_singular_matrices():
    x = leaf([1, 2, 2, 4, 0, 0, 0, 0, 2, 0, 0, 3], 3, 2, 2)
    y = torch.linalg.det(x)
    backward(y)
    s, l = torch.linalg.slogdet(x)
    return y, s, l, x.detach().logdet(), x.grad


@program
def matrices_without_elements():
    x = ramp(2, 0, 0, grad=True)
    y = torch.linalg.det(x)
    y.sum().backward()
    return y, torch.linalg.inv(x), torch.linalg.cholesky(x), torch.linalg.slogdet(x)[1], torch.linalg.matrix_rank(ramp(0, 3)), torch.linalg.pinv(ramp(0, 3)), torch.linalg.svdvals(ramp(0, 3)), torch.linalg.eigvalsh(ramp(0, 0)), torch.linalg.qr(ramp(3, 0))[0], torch.linalg.solve(x, ramp(2, 0, 2)), torch.linalg.matrix_exp(x)


@program
def ranks_and_inverses_of_singular_matrices():
    x = values([1, 2, 2, 4], 2, 2)
    return torch.linalg.matrix_rank(x), torch.linalg.pinv(x), torch.linalg.matrix_rank(x * 0), torch.linalg.pinv(x * 0), torch.linalg.matrix_power(x, 0), torch.linalg.matrix_power(x, 3), torch.linalg.cond(x * 0), torch.linalg.matrix_norm(x, "nuc"), torch.linalg.matrix_norm(x, 1), torch.linalg.matrix_norm(x, -inf), torch.linalg.matrix_norm(x, -2), torch.linalg.svdvals(x)


@program
def sums_over_equal_eigenvalues():
    x = leaf([2, 0, 0, 0, 2, 0, 0, 0, 3], 3, 3)
    y = torch.linalg.eigvalsh(x).exp().sum() + torch.linalg.svdvals(x).sum() + torch.linalg.matrix_exp(x).sum()
    y.backward()
    return y, x.grad


@program
def products_that_ignore_nan():
    x = values([nan, nan], 2)
    a, b = ramp(2, 2), ramp(2, 2)
    return torch.addmm(x, a, b, beta=0), torch.addmv(x, a, values([1, 1], 2), beta=0, alpha=2), torch.baddbmm(x, a[None], b[None], beta=0), torch.addr(x, x * 0 + 1, values([1, 2], 2), beta=0)


@program
def einsums():
    x, v, b = leaf(range(1, 5), 2, 2), leaf([5, 6], 2), leaf(range(1, 9), 2, 1, 2, 2)
    y = [torch.einsum("ii->i", x), torch.einsum("ii", x), torch.einsum("i,j", v, v), torch.einsum("...ij,...jk->...ik", b, x), torch.einsum("...i->...", b), torch.einsum("ba", x), torch.einsum("ij,j,k->k", x, v, v), torch.einsum("i...,i...->...", x, x), torch.einsum(",ij->ji", torch.tensor(2.0, dtype=torch.float64), x), torch.einsum("bcii->cb", b)]
    for z in y:
        backward(z)
    return *y, x.grad, v.grad, b.grad


@program
def products_of_odd_ranks():
    v, m, b = leaf([1, 2], 2), leaf(range(1, 5), 2, 2), leaf(range(1, 9), 2, 2, 2)
    y = [v @ v, v @ m, m @ v, v @ b, b @ v, b @ m, torch.tensordot(m, v, 0), torch.tensordot(b, m, ([0, 2], [1, 0])), torch.kron(v, m), torch.inner(b, v), torch.outer(v, v[:0]), torch.linalg.multi_dot([v, m, m, v]), torch.bmm(ramp(0, 2, 3), ramp(0, 3, 1)), torch.linalg.vecdot(b, m)]
    for z in y:
        if z.requires_grad:
            backward(z)
    return *y, v.grad, m.grad, b.grad


@program
def distances_of_equal_points():
    x, y = leaf([0, 0, 1, 2, 3, 3], 3, 2), leaf([1, 2, 0, 0], 2, 2)
    z = [torch.cdist(x, y, p) for p in (0.0, 1.0, 1.5, 2.0, 3.0, inf)]
    for w in z:
        backward(w)
    return *z, F.pdist(x), torch.cdist(ramp(0, 2), y), torch.cdist(ramp(2, 0), ramp(3, 0)), x.grad, y.grad


@program
def triangular_solves():
    a, b = leaf([2, 1, 5, 3], 2, 2), leaf(range(1, 5), 2, 2)
    y = [torch.linalg.solve_triangular(a, b, upper=True), torch.linalg.solve_triangular(a, b, upper=False), torch.linalg.solve_triangular(a, b, upper=True, left=False), torch.linalg.solve_triangular(a, b, upper=False, unitriangular=True), torch.linalg.solve(a, b), torch.linalg.solve(a, b, left=False), torch.linalg.solve(a, b[0])]
    for z in y:
        backward(z)
    return *y, a.grad, b.grad


@program
def a_power_of_a_wide_matrix():
    return torch.linalg.matrix_power(ramp(2, 3), 2)
