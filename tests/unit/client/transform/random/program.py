"""A program of a family: a function with inputs."""

import dataclasses
from typing import Callable

import jax
from jax import lax


@jax.custom_jvp
def absolute(x):
    """|x|, whose derivative at 0 is 0, as hlod/transform/foreign_kinks.inc has it and JAX has not."""
    return lax.abs(x)


@absolute.defjvp
def _(primals, tangents):
    return lax.abs(primals[0]), tangents[0] * lax.sign(primals[0])


@dataclasses.dataclass
class Program:
    """f(varied, fixed) -> list of arrays. `varied` are floating or complex, `fixed` of any type.

    `reference` is the same function where JAX's derivative of `f` is missing or wrong: for instance where its rule
    for lax.reduce leaves out the initial value.
    """

    f: Callable
    varied: list
    fixed: list = dataclasses.field(default_factory=list)
    reference: Callable | None = None
