"""Collectives of a program's participants: each opcode, mode of groups and type."""

import dataclasses
from typing import Callable

import ml_dtypes
import numpy as np


@dataclasses.dataclass
class Program:
    """HLO text for replicas x partitions participants, replica by replica.

    arguments: one array a parameter, over the participants and then as the parameter.
    reference: another text that computes the same, where XLA's CPU backend does not run this one.
    expected: where it runs none: the results by NumPy, over the participants.
    """

    text: str
    arguments: list
    replicas: int = 1
    partitions: int = 1
    reference: str | None = None
    expected: list | None = None
    kind: str = "elementwise"
    low_precision: bool = False
    classes: tuple[str, ...] | None = None


@dataclasses.dataclass
class Case:
    name: str
    build: Callable[[np.random.Generator], Program]
    about: str


CASES: list[Case] = []


def case(build):
    CASES.append(Case(build.__name__, build, " ".join((build.__doc__ or "").split())))
    return build


def module(entry: list[str], replicas=1, partitions=1, others="") -> str:
    """A module of these lines; the last one is the root."""
    lines = [f"  {'ROOT ' if line is entry[-1] else ''}{line}" for line in entry]
    counts = f"replica_count={replicas}, num_partitions={partitions}"
    return f"HloModule participants, {counts}\n\n{others}ENTRY main {{\n" + "\n".join(lines) + "\n}\n"


def reducer(name: str, dtype: str, opcode: str) -> str:
    return (
        f"{name} {{\n  a = {dtype}[] parameter(0)\n  b = {dtype}[] parameter(1)\n"
        f"  ROOT r = {dtype}[] {opcode}(a, b)\n}}\n\n"
    )


def tuple_of(names: dict[str, str]) -> str:
    return f"t = ({', '.join(names.values())}) tuple({', '.join(names)})"


def normal(rng, participants: int, *shape: int, dtype=np.float32) -> np.ndarray:
    return rng.standard_normal((participants, *shape)).astype(dtype)


def results(program_lines: list[str], first: int) -> str:
    """The tuple of all lines from `first` on, by the shapes that they state."""
    named = {}
    for line in program_lines[first:]:
        name, rest = line.split(" = ", 1)
        named[name] = rest.split(" ", 1)[0]
    return tuple_of(named)


def of_types(types: dict[str, np.dtype]):
    """A case for each element type."""

    def register(build):
        for name, dtype in types.items():
            CASES.append(
                Case(
                    f"{build.__name__}_{name}",
                    lambda rng, name=name, dtype=dtype: build(rng, name, dtype),
                    " ".join((build.__doc__ or "").split()),
                )
            )
        return build

    return register


@case
def ids(rng):
    """replica-id and partition-id."""
    lines = ["r = u32[] replica-id()", "p = u32[] partition-id()"]
    lines += ["x = f32[2] parameter(0)", "t = (u32[], u32[], f32[2]) tuple(r, p, x)"]
    return Program(module(lines, 2, 4), [normal(rng, 8, 2)], 2, 4, kind="exact")


# ---------------------------------------------------------------------------------------------- all-reduce


@of_types(
    {
        "f32": np.float32,
        "f64": np.float64,
        "f16": np.float16,
        "bf16": ml_dtypes.bfloat16,
        "s32": np.int32,
        "s64": np.int64,
        "u8": np.uint8,
    }
)
def all_reduce(rng, name, dtype):
    """Sum, product, maximum and minimum over two groups of two replicas, and over all."""
    opcodes = {"add": "add", "mul": "multiply", "max": "maximum", "min": "minimum"}
    others = "".join(reducer(short, name, opcode) for short, opcode in opcodes.items())
    lines = [f"x = {name}[3,5] parameter(0)"]
    for short in opcodes:
        lines.append(f"{short}2 = {name}[3,5] all-reduce(x), replica_groups={{{{0,3}},{{2,1}}}}, to_apply={short}")
        lines.append(f"{short}4 = {name}[3,5] all-reduce(x), replica_groups={{}}, to_apply={short}")
    lines.append(results(lines, 1))
    x = rng.integers(0, 6, (4, 3, 5)) if np.dtype(dtype).kind in "iu" else rng.standard_normal((4, 3, 5))
    return Program(module(lines, 4, 1, others), [x.astype(dtype)], 4)


@case
def all_reduce_c64(rng):
    """The sum of complex numbers."""
    lines = ["x = c64[7] parameter(0)", "s = c64[7] all-reduce(x), replica_groups={{1,0}}, to_apply=add"]
    x = normal(rng, 2, 7) + 1j * normal(rng, 2, 7)
    return Program(module(lines, 2, 1, reducer("add", "c64", "add")), [x.astype(np.complex64)], 2)


@case
def all_reduce_pred(rng):
    """`and` and `or` of predicates: true when all are, and when any is."""
    others = reducer("all", "pred", "and") + reducer("any", "pred", "or")
    lines = [
        "x = pred[16] parameter(0)",
        "a = pred[16] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=all",
        "o = pred[16] all-reduce(x), replica_groups={{0,2},{1,3}}, to_apply=any",
    ]
    lines.append(results(lines, 1))
    return Program(module(lines, 4, 1, others), [rng.integers(0, 2, (4, 16)).astype(bool)], 4, kind="exact")


@case
def all_reduce_several(rng):
    """Operands of several shapes in one instruction."""
    lines = [
        "x = f32[4] parameter(0)",
        "y = f32[2,3] parameter(1)",
        "s = (f32[4], f32[2,3]) all-reduce(x, y), replica_groups={{0,1}}, to_apply=add",
    ]
    text = module(lines, 2, 1, reducer("add", "f32", "add"))
    return Program(text, [normal(rng, 2, 4), normal(rng, 2, 2, 3)], 2)


@case
def all_reduce_modes(rng):
    """Groups of replicas, of replicas with all of their partitions, and of participants by their numbers."""
    groups = {
        "replicas": "replica_groups={{0,1}}",
        "alone": "replica_groups={{0},{1}}",
        "together": "channel_id=1, replica_groups={{0,1}}",
        "within": "channel_id=2, replica_groups={{1},{0}}",
        "participants": "channel_id=3, replica_groups={{0,5},{1,4},{7,2},{3,6}}, use_global_device_ids=true",
        "iota": "channel_id=4, replica_groups=[2,4]<=[8], use_global_device_ids=true",
        "transposed": "channel_id=5, replica_groups=[4,2]<=[2,2,2]T(2,0,1), use_global_device_ids=true",
    }
    lines = ["x = f32[6] parameter(0)"]
    lines += [f"{n} = f32[6] all-reduce(x), {said}, to_apply=add" for n, said in groups.items()]
    lines.append(results(lines, 1))
    return Program(module(lines, 2, 4, reducer("add", "f32", "add")), [normal(rng, 8, 6)], 2, 4)


@case
def all_reduce_chained(rng):
    """The results of one collective are operands of others, after computations that differ per participant."""
    lines = [
        "x = f32[8] parameter(0)",
        "r = u32[] replica-id()",
        "f = f32[] convert(r)",
        "w = f32[8] broadcast(f), dimensions={}",
        "y = f32[8] multiply(x, w)",
        "s = f32[8] all-reduce(y), replica_groups={{0,1},{2,3}}, to_apply=add",
        "z = f32[8] subtract(s, x)",
        "u = f32[8] all-reduce(z), replica_groups={{0,2},{1,3}}, to_apply=max",
        "g = f32[32] all-gather(u), replica_groups={{3,2,1,0}}, dimensions={0}",
    ]
    others = reducer("add", "f32", "add") + reducer("max", "f32", "maximum")
    return Program(module(lines, 4, 1, others), [normal(rng, 4, 8)], 4)


@case
def all_reduce_in_loop(rng):
    """A loop whose turns meet."""
    others = reducer("add", "f32", "add")
    others += (
        "body {\n  s = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  x = f32[4] get-tuple-element(s), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
        "  y = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add\n  h = f32[] constant(0.625)\n"
        "  w = f32[4] broadcast(h), dimensions={}\n  z = f32[4] multiply(y, w)\n"
        "  ROOT t = (s32[], f32[4]) tuple(j, z)\n}\n\n"
        "condition {\n  s = (s32[], f32[4]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  n = s32[] constant(5)\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n\n"
    )
    lines = [
        "x = f32[4] parameter(0)",
        "zero = s32[] constant(0)",
        "s = (s32[], f32[4]) tuple(zero, x)",
        "w = (s32[], f32[4]) while(s), condition=condition, body=body",
        "y = f32[4] get-tuple-element(w), index=1",
    ]
    return Program(module(lines, 2, 1, others), [normal(rng, 2, 4)], 2)


# --------------------------------------------------------------------------------- gathering and scattering


@of_types({"f32": np.float32, "bf16": ml_dtypes.bfloat16, "s8": np.int8, "pred": np.bool_})
def all_gather(rng, name, dtype):
    """Along each dimension, in the order of the groups."""
    lines = [
        f"x = {name}[2,3] parameter(0)",
        f"a = {name}[4,3] all-gather(x), replica_groups={{{{3,0}},{{1,2}}}}, dimensions={{0}}",
        f"b = {name}[2,12] all-gather(x), replica_groups={{{{0,1,2,3}}}}, dimensions={{1}}",
        f"c = {name}[8,3] all-gather(x), replica_groups={{}}, dimensions={{0}}",
    ]
    lines.append(results(lines, 1))
    x = (rng.standard_normal((4, 2, 3)) * 9).astype(dtype)
    return Program(module(lines, 4), [x], 4, kind="exact")


@case
def all_gather_modes(rng):
    """Groups of replicas, of replicas with their partitions, and of participants."""
    lines = [
        "x = f32[1,3] parameter(0)",
        "a = f32[2,3] all-gather(x), replica_groups={{1,0}}, dimensions={0}",
        "b = f32[8,3] all-gather(x), channel_id=1, replica_groups={{1,0}}, dimensions={0}",
        "c = f32[4,3] all-gather(x), channel_id=2, replica_groups={{0},{1}}, dimensions={0}",
        "d = f32[1,12] all-gather(x), channel_id=3, replica_groups=[2,4]<=[4,2]T(1,0), dimensions={1},"
        " use_global_device_ids=true",
    ]
    lines.append(results(lines, 1))
    return Program(module(lines, 2, 4), [normal(rng, 8, 1, 3)], 2, 4, kind="exact")


@of_types({"f32": np.float32, "bf16": ml_dtypes.bfloat16, "s32": np.int32})
def reduce_scatter(rng, name, dtype):
    """Sums along each dimension, and the largest."""
    others = reducer("add", name, "add") + reducer("max", name, "maximum")
    lines = [
        f"x = {name}[4,6] parameter(0)",
        f"a = {name}[2,6] reduce-scatter(x), replica_groups={{{{0,2}},{{3,1}}}}, dimensions={{0}}, to_apply=add",
        f"b = {name}[4,3] reduce-scatter(x), replica_groups={{{{1,0}},{{2,3}}}}, dimensions={{1}}, to_apply=max",
        f"c = {name}[1,6] reduce-scatter(x), replica_groups={{{{0,1,2,3}}}}, dimensions={{0}}, to_apply=add",
    ]
    lines.append(results(lines, 1))
    x = (rng.standard_normal((4, 4, 6)) * 9).astype(dtype)
    return Program(module(lines, 4, 1, others), [x], 4)


@case
def reduce_scatter_modes(rng):
    """Groups of replicas with their partitions, and of participants."""
    lines = [
        "x = f32[8,2] parameter(0)",
        "a = f32[4,2] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add",
        "b = f32[1,2] reduce-scatter(x), channel_id=1, replica_groups={{1,0}}, dimensions={0}, to_apply=add",
        "c = f32[2,2] reduce-scatter(x), channel_id=2, replica_groups={{0,6,2,4},{1,3,5,7}}, dimensions={0},"
        " use_global_device_ids=true, to_apply=add",
    ]
    lines.append(results(lines, 1))
    return Program(module(lines, 2, 4, reducer("add", "f32", "add")), [normal(rng, 8, 8, 2)], 2, 4)


# ---------------------------------------------------------------------------------------------- exchanging


@case
def all_to_all_arrays(rng):
    """Pieces along each dimension."""
    lines = [
        "x = f32[4,6] parameter(0)",
        "a = f32[4,6] all-to-all(x), replica_groups={{0,1,2,3}}, dimensions={0}",
        "b = f32[4,6] all-to-all(x), replica_groups={{2,0},{1,3}}, dimensions={1}",
    ]
    lines.append(results(lines, 1))
    # XLA's CPU backend takes pieces as operands only.
    x = normal(rng, 4, 4, 6)

    def exchanged(groups, axis):
        out = np.empty_like(x)
        for group in groups:
            for rank, participant in enumerate(group):
                pieces = [np.split(x[other], len(group), axis)[rank] for other in group]
                out[participant] = np.concatenate(pieces, axis)
        return out

    expected = [exchanged([[0, 1, 2, 3]], 0), exchanged([[2, 0], [1, 3]], 1)]
    return Program(module(lines, 4), [x], 4, expected=expected, kind="exact")


@of_types({"f32": np.float32, "bf16": ml_dtypes.bfloat16, "u8": np.uint8})
def all_to_all(rng, name, dtype):
    """Pieces as operands, among replicas."""
    lines = [
        f"x = {name}[5] parameter(0)",
        f"y = {name}[5] parameter(1)",
        f"t = ({name}[5], {name}[5]) all-to-all(x, y), replica_groups={{{{3,0}},{{1,2}}}}",
    ]
    x, y = ((rng.random((4, 5)) * 99).astype(dtype) for _ in range(2))
    return Program(module(lines, 4), [x, y], 4, kind="exact")


@case
def all_to_all_partitions(rng):
    """With a channel: among the partitions of a replica."""
    lines = [
        "x = s32[3] parameter(0)",
        "y = s32[3] parameter(1)",
        "t = (s32[3], s32[3]) all-to-all(x, y), channel_id=1, replica_groups={{1,0},{2,3}}",
    ]
    x, y = (rng.integers(0, 1000, (8, 3)).astype(np.int32) for _ in range(2))
    return Program(module(lines, 2, 4), [x, y], 2, 4, kind="exact")


@case
def collective_permute(rng):
    """Around a ring, and pairs that leave some without: these get zeros."""
    lines = [
        "x = f32[5] parameter(0)",
        "a = f32[5] collective-permute(x), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}",
        "b = f32[5] collective-permute(x), source_target_pairs={{3,1},{0,2}}",
        "y = f32[5] add(a, b)",
        "c = f32[5] collective-permute(y), source_target_pairs={{1,1},{2,0},{3,2}}",
    ]
    lines.append("t = (f32[5], f32[5], f32[5]) tuple(a, b, c)")
    return Program(module(lines, 4), [normal(rng, 4, 5)], 4, kind="exact")


@case
def collective_permute_partitions(rng):
    """With a channel: among the partitions of each replica; without, among replicas."""
    lines = [
        "x = bf16[5] parameter(0)",
        "a = bf16[5] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3}}",
        "b = bf16[5] collective-permute(x), source_target_pairs={{0,1},{1,0}}",
    ]
    lines.append(results(lines, 1))
    x = normal(rng, 8, 5, dtype=ml_dtypes.bfloat16)
    return Program(module(lines, 2, 4), [x], 2, 4, kind="exact")


@case
def collective_broadcast(rng):
    """The first of each group gives; who is in no group gets zeros."""
    lines = [
        "x = f32[5] parameter(0)",
        "a = f32[5] collective-broadcast(x), replica_groups={{2,0},{1,3}}",
        "b = f32[5] collective-broadcast(x), replica_groups={{3,1}}",
    ]
    lines.append(results(lines, 1))
    x = normal(rng, 4, 5)
    zero = np.zeros_like(x[0])
    expected = [np.stack([x[2], x[1], x[2], x[1]]), np.stack([zero, x[3], zero, x[3]])]
    return Program(module(lines, 4), [x], 4, expected=expected, kind="exact")


def exchanged_rows(x, out, input_offsets, send_sizes, output_offsets, groups):
    """ragged-all-to-all by its definition: rows that a participant sends to the others of its group, put where it
    says."""
    out = out.copy()
    for group in groups:
        for sender in group:
            for rank, receiver in enumerate(group):
                rows = send_sizes[sender][rank]
                source, target = input_offsets[sender][rank], output_offsets[sender][rank]
                out[receiver][target : target + rows] = x[sender][source : source + rows]
    return out


@case
def ragged_all_to_all(rng):
    """Rows of different numbers, among two groups of two replicas."""
    lines = [
        "x = f32[6,2] parameter(0)",
        "y = f32[9,2] parameter(1)",
        "a = s32[2] parameter(2)",
        "b = s32[2] parameter(3)",
        "c = s32[2] parameter(4)",
        "d = s32[2] parameter(5)",
        "r = f32[9,2] ragged-all-to-all(x, y, a, b, c, d), replica_groups={{0,2},{3,1}}",
    ]
    groups = [[0, 2], [3, 1]]
    x, y = normal(rng, 4, 6, 2), normal(rng, 4, 9, 2)
    send = np.array([[1, 3], [2, 2], [4, 1], [0, 5]], np.int32)
    offsets = np.array([[0, 2], [4, 1], [1, 0], [3, 1]], np.int32)
    receive, targets = np.zeros_like(send), np.zeros_like(send)
    for group in groups:
        for rank, receiver in enumerate(group):
            at = 1
            for number, sender in enumerate(group):
                receive[receiver][number] = send[sender][rank]
                targets[sender][rank] = at
                at += send[sender][rank]
    expected = [exchanged_rows(x, y, offsets, send, targets, groups)]
    return Program(module(lines, 4), [x, y, offsets, send, targets, receive], 4, expected=expected, kind="exact")


# ---------------------------------------------------------------------------------------- in two halves


def _halves(asynchronous: bool) -> list[str]:
    def pair(name, shape, opcode, start_shape, said):
        if not asynchronous:
            return [f"{name} = {shape} {opcode}(x), {said}"]
        return [
            f"{name}s = {start_shape} {opcode}-start(x), {said}",
            f"{name} = {shape} {opcode}-done({name}s)",
        ]

    lines = ["x = f32[4] parameter(0)"]
    lines += pair("a", "f32[4]", "all-reduce", "f32[4]", "replica_groups={{0,2},{1,3}}, to_apply=add")
    lines += pair("g", "f32[8]", "all-gather", "(f32[4], f32[8])", "replica_groups={{2,0},{1,3}}, dimensions={0}")
    lines += pair(
        "p", "f32[4]", "collective-permute", "(f32[4], f32[4])", "source_target_pairs={{0,1},{1,2},{3,0}}"
    )
    lines.append("t = (f32[4], f32[8], f32[4]) tuple(a, g, p)")
    return lines


@case
def starts_and_ends(rng):
    """all-reduce, all-gather and collective-permute as a start and an end."""
    add = reducer("add", "f32", "add")
    text, reference = (module(_halves(asynchronous), 4, 1, add) for asynchronous in (True, False))
    return Program(text, [normal(rng, 4, 4)], 4, reference=reference)


@case
def asynchronous_computations(rng):
    """reduce-scatter and all-to-all in computations that async-start runs."""
    add = reducer("add", "f32", "add")
    scatter = "reduce-scatter(x), replica_groups={{0,1},{2,3}}, dimensions={0}, to_apply=add"
    exchange = "all-to-all(x, x), replica_groups={{0,3},{2,1}}"
    others = add + (
        f"scatter {{\n  x = f32[4] parameter(0)\n  ROOT r = f32[2] {scatter}\n}}\n\n"
        f"exchange {{\n  x = f32[4] parameter(0)\n  ROOT r = (f32[4], f32[4]) {exchange}\n}}\n\n"
    )
    lines = [
        "x = f32[4] parameter(0)",
        "s = ((f32[4]), f32[2], u32[]) async-start(x), calls=scatter",
        "e = ((f32[4]), (f32[4], f32[4]), u32[]) async-start(x), calls=exchange",
        "r = f32[2] async-done(s)",
        "b = (f32[4], f32[4]) async-done(e)",
        "c = f32[4] get-tuple-element(b), index=0",
        "d = f32[4] get-tuple-element(b), index=1",
        "t = (f32[2], f32[4], f32[4]) tuple(r, c, d)",
    ]
    plain = ["x = f32[4] parameter(0)", f"r = f32[2] {scatter}", f"b = (f32[4], f32[4]) {exchange}", *lines[5:]]
    reference = module(plain, 4, 1, add)
    return Program(module(lines, 4, 1, others), [normal(rng, 4, 4)], 4, reference=reference)
