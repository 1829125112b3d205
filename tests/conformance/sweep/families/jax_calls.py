"""The calls of a sweep of JAX's functions, gathered into modules as JAX lowers them."""

import dataclasses
import re
from collections.abc import Callable

import jax
import numpy as np
from families.cases import COMPLEX, INTEGERS, NAMES, TYPES, edges, shape
from programs import xla

# Shapes at which indexing rules show: a scalar, nothing, one element, odd sizes, ones within, high rank.
AWKWARD = [(), (0,), (1,), (5,), (0, 3), (1, 1, 1), (2, 3), (7, 1, 5), (1, 2, 1, 3, 1, 2)]
FLOATS = ["bf16", "f16", "f32", "f64"]
NUMBERS = INTEGERS + FLOATS + COMPLEX
REAL = INTEGERS + FLOATS
ANY = ["pred"] + NUMBERS


@dataclasses.dataclass
class Call:
    """One call of a JAX function on arrays; each leaf of what it returns is a result.

    near: the results of inexact types are compared within the type's tolerance, others are exact always.
    """

    name: str
    function: Callable
    arguments: list[np.ndarray]
    near: bool = True

    def __post_init__(self):
        self.arguments = [np.asarray(array) for array in self.arguments]


@dataclasses.dataclass
class Result:
    """A result line of the file."""

    name: str
    shape: str
    near: bool


@dataclasses.dataclass
class Calls:
    """Calls that make one module, or as many as XLA's refusals leave. The counterpart of Group."""

    name: str
    units: list[Call]
    sums: bool = False

    def arrays(self, units: list[Call]) -> list[np.ndarray]:
        return [array for unit in units for array in unit.arguments]

    def text(self, units: list[Call]) -> str:
        def program(*arrays):
            rest, results = list(arrays), []
            for unit in units:
                mine, rest = rest[: len(unit.arguments)], rest[len(unit.arguments) :]
                results += jax.tree.leaves(unit.function(*mine))
            return tuple(results)

        lowered = jax.jit(program, keep_unused=True).lower(*self.arrays(units))
        text = xla.Module(lowered.compiler_ir("hlo")).text
        text = re.sub(r", (metadata|frontend_attributes)=\{[^{}]*(\{[^{}]*\}[^{}]*)*\}", "", text)
        return re.sub(r"^HloModule [^\n]*", "HloModule sweep", text)

    def results(self, units: list[Call], arrays: list[np.ndarray]) -> list[Result]:
        """The result lines of what a module of these calls gives."""
        lines, rest = [], list(arrays)
        for unit in units:
            leaves = jax.tree.leaves(jax.eval_shape(unit.function, *unit.arguments))
            mine, rest = rest[: len(leaves)], rest[len(leaves) :]
            for number, array in enumerate(mine):
                name = unit.name if len(mine) == 1 else f"{unit.name}.{number}"
                inexact = unit.near and NAMES[array.dtype] in FLOATS + COMPLEX
                lines.append(Result(name, shape(NAMES[array.dtype], array), inexact))
        return lines


def dims(array_shape: tuple[int, ...]) -> str:
    return "x".join(map(str, array_shape)) or "scalar"


def values(dtype: str, array_shape: tuple[int, ...], seed: int = 0, moderate: bool = False) -> np.ndarray:
    """An array of the type: the values at its edges in an order by the seed, or small numbers without surprises."""
    rng = np.random.default_rng(seed)
    if moderate:
        if dtype == "pred":
            return rng.integers(0, 2, array_shape).astype(np.bool_)
        low, high = (0, 9) if dtype[0] == "u" else (-4, 5)
        numbers = rng.integers(low, high, array_shape)
        if dtype in COMPLEX:
            numbers = numbers + 1j * rng.integers(low, high, array_shape)
        elif dtype in FLOATS:
            numbers = numbers + rng.integers(0, 4, array_shape) / 4
        return np.asarray(numbers).astype(TYPES[dtype])
    return np.resize(rng.permutation(edges(dtype)), array_shape)


def spread(dtype: str, array_shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Small numbers without surprises."""
    return values(dtype, array_shape, seed, moderate=True)
