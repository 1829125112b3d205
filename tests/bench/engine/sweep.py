#!/usr/bin/env python3
"""Every opcode over every element type, on a million elements: the engine's time over XLA's, in one run.

    sweep.py MODULE_BENCH                           everything; some minutes a round
    sweep.py MODULE_BENCH --only 'reduce*' --types f16,bf16
    sweep.py MODULE_BENCH --csv FILE                every case of the run, as a table
    taskset -c 0 sweep.py MODULE_BENCH --processor  one core each, on a machine that does other things, too

A ratio above 1 is slower than XLA. Each is the median over the rounds; XLA and the engine take turns, an opcode at
a time. What XLA does not compile is left out. --check compares the results, too.
"""

import argparse
import csv
import fnmatch
import functools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CONFORMANCE = HERE.parents[1] / "conformance"
sys.path[:0] = [str(CONFORMANCE / "sweep"), str(CONFORMANCE / "jax")]

import jax  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from families import cases  # noqa: E402
from programs import xla  # noqa: E402

jax.config.update("jax_enable_x64", True)

N = 1 << 20
SIDE = 1 << 10
TYPES = dict(cases.TYPES)
TYPES |= {"s4": ml_dtypes.int4, "u4": ml_dtypes.uint4, "f4e2m1fn": ml_dtypes.float4_e2m1fn}
TYPES |= {"f8e8m0fnu": ml_dtypes.float8_e8m0fnu}
INTEGERS = [t for t in TYPES if t[0] in "su"]
COMPLEX = ["c64", "c128"]
FLOATS = [t for t in TYPES if t[0] in "fb"]
NUMBERS = [t for t in TYPES if t != "pred"]
REAL = [t for t in TYPES if t not in COMPLEX]

GROUPS = {"all": list(TYPES), "numbers": NUMBERS, "real": REAL, "floats": FLOATS, "inexact": FLOATS + COMPLEX}
GROUPS |= {"integers": INTEGERS, "bits": ["pred"] + INTEGERS, "complex": COMPLEX, "wide": ["f32", "f64"]}
GROUPS |= {"ordered": REAL, "signed": [t for t in NUMBERS if t[0] != "u"]}

UNARY = {"signed": "abs negate sign", "bits": "not", "integers": "popcnt count-leading-zeros", "complex": "real imag"}
UNARY |= {"floats": "ceil floor round-nearest-afz round-nearest-even is-finite cbrt erf reduce-precision"}
UNARY |= {"inexact": "cosine sine tan tanh exponential exponential-minus-one log log-plus-one logistic sqrt rsqrt"}
BINARY = {"all": "add multiply", "numbers": "subtract divide power", "real": "remainder maximum minimum"}
BINARY |= {"bits": "and or xor", "integers": "shift-left shift-right-logical shift-right-arithmetic"}
BINARY |= {"inexact": "atan2", "wide": "complex"}


def part(dtype):
    return {"c64": "f32", "c128": "f64"}.get(dtype, dtype)


@functools.cache
def values(dtype, count, seed=0, positive=False):
    """Ordinary numbers, both signs where there are two. Cases share them: all together they fit memory."""
    rng = np.random.default_rng(seed)
    if dtype == "pred":
        return rng.integers(0, 2, count).astype(np.bool_)
    if dtype in INTEGERS:
        info = ml_dtypes.iinfo(TYPES[dtype])
        low = 1 if positive or info.min == 0 else max(int(info.min), -100)
        return rng.integers(low, min(int(info.max), 100), count, endpoint=True).astype(TYPES[dtype])
    magnitude = rng.uniform(0.5, 1.9, count)
    if dtype in COMPLEX:
        return (magnitude * np.exp(1j * rng.uniform(-3, 3, count))).astype(TYPES[dtype])
    sign = 1 if positive or dtype == "f8e8m0fnu" else rng.choice([-1.0, 1.0], count)
    return (magnitude * sign).astype(TYPES[dtype])


class Case:
    def __init__(self, name, arguments, result, body, before=""):
        self.name, self.arguments = name, arguments
        names = {np.dtype(d): n for n, d in TYPES.items()}
        lines = [
            f"{name} = {cases.shape(names[array.dtype], array)} parameter({i})"
            for i, (name, array) in enumerate(arguments.items())
        ]
        computations = before if before.startswith("%") else ""
        lines += before.splitlines() if not computations else []
        lines.append(f"ROOT result = {result} {body}")
        self.text = f"HloModule bench\n\n{computations}\nENTRY main {{\n  " + "\n  ".join(lines) + "\n}\n"


def reducer(opcode, dtype):
    if opcode == "custom":  # Not one plain operation, and yet associative.
        body = f"  s = {dtype}[] add(x, y)\n  m = {dtype}[] maximum(x, y)\n  ROOT r = {dtype}[] add(m, m)\n"
        if dtype == "pred":
            body = f"  n = {dtype}[] not(x)\n  ROOT r = {dtype}[] or(n, y)\n"
        elif dtype in COMPLEX:
            body = f"  n = {dtype}[] negate(x)\n  m = {dtype}[] multiply(x, y)\n  ROOT r = {dtype}[] subtract(m, n)\n"
    else:
        body = f"  ROOT r = {dtype}[] {opcode}(x, y)\n"
    parameters = f"  x = {dtype}[] parameter(0)\n  y = {dtype}[] parameter(1)\n"
    return f"%f (x: {dtype}[], y: {dtype}[]) -> {dtype}[] {{\n{parameters}{body}}}\n"


def elementwise():
    positive = ("log", "log-plus-one", "sqrt", "rsqrt", "power")
    for table, arity in ((UNARY, 1), (BINARY, 2)):
        for group, opcodes in table.items():
            for opcode in opcodes.split():
                for dtype in GROUPS[group]:
                    if (opcode, dtype) in (("remainder", "c64"), ("remainder", "c128")):
                        continue
                    names = "ab"[:arity]
                    arguments = {n: values(dtype, N, i, opcode in positive) for i, n in enumerate(names)}
                    if opcode.startswith("shift") or (opcode == "power" and dtype in INTEGERS):
                        arguments["b"] = np.clip(arguments["b"].astype(np.int64), 0, 3).astype(TYPES[dtype])
                    to = {"is-finite": "pred", "real": part(dtype), "imag": part(dtype)}.get(opcode, dtype)
                    to = part(dtype) if opcode == "abs" else to
                    to = {"f32": "c64", "f64": "c128"}[dtype] if opcode == "complex" else to
                    more = ", exponent_bits=4, mantissa_bits=3" if opcode == "reduce-precision" else ""
                    body = f"{opcode}({', '.join(names)}){more}"
                    yield opcode, Case(f"{opcode}.{dtype}", arguments, f"{to}[{N}]", body)
    for dtype in TYPES:
        a, b = values(dtype, N, 0), values(dtype, N, 1)
        direction = "EQ" if dtype in COMPLEX else "LT"
        yield "compare", Case(f"compare.{dtype}", {"a": a, "b": b}, f"pred[{N}]", f"compare(a, b), direction={direction}")
        p = values("pred", N, 2)
        yield "select", Case(f"select.{dtype}", {"p": p, "a": a, "b": b}, f"{dtype}[{N}]", "select(p, a, b)")
        if dtype in REAL:
            yield "clamp", Case(f"clamp.{dtype}", {"p": a, "a": b, "b": a}, f"{dtype}[{N}]", "clamp(p, a, b)")


def conversions():
    hubs = ["pred", "s8", "s32", "s64", "u8", "u64", "bf16", "f16", "f32", "f64", "c64", "f8e4m3fn", "f8e5m2"]
    for source in TYPES:
        for to in TYPES:
            if source == to or (source not in hubs and to not in hubs) or (source in COMPLEX and to == "pred"):
                continue
            yield "convert", Case(f"convert.{source}.{to}", {"a": values(source, N)}, f"{to}[{N}]", "convert(a)")


def reductions():
    for dtype in TYPES:
        a = values(dtype, N).reshape(SIDE, SIDE)
        i = values(dtype, 1).reshape(())
        for opcode in ("add", "multiply", "maximum", "custom"):
            if opcode == "maximum" and dtype in COMPLEX:
                continue
            f = reducer(opcode, dtype)
            for name, dims, out in (("all", "0,1", ""), ("rows", "1", SIDE), ("columns", "0", SIDE)):
                body = f"reduce(a, i), dimensions={{{dims}}}, to_apply=%f"
                name = f"reduce-{opcode}-{name}"
                yield name, Case(f"{name}.{dtype}", {"a": a, "i": i}, f"{dtype}[{out}]", body, f)
            windows = {"3x3": ("3x3 pad=1_1x1_1", SIDE, SIDE), "pool": ("2x2 stride=2x2", SIDE // 2, SIDE // 2)}
            windows["cumulative"] = (f"1x{SIDE} pad=0_0x{SIDE - 1}_0", SIDE, SIDE)
            for name, (window, h, w) in windows.items():
                if name == "cumulative" and opcode == "custom":
                    continue  # A million times a thousand.
                body = f"reduce-window(a, i), window={{size={window}}}, to_apply=%f"
                name = f"window-{opcode}-{name}"
                yield name, Case(f"{name}.{dtype}", {"a": a, "i": i}, f"{dtype}[{h},{w}]", body, f)


def argmax():
    f = "%f (x: {t}[], p: s32[], y: {t}[], q: s32[]) -> ({t}[], s32[]) {{\n  x = {t}[] parameter(0)\n"
    f += "  p = s32[] parameter(1)\n  y = {t}[] parameter(2)\n  q = s32[] parameter(3)\n"
    f += "  g = pred[] compare(x, y), direction=GE\n  m = {t}[] select(g, x, y)\n  n = s32[] select(g, p, q)\n"
    f += "  ROOT r = ({t}[], s32[]) tuple(m, n)\n}}\n"
    places = np.arange(N, dtype=np.int32).reshape(SIDE, SIDE)
    for dtype in REAL:
        arguments = {"a": values(dtype, N).reshape(SIDE, SIDE), "p": places}
        arguments |= {"i": values(dtype, 1).reshape(()), "j": np.zeros((), np.int32)}
        body = "reduce(a, p, i, j), dimensions={1}, to_apply=%f"
        yield "argmax", Case(f"argmax.{dtype}", arguments, f"({dtype}[{SIDE}], s32[{SIDE}])", body, f.format(t=dtype))


def movement():
    rng = np.random.default_rng(5)
    i = rng.integers(0, N, (N, 1)).astype(np.int32)
    rows = rng.integers(0, N // 64, (N // 64, 1)).astype(np.int32)
    for dtype in TYPES:
        a = values(dtype, N)
        m = a.reshape(SIDE, SIDE)
        square, flat = f"{dtype}[{SIDE},{SIDE}]", f"{dtype}[{N}]"
        wide = a.reshape(N // 64, 64)
        for name, operand, indices, width, window in (("", a, i, 1, ""), ("-rows", wide, rows, 64, "1")):
            sizes = "1" if window == "" else "1,64"
            attributes = f"offset_dims={{{window}}}, collapsed_slice_dims={{0}}, start_index_map={{0}}"
            attributes += f", index_vector_dim=1, slice_sizes={{{sizes}}}"
            result = cases.shape(dtype, operand)
            yield "gather" + name, Case(
                f"gather{name}.{dtype}", {"a": operand, "i": indices}, result, f"gather(a, i), {attributes}"
            )
            for opcode in ("add", "maximum", "assign"):
                if opcode == "maximum" and dtype in COMPLEX:
                    continue
                f = reducer(opcode, dtype) if opcode != "assign" else reducer("add", dtype).replace("add(x, y)", "copy(y)")
                attributes = f"update_window_dims={{{window}}}, inserted_window_dims={{0}}"
                attributes += ", scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=%f"
                arguments = {"a": operand, "i": indices, "u": operand}
                case = f"scatter-{opcode}{name}"
                yield case, Case(f"{case}.{dtype}", arguments, result, f"scatter(a, i, u), {attributes}", f)
        yield "transpose", Case(f"transpose.{dtype}", {"a": m}, square, "transpose(a), dimensions={1,0}")
        yield "reverse", Case(f"reverse.{dtype}", {"a": m}, square, "reverse(a), dimensions={1}")
        yield "slice", Case(
            f"slice.{dtype}", {"a": m}, f"{dtype}[{SIDE // 2},{SIDE}]", f"slice(a), slice={{[1:{SIDE}:2], [0:{SIDE}]}}"
        )
        z = values(dtype, 1).reshape(())
        yield "pad", Case(f"pad.{dtype}", {"a": m, "z": z}, f"{dtype}[{SIDE + 2},{SIDE + 2}]", "pad(a, z), padding=1_1x1_1")
        yield "broadcast", Case(f"broadcast.{dtype}", {"a": a[:SIDE]}, square, "broadcast(a), dimensions={0}")
        yield "concatenate", Case(
            f"concatenate.{dtype}", {"a": m, "b": m}, f"{dtype}[{SIDE},{2 * SIDE}]", "concatenate(a, b), dimensions={1}"
        )
        k = np.array(7, np.int32)
        yield "dynamic-update-slice", Case(
            f"dynamic-update-slice.{dtype}",
            {"a": m, "u": m[: SIDE // 2, : SIDE // 2].copy(), "k": k},
            square,
            "dynamic-update-slice(a, u, k, k)",
        )
        if dtype in NUMBERS:
            yield "iota", Case(f"iota.{dtype}", {}, flat, "iota(), iota_dimension=0")
        if dtype in REAL:
            for name, operand in (("sort", m), ("sort-flat", a)):
                f = f"%f (x: {dtype}[], y: {dtype}[]) -> pred[] {{\n  x = {dtype}[] parameter(0)\n  y = {dtype}[] parameter(1)\n"
                total = ", type=TOTALORDER" if dtype in FLOATS else ""
                f += f"  ROOT r = pred[] compare(x, y), direction=LT{total}\n}}\n"
                body = f"sort(a), dimensions={{{operand.ndim - 1}}}, to_apply=%f"
                yield name, Case(f"{name}.{dtype}", {"a": operand}, cases.shape(dtype, operand), body, f)


def dots():
    for dtype in NUMBERS:
        a = values(dtype, N // 4).reshape(SIDE // 2, SIDE // 2)
        body = "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
        yield "dot", Case(f"dot.{dtype}", {"a": a, "b": a}, cases.shape(dtype, a), body)


def chains():
    """Chains of several operations, which are fused."""
    for dtype in FLOATS + COMPLEX:
        a, b = values(dtype, N, 0), values(dtype, N, 1)
        shape = f"{dtype}[{N}]"
        before = f"s = {shape} add(a, b)\nt = {shape} multiply(s, a)\nu = {shape} subtract(t, b)"
        yield "chain", Case(f"chain.{dtype}", {"a": a, "b": b}, shape, "multiply(u, s)", before)


def all_cases():
    for family in (elementwise, conversions, reductions, argmax, movement, dots, chains):
        yield from family()


def median_time(clock, budget_s, call):
    """In microseconds."""
    times = []
    begin = clock()
    while len(times) < 3 or (clock() - begin < budget_s and len(times) < 1000):
        start = clock()
        call()
        times.append(clock() - start)
    return statistics.median(times) * 1e6


class Xla:
    """A case compiled by XLA."""

    def __init__(self, case):
        device = jax.devices("cpu")[0]
        module = xla.Module.from_text(case.text)
        stablehlo = xla._jax.mlir.hlo_to_stablehlo(module.proto)
        self.compiled = device.client.compile_and_load(
            stablehlo, xla._jax.DeviceList((device,)), xla._jax.CompileOptions()
        )
        self.arguments = [jax.device_put(array, device) for array in case.arguments.values()]

    def run(self):
        results = self.compiled.execute(self.arguments)
        for result in results:
            result.block_until_ready()
        return results


def difference(got, want, dtype):
    """Returns the number of elements that differ from XLA's by more than the type's tolerance."""
    exact = dtype == "pred" or dtype in INTEGERS
    if exact:
        return int(np.sum(got != want))
    tolerance = {"f64": 1e-10, "c128": 1e-10, "f32": 1e-5, "c64": 1e-5, "f16": 4e-3, "bf16": 2e-2}.get(dtype, 0.5)
    kind = np.complex128 if dtype in COMPLEX else np.float64
    a, b = got.astype(kind), want.astype(kind)
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= tolerance * (1 + np.abs(b))
    return int(np.sum(~(near | (a == b) | (np.isnan(a) & np.isnan(b)))))


def measure(batch, options):
    """{name: (ours, theirs, reference steps, wrong)} in microseconds; a batch is small enough to be held at once."""
    compiled, taken = {}, []
    for case in batch:
        try:
            compiled[case.name] = Xla(case)
            compiled[case.name].run()
            taken.append(case)
        except Exception as error:  # noqa: BLE001: whatever XLA says
            print(f"{case.name}: left out: {str(error).splitlines()[0][:120]}", file=sys.stderr)
    if not taken:
        return {}
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in taken:
            base = pathlib.Path(folder, case.name)
            base.with_name(case.name + ".hlo").write_text(case.text)
            for i, array in enumerate(case.arguments.values()):
                base.with_name(f"{case.name}.{i}").write_bytes(np.ascontiguousarray(array).tobytes())
        ours, theirs = [], []
        clock = time.process_time if options.processor else time.perf_counter
        for turn in range(options.rounds):
            arguments = ["--results"] if options.check and turn == 0 else []
            arguments += ["--processor"] if options.processor else []
            command = [options.module_bench, "--budget-ms", str(options.budget_ms), *arguments, folder]
            theirs.append({c.name: median_time(clock, options.budget_ms / 1000, compiled[c.name].run) for c in taken})
            ours.append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
        for case in taken:
            if case.name not in ours[0]:
                continue  # It has said why.
            wrong = 0
            if options.check:
                for r, result in enumerate(compiled[case.name].run()):
                    want = np.asarray(result)
                    raw = pathlib.Path(folder, f"{case.name}.result.{r}").read_bytes()
                    names = {np.dtype(d): n for n, d in TYPES.items()}
                    wrong += difference(np.frombuffer(raw, want.dtype).reshape(want.shape), want, names[want.dtype])
            figures[case.name] = (
                statistics.median(turn[case.name]["run_us"] for turn in ours),
                statistics.median(turn[case.name] for turn in theirs),
                statistics.median(o[case.name]["run_us"] / t[case.name] for o, t in zip(ours, theirs, strict=True)),
                ours[0][case.name]["reference_steps"],
                wrong,
            )
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module_bench")
    parser.add_argument("--only", default="*", help="patterns of opcodes, by commas")
    parser.add_argument("--types", default="*", help="patterns of the types in a case's name, by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget-ms", type=float, default=10)
    parser.add_argument("--worst", type=int, default=60, help="how many of the slowest are listed")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--processor", action="store_true", help="processor time; with taskset, on a busy machine")
    parser.add_argument("--csv", type=argparse.FileType("w"))
    options = parser.parse_args()
    matches = lambda name, patterns: any(fnmatch.fnmatch(name, p) for p in patterns.split(","))  # noqa: E731
    writer = csv.writer(options.csv) if options.csv else None
    if writer:
        writer.writerow(["case", "ours_us", "xla_us", "ratio", "reference_steps", "wrong"])
    batches = {}
    for opcode, case in all_cases():
        if matches(opcode, options.only) and any(matches(t, options.types) for t in case.name.split(".")[1:]):
            batches.setdefault(opcode, []).append(case)
    table = {}
    for opcode, cases_of in batches.items():
        for start in range(0, len(cases_of), 32):
            batch = cases_of[start : start + 32]
            measured = measure(batch, options)
            table |= measured
            if writer:
                writer.writerows([name, *(f"{value:.6g}" for value in row)] for name, row in measured.items())
                options.csv.flush()
        ratios = {name: row[2] for name, row in table.items() if name.split(".")[0] == opcode}
        if ratios:
            worst = max(ratios, key=ratios.get)
            print(f"{opcode:28} median {statistics.median(ratios.values()):8.2f}   worst {ratios[worst]:8.2f} {worst}", flush=True)
    rows = sorted(table.items(), key=lambda item: -item[1][2])
    print(f"\n{'slowest':40} {'ours us':>10} {'XLA us':>10} {'ratio':>8}  reference steps")
    for name, (ours, theirs, ratio, steps, _) in rows[: options.worst]:
        print(f"{name:40} {ours:10.1f} {theirs:10.1f} {ratio:8.2f}  {steps or ''}")
    for name, row in rows:
        if row[4]:
            print(f"{name}: {row[4]} elements are not XLA's")
    ratios = [row[2] for _, row in rows]
    above = sum(ratio > 4 for ratio in ratios)
    print(f"\n{len(ratios)} cases: median {statistics.median(ratios):.2f}, {above} above 4, {sum(r > 1 for r in ratios)} above 1")


if __name__ == "__main__":
    main()
