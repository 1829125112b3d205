"""reduce, reduce-window, select-and-scatter, scatter, sort by every recognised computation over every type."""

import numpy as np

from families.cases import COMPLEX, F8, INTEGERS, TYPES, Group, Unit, edges, shape

REDUCERS = ["add", "multiply", "minimum", "maximum", "and", "or", "xor"]


def _values(dtype: str, count: int) -> np.ndarray:
    """For sums and products: small numbers whose sums and products are exact in floats; integers wrap."""
    rng = np.random.default_rng(count)
    if dtype == "pred":
        return rng.integers(0, 2, count).astype(np.bool_)
    if dtype in INTEGERS:
        info = np.iinfo(TYPES[dtype])
        return rng.integers(info.min, info.max, count, endpoint=True, dtype=TYPES[dtype])
    values = rng.choice([1.0, -1.0, 0.5, 2.0, -2.0, -0.5], count)
    if dtype in COMPLEX:
        return (values * rng.choice([1, 1j], count)).astype(TYPES[dtype])
    return values.astype(TYPES[dtype])


def _initial(reducer: str, dtype: str) -> str:
    if dtype == "pred":
        return "true" if reducer in ("and", "multiply", "minimum") else "false"
    if dtype in INTEGERS:
        info = np.iinfo(TYPES[dtype])
        ends = {"multiply": 1, "minimum": info.max, "maximum": info.min, "and": -1 if info.min else info.max}
        return str(ends.get(reducer, 0))
    if dtype in COMPLEX:
        return "(1, 0)" if reducer == "multiply" else "(0, 0)"
    return {"multiply": "1", "minimum": "1", "maximum": "-1"}.get(reducer, "0")


def _computation(reducer: str, dtype: str) -> str:
    return (
        f"%{reducer} (x.{reducer}: {dtype}[], y.{reducer}: {dtype}[]) -> {dtype}[] {{\n"
        f"  x.{reducer} = {dtype}[] parameter(0)\n  y.{reducer} = {dtype}[] parameter(1)\n"
        f"  ROOT r.{reducer} = {dtype}[] {reducer}(x.{reducer}, y.{reducer})\n}}\n"
    )


def _ordered(dtype: str) -> np.ndarray:
    """Rows for minimum and maximum: zeros of both signs in both orders, NaN, infinities."""
    e = edges(dtype)
    rows = np.resize(e, (8, 20)).copy()
    if dtype in INTEGERS or dtype == "pred" or dtype in COMPLEX:
        return rows
    zero = np.zeros((), TYPES[dtype])
    with np.errstate(all="ignore"):
        rows[0, ::2], rows[0, 1::2] = zero, -zero
        rows[1, ::2], rows[1, 1::2] = -zero, zero
        rows[2, :] = -zero
        rows[3, :] = zero
        rows[3, 19] = -zero
        rows[4, :] = -np.abs(np.nan_to_num(rows[4].astype(np.float32), nan=1.0)).astype(TYPES[dtype])
    return rows


def reduce() -> list[Group]:
    groups = []
    for dtype in TYPES:
        for reducer in REDUCERS:
            ordered = reducer in ("minimum", "maximum")
            a = _ordered(dtype) if ordered else _values(dtype, 160).reshape(8, 20)
            near = dtype in F8 + COMPLEX + ["bf16", "f16"] and not ordered
            init = f"{{name}}_i = {dtype}[] constant({_initial(reducer, dtype)})\n"
            units = []
            for name, dims, out in (("rows", "1", (8,)), ("columns", "0", (20,)), ("all", "0,1", ())):
                body = f"reduce(a, {{name}}_i), dimensions={{{{{dims}}}}}, to_apply=%{reducer}"
                units.append(Unit(name, shape(dtype, out), body, init, near=near))
            windows = (
                ("window", "size=1x3 pad=0_0x1_1", (8, 20)),
                ("window_strided", "size=2x4 stride=2x3", (4, 6)),
                ("window_dilated", "size=3x2 rhs_dilate=2x3", (4, 17)),
                ("window_scan", "size=1x20 pad=0_0x19_0", (8, 20)),
            )
            for name, window, out in windows:
                body = f"reduce-window(a, {{name}}_i), window={{{{{window}}}}}, to_apply=%{reducer}"
                units.append(Unit(name, shape(dtype, out), body, init, near=near))
            groups.append(Group(f"reduce {reducer} {dtype}", {"a": a}, units, _computation(reducer, dtype)))
    return groups


def scatter() -> list[Group]:
    groups = []
    for dtype in TYPES:
        for reducer in REDUCERS:
            ordered = reducer in ("minimum", "maximum")
            a = (_ordered(dtype) if ordered else _values(dtype, 160).reshape(8, 20))[:5]
            u = (_ordered(dtype)[::-1] if ordered else _values(dtype, 120).reshape(6, 20))[:6]
            i = np.array([[1], [0], [1], [4], [7], [3]], np.int32)
            body = (
                "scatter(a, i, u), update_window_dims={{1}}, inserted_window_dims={{0}}, "
                f"scatter_dims_to_operand_dims={{{{0}}}}, index_vector_dim=1, to_apply=%{reducer}"
            )
            near = dtype in F8 + COMPLEX + ["bf16", "f16"] and not ordered
            units = [Unit("rows", shape(dtype, a), body, near=near)]
            groups.append(
                Group(f"scatter {reducer} {dtype}", {"a": a, "i": i, "u": u}, units, _computation(reducer, dtype))
            )
    return groups


def select_and_scatter() -> list[Group]:
    groups = []
    for dtype in TYPES:
        if dtype in COMPLEX:
            continue
        rng = np.random.default_rng(9)
        a = _values(dtype, 64).reshape(8, 8)
        if dtype not in INTEGERS and dtype != "pred":
            a = rng.permutation(64).reshape(8, 8).astype(TYPES[dtype])
        source = _values(dtype, 16).reshape(4, 4)
        for direction in ("GE", "LE", "GT"):
            select = (
                f"%select (x.s: {dtype}[], y.s: {dtype}[]) -> pred[] {{\n  x.s = {dtype}[] parameter(0)\n"
                f"  y.s = {dtype}[] parameter(1)\n  ROOT r.s = pred[] compare(x.s, y.s), direction={direction}\n}}\n"
            )
            body = "select-and-scatter(a, source, {name}_i), window={{size=2x2 stride=2x2}}, select=%select, scatter=%add"
            units = [Unit("pool", shape(dtype, a), body, f"{{name}}_i = {dtype}[] constant({_initial('add', dtype)})\n")]
            text = select + _computation("add", dtype)
            groups.append(Group(f"select-and-scatter {direction} {dtype}", {"a": a, "source": source}, units, text))
    return groups


def sort() -> list[Group]:
    groups = []
    for dtype in TYPES:
        a = np.concatenate([edges(dtype), edges(dtype)[::-1]])
        for direction in ("LT", "GT"):
            for order in ("", ", type=TOTALORDER"):
                if not order and dtype not in INTEGERS + ["pred"]:  # NaN has no place in the ordinary order.
                    continue
                compare = (
                    f"%less (x: {dtype}[], y: {dtype}[], i: s32[], j: s32[]) -> pred[] {{\n"
                    f"  x = {dtype}[] parameter(0)\n  y = {dtype}[] parameter(1)\n  i = s32[] parameter(2)\n"
                    f"  j = s32[] parameter(3)\n  ROOT r = pred[] compare(x, y), direction={direction}{order}\n}}\n"
                )
                before = (
                    f"{{name}}_n = s32[{a.size}] iota(), iota_dimension=0\n"
                    f"{{name}}_s = ({dtype}[{a.size}], s32[{a.size}]) sort(a, {{name}}_n), dimensions={{{{0}}}}, "
                    "is_stable=true, to_apply=%less\n"
                )
                values = Unit("values", shape(dtype, a), "get-tuple-element({name}_s), index=0", before)
                places = Unit("places", f"s32[{a.size}]", "get-tuple-element({name}_s), index=1", before)
                name = f"sort {direction}{' total' if order else ''} {dtype}"
                groups.append(Group(name, {"a": a}, [values, places], compare))
    return groups
