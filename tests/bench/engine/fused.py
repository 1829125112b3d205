#!/usr/bin/env python3
"""Loops over elements, and loops of programs: interpreted, as machine code, and by XLA, in one run.

    fused.py MODULE_BENCH                             each instruction set of this processor
    fused.py MODULE_BENCH --only softmax --rounds 5

Times are medians over the rounds, in milliseconds; XLA runs with all instructions of the processor. The last column
is the time to assemble over the time to compile.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np

MILLIONS = 1 << 22


def chain(x, y, z):
    return jnp.maximum((x + y) * z - 0.5 * x, y) + x * y


def exponentials(x, y, z):
    return jnp.tanh(x) * jax.nn.sigmoid(y) + jnp.exp(-z * z)


def layer_norm(x, gamma, beta):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * gamma + beta


def rms_norm(x, gamma):
    return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6) * gamma


def scalar_loop(x):
    return jax.lax.fori_loop(0, 100_000, lambda i, y: y * 0.999 + jnp.float32(i) * 1e-6, x)


def collatz(x):
    def body(state):
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    start = (x.astype(jnp.int32) * 0 + 77_031, jnp.int32(0))
    return jax.lax.while_loop(lambda state: state[0] != 1, body, start)[1]


def vector_loop(x):
    return jax.lax.fori_loop(0, 10_000, lambda i, y: y * 0.999 + 0.001 * y * y, x)


def scan(x, steps):
    def body(carry, step):
        carry = carry * 0.9 + jnp.tanh(step)
        return carry, carry

    return jax.lax.scan(body, x, steps)


def newton(x):
    def body(state):
        y, _ = state
        after = 0.5 * (y + jnp.abs(x) / y)
        return after, jnp.max(jnp.abs(after - y))

    start = (jnp.abs(x) + 1, jnp.float32(1))
    return jax.lax.while_loop(lambda state: state[1] > 1e-6, body, start)[0]


def power_iteration(a, x):
    def body(_, y):
        y = a @ y
        return y / jnp.sqrt(jnp.sum(y * y))

    return jax.lax.fori_loop(0, 1000, body, x)


def cases():
    """Yields name, function and the shapes of its arguments."""
    yield "loop_scalar_100k", scalar_loop, [()]
    yield "loop_collatz", collatz, [()]
    yield "loop_256_10k", vector_loop, [(256,)]
    yield "scan_64_2000", scan, [(64,), (2000, 64)]
    yield "loop_newton_100", newton, [(100,)]
    yield "loop_power_32", power_iteration, [(32, 32), (32,)]
    whole = (MILLIONS,)
    yield "chain_4m", chain, [whole] * 3
    yield "chain_64k", chain, [(1 << 16,)] * 3
    yield "chain_1k", chain, [(1 << 10,)] * 3
    yield "chain_tiny", chain, [(8,)] * 3
    yield "exponentials_4m", exponentials, [whole] * 3
    yield "gelu_erf_4m", lambda x: jax.nn.gelu(x, approximate=False), [whole]
    yield "softmax_4096x1024", lambda x: jax.nn.softmax(x), [(4096, 1024)]
    yield "softmax_65536x64", lambda x: jax.nn.softmax(x), [(65536, 64)]
    yield "softmax_400000x10", lambda x: jax.nn.softmax(x), [(400_000, 10)]
    yield "softmax_100000x33", lambda x: jax.nn.softmax(x), [(100_000, 33)]
    yield "softmax_masked", lambda x, m: jax.nn.softmax(jnp.where(m > 0, x, -1e9)), [(512, 8, 128), (1, 1, 128)]
    yield "log_softmax_4096x1024", lambda x: jax.nn.log_softmax(x), [(4096, 1024)]
    yield "logsumexp_4096x1000", lambda x: jax.nn.logsumexp(x, axis=-1), [(4096, 1000)]
    yield "layer_norm_4096x1024", layer_norm, [(4096, 1024), (1024,), (1024,)]
    yield "gelu_layer_norm", lambda x, g, b: layer_norm(jax.nn.gelu(x), g, b), [(4096, 1024), (1024,), (1024,)]
    yield "rms_norm_4096x1024", rms_norm, [(4096, 1024), (1024,)]
    yield "layer_norm_20000x48", layer_norm, [(20_000, 48), (48,), (48,)]
    yield "bias_relu_65536x64", lambda x, b: jnp.maximum(x + b, 0), [(65536, 64), (64,)]
    yield "scale_rows_65536x24", lambda x, b: jnp.tanh(x) * b[:, None] + 1, [(65536, 24), (65536,)]
    yield "positions_4096x1024", lambda x: x * jnp.sin(jnp.arange(1024) * 0.01) + jnp.arange(4096)[:, None], [(4096, 1024)]
    yield "column_sums", lambda x: (x * x).sum(0), [(4096, 1024)]
    yield "column_max_65536x32", lambda x: jnp.max(x, 0), [(65536, 32)]
    yield "batch_norm_64x56x56", lambda x, g: (x - x.mean((0, 2, 3), keepdims=True)) * g, [(8, 64, 56, 56), (1, 64, 1, 1)]
    yield "log_1p_4m", lambda x: jnp.log1p(jnp.abs(x)) + jnp.sqrt(jnp.abs(x)), [whole]
    yield "cast_bf16_4m", lambda x: (x.astype(jnp.bfloat16) * 2 + 1).astype(jnp.float32), [whole]
    yield "quantise_4m", lambda x: jnp.clip(jnp.round(x * 16), -128, 127).astype(jnp.int8), [whole]
    yield "modulo_1m", lambda x: (x * 1000).astype(jnp.int32) % 7 * 3 + 1, [(1 << 20,)]
    yield "sum_4m", jnp.sum, [whole]
    yield "sum_squares_4m", lambda x: jnp.sum(x * x), [whole]
    yield "max_abs_4m", lambda x: jnp.max(jnp.abs(x)), [whole]
    yield "column_sums_exp", lambda x: jnp.exp(x).sum(0), [(4096, 1024)]
    yield "adam_4m", lambda p, g, m, v: (
        p - 1e-3 * (0.9 * m + 0.1 * g) / (jnp.sqrt(0.999 * v * v + 0.001 * g * g) + 1e-8),
        0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g), [whole] * 4


def bench(binary, folder, flags, budget_ms):
    command = [binary, "--budget-ms", str(budget_ms), *flags, folder]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def xla_times(compiled, budget_s):
    figures = {}
    for name, (program, arguments) in compiled.items():
        jax.block_until_ready(program(*arguments))
        times = []
        begin = time.perf_counter()
        while len(times) < 3 or (time.perf_counter() - begin < budget_s and len(times) < 1000):
            start = time.perf_counter()
            jax.block_until_ready(program(*arguments))
            times.append(time.perf_counter() - start)
        figures[name] = statistics.median(times) * 1e6
    return figures


def prepare(folder, only):
    compiled = {}
    random = np.random.default_rng(7)
    for name, function, shapes in cases():
        if only not in name:
            continue
        arguments = [random.standard_normal(shape, dtype=np.float32) for shape in shapes]
        lowered = jax.jit(function).lower(*arguments)
        (folder / f"{name}.hlo").write_text(lowered.compiler_ir("hlo").as_hlo_text(True))
        for i, argument in enumerate(arguments):
            argument.tofile(folder / f"{name}.{i}")
        compiled[name] = (lowered.compile(), [jax.device_put(argument) for argument in arguments])
    return compiled


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module_bench")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--budget-ms", type=float, default=60)
    parser.add_argument("--levels", default="avx2,avx512")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        compiled = prepare(folder, options.only)
        levels = options.levels.split(",")
        ways = [(level, way) for level in levels for way in ("interpreted", "assembled")]
        rounds = []
        for _ in range(options.rounds):
            figures = {}
            for level, way in ways:
                flags = ["--cpu-features", level] + (["--assemble"] if way == "assembled" else [])
                figures[level, way] = bench(options.module_bench, folder, flags, options.budget_ms)
            rounds.append((figures, xla_times(compiled, options.budget_ms / 1000)))
    print(f"{'':24}" + "".join(f"{level + ' ' + way:>20}" for level, way in ways) + f"{'xla':>9}  xla/ours  kernels  assembling")
    for name in compiled:
        xla = statistics.median(theirs[name] for _, theirs in rounds)
        mine = {way: statistics.median(ours[way][name]["run_us"] for ours, _ in rounds) for way in ways}
        last = rounds[-1][0][ways[-1]][name]
        print(f"{name:24}" + "".join(f"{mine[way] / 1000:20.4f}" for way in ways) + f"{xla / 1000:9.4f}"
              f"{xla / mine[ways[-1]]:10.2f}  {last['kernels']:4}/{last['fused_steps']}"
              f"{last['assemble_us'] / last['compile_us']:12.2f}")


if __name__ == "__main__":
    main()
