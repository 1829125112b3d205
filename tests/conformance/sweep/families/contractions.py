"""dot and convolution over all triples of types: operands and result."""

import numpy as np

from families.cases import COMPLEX, F8, FIFTEEN, INTEGERS, TYPES, Group, Unit, shape


def _operand(dtype: str, dims: tuple[int, ...], seed: int) -> np.ndarray:
    """Integers over their whole range (sums wrap); floats in halves, so that each sum is exact."""
    rng = np.random.default_rng(seed)
    if dtype == "pred":
        return rng.integers(0, 2, dims).astype(np.bool_)
    if dtype in INTEGERS:
        # Alternating: the whole range of eight bits, then of the type; never so large that f32 sums are inexact.
        limit = np.iinfo(TYPES[dtype])
        return rng.integers(max(limit.min, -900), min(limit.max, 900), dims, endpoint=True).astype(TYPES[dtype])
    values = rng.integers(-7, 8, dims) / 2
    if dtype in COMPLEX:
        values = values + 1j * rng.integers(-3, 4, dims)
    return values.astype(TYPES[dtype])


def _kind(dtype: str) -> int:
    return 0 if dtype == "pred" else 1 if dtype in INTEGERS else 3 if dtype in COMPLEX else 2


def _taken(lhs: str, rhs: str, result: str) -> bool:
    """Operands of one kind, and a result of it or of the next: the others are few, in dot_mixed."""
    kinds = (_kind(lhs), _kind(result))
    return _kind(lhs) == _kind(rhs) and (kinds[0] == kinds[1] or kinds in ((0, 1), (1, 2)))


def _triples() -> list[tuple[str, str, list[str]]]:
    triples = [(a, b, FIFTEEN) for a in FIFTEEN for b in FIFTEEN]
    triples += [(a, a, [a, "f32", "bf16"]) for a in F8]
    triples = [(a, b, [r for r in results if _taken(a, b, r)]) for a, b, results in triples]
    return [triple for triple in triples if triple[2]]


def dot() -> list[Group]:
    """Pairs of types, the first of them pred, an integer or a 16-bit float, into all fifteen."""
    return _dots([t for t in _triples() if t[0] in FIFTEEN[:11]])


def dot_wide() -> list[Group]:
    """Pairs of the wider types into all fifteen, and each f8 with itself."""
    return _dots([t for t in _triples() if t[0] not in FIFTEEN[:11] and t[1] not in FIFTEEN[:11]])


def dot_mixed() -> list[Group]:
    """Operands of different kinds, and results of another kind than theirs."""
    types = ("pred", "s8", "u32", "s64", "f16", "f32", "f64", "c64")
    groups = []
    for a_type in types:
        for b_type in types:
            a, b = _operand(a_type, (3, 4), 1), _operand(b_type, (4, 5), 2)
            units = []
            for result in types:
                if _taken(a_type, b_type, result):
                    continue
                # XLA sums f16 for an integer result in f16, and reads bits of complex sums as integers.
                whole = result in INTEGERS or result == "pred"
                if whole and ("c64" in (a_type, b_type) or "f16" in (a_type, b_type)):
                    continue
                near = result not in INTEGERS and result != "pred"
                body = "dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
                units.append(Unit(f"to_{result}", f"{result}[3,5]", body, near=near))
            if units:
                groups.append(Group(f"dot {a_type} {b_type} mixed", {"a": a, "b": b}, units, sums=True))
    return groups


def _dots(triples) -> list[Group]:
    """Small products, which the engine's loops compute, and large ones, which a library computes where it can: the
    operands broadcast, one part of the result looked at."""
    groups = []
    for a_type, b_type, results in triples:
        a, b = _operand(a_type, (3, 4), 1), _operand(b_type, (4, 5), 2)
        units = []
        for result in results:
            near = result not in INTEGERS and result != "pred"
            contract = "lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
            units.append(Unit(f"to_{result}", f"{result}[3,5]", f"dot(a, b), {contract}", near=near))
            before = (
                f"{{name}}_l = {a_type}[16,3,4] broadcast(a), dimensions={{{{1,2}}}}\n"
                f"{{name}}_r = {b_type}[4,5,8] broadcast(b), dimensions={{{{0,1}}}}\n"
                f"{{name}}_d = {result}[16,3,5,8] dot({{name}}_l, {{name}}_r), "
                "lhs_contracting_dims={{2}}, rhs_contracting_dims={{0}}\n"
            )
            body = "slice({name}_d), slice={{[15:16], [0:3], [0:5], [7:8]}}"
            units.append(Unit(f"large_to_{result}", f"{result}[1,3,5,1]", body, before, near=near))
        groups.append(Group(f"dot {a_type} {b_type}", {"a": a, "b": b}, units, sums=True))
    return groups


def convolution() -> list[Group]:
    """Results of every type for operands of one type; of pairs of types, the common results."""
    groups = []
    for a_type, b_type, results in _triples():
        if a_type != b_type:
            results = [r for r in sorted({a_type, "s32", "f32"}) if r in results]
        a, b = _operand(a_type, (1, 5, 2), 3), _operand(b_type, (3, 2, 2), 4)
        units = []
        for result in results:
            near = result not in INTEGERS and result != "pred"
            body = "convolution(a, b), window={{size=3 pad=1_1}}, dim_labels=b0f_0io->b0f"
            units.append(Unit(f"to_{result}", f"{result}[1,5,2]", body, near=near))
            if a_type == b_type:
                before = (
                    f"{{name}}_a = {a_type}[5,2] reshape(a)\n"
                    f"{{name}}_l = {a_type}[64,5,2] broadcast({{name}}_a), dimensions={{{{1,2}}}}\n"
                    f"{{name}}_w = {b_type}[3,2,2,8] broadcast(b), dimensions={{{{0,1,2}}}}\n"
                    f"{{name}}_r = {b_type}[3,2,16] reshape({{name}}_w)\n"
                    f"{{name}}_d = {result}[64,5,16] convolution({{name}}_l, {{name}}_r), "
                    "window={{size=3 pad=1_1}}, dim_labels=b0f_0io->b0f\n"
                )
                body = "slice({name}_d), slice={{[63:64], [0:5], [0:16]}}"
                units.append(Unit(f"large_to_{result}", f"{result}[1,5,16]", body, before, near=near))
        groups.append(Group(f"convolution {a_type} {b_type}", {"a": a, "b": b}, units, sums=True))
    return groups
