"""Chains of transforms of a function of (varied, fixed) -> list of arrays, as random_functions_test.cc has them.

Each transform takes such a function and gives one whose `fixed` has the transform's own inputs at its end.
"""

import jax
import jax.numpy as jnp
import numpy as np


def is_differentiable(x):
    return jnp.issubdtype(x.dtype, jnp.inexact)


def _of_varied(f, fixed):
    """f's differentiable results by what varies."""
    return lambda varied: [y for y in f(varied, fixed) if is_differentiable(y)]


def _like(x, source):
    return source.numbers(x.shape, x.dtype, ties=False)


def _specs(arrays):
    return [jax.ShapeDtypeStruct(np.shape(x), x.dtype) for x in arrays]


def _results(f, varied, fixed):
    return jax.eval_shape(lambda v, x: _of_varied(f, x)(v), _specs(varied), _specs(fixed))


class Grad:
    name = "grad"

    @staticmethod
    def inputs(f, varied, fixed, source):
        return []

    @staticmethod
    def of(f, inputs):
        def g(varied, fixed):
            return jax.grad(lambda v: _of_varied(f, fixed)(v)[0])(varied)
        return g


class Vjp:
    name = "vjp"

    @staticmethod
    def inputs(f, varied, fixed, source):
        return [_like(y, source) for y in _results(f, varied, fixed)]

    @staticmethod
    def of(f, inputs):
        def g(varied, fixed):
            own = len(fixed) - inputs
            return jax.vjp(_of_varied(f, fixed[:own]), varied)[1](list(fixed[own:]))[0]
        return g


class Jvp:
    name = "jvp"

    @staticmethod
    def inputs(f, varied, fixed, source):
        return [_like(x, source) for x in varied]

    @staticmethod
    def of(f, inputs):
        def g(varied, fixed):
            own = len(fixed) - inputs
            return jax.jvp(_of_varied(f, fixed[:own]), (varied,), (list(fixed[own:]),))[1]
        return g


class Vmap:
    """Over `varied`, `fixed`, or both: `mapped` tells."""

    name = "vmap"

    @staticmethod
    def of(f, mapped):
        return jax.vmap(f, in_axes=tuple(0 if m else None for m in mapped))


def is_scalar(results):
    return len(results) == 1 and results[0].shape == () and jnp.issubdtype(results[0].dtype, jnp.floating)


class Chain:
    """Transforms from the inmost outwards, with the inputs that the last one takes."""

    def __init__(self, f, varied, fixed):
        self.f, self.varied, self.fixed, self.steps = f, list(varied), list(fixed), []

    def add(self, transform, source):
        made = transform.inputs(self.f, self.varied, self.fixed, source)
        self.f = transform.of(self.f, len(made))
        self.fixed += made
        self.steps.append({"name": transform.name, "inputs": len(made)})

    def add_vmap(self, source, size):
        """Each mapped input becomes `size` inputs: the one that was made, then others like it."""
        mapped = source.one_of([(True, True), (True, False), (False, True)])
        if not self.fixed:
            mapped = (True, False)

        def batch(x):
            x = np.asarray(x)
            others = []
            for _ in range(size - 1):
                order = source.rng.permutation(x.size)
                others.append(x.reshape(-1)[order].reshape(x.shape))
            return np.stack([x, *others])

        if mapped[0]:
            self.varied = [batch(x) for x in self.varied]
        if mapped[1]:
            self.fixed = [batch(x) for x in self.fixed]
        self.f = Vmap.of(self.f, mapped)
        self.steps.append({"name": Vmap.name, "mapped": [int(m) for m in mapped]})


def random_chain(f, varied, fixed, source):
    """One to three transforms. Reverse mode of a scalar is sometimes `grad`."""
    chain = Chain(f, varied, fixed)
    order = source.one_of(["r", "r", "r", "f", "v", "vr", "vr", "rv", "fv", "vf", "fr", "rf", "rr", "vfr", "rvr"])
    for letter in reversed(order):
        if letter == "v":
            chain.add_vmap(source, source.between(1, 3))
        elif letter == "f":
            chain.add(Jvp, source)
        else:
            results = _results(chain.f, chain.varied, chain.fixed)
            chain.add(Grad if is_scalar(results) and source.chance(0.7) else Vjp, source)
    return chain
