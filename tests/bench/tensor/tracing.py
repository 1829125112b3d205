"""Measures tracing beside its limits and beside JAX in one run: tracing.py BUILD.

BUILD is a build folder with tests/tensor_bench. The same programs in both: a chain of 10,000 additions of f32[8] (each
operation traced; the step found in the cache and run), x = x + 1 read each step, the forward step of a small perceptron.
Needs the packages of tests/conformance/jax/requirements.txt. Prints the median of the rounds and ratios."""
import json
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp

OPERATIONS = 10_000
ROUNDS = 5


def hlod(build):
    command = [f"{build}/tests/tensor_bench", "--benchmark_format=json", f"--benchmark_repetitions={ROUNDS}",
               "--benchmark_min_time=0.2", "--benchmark_filter=ArenaNode|PublicAdd|CachedStep/10000|AddAndRead|Ping|MlpStep"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, env=dict(os.environ)).stdout)
    found = {}
    for row in report["benchmarks"]:
        if row.get("aggregate_name") != "median":
            continue
        name = row["run_name"].split("/")[0]
        scale = {"ns": 1, "us": 1e3, "ms": 1e6}[row["time_unit"]]
        per = next((row[key] * 1e9 for key in ("per_node", "per_operation") if key in row), row["real_time"] * scale)
        found[name] = per
    return found


def median(f, count):
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter_ns()
        f()
        times.append((time.perf_counter_ns() - begin) / count)
    return statistics.median(times)


def jax_side():
    start = jnp.ones(8)

    def chain(x, n=OPERATIONS):
        for _ in range(n):
            x = x + start
        return x

    # A new function each time: JAX keeps the trace of one that it knows.
    traced = median(lambda: jax.make_jaxpr(lambda x: chain(x))(start), OPERATIONS)
    eager = median(lambda: chain(start, 1000).block_until_ready(), 1000)
    # XLA takes minutes for 10,000 instructions in a row; the cached step is one of 1,000.
    step = jax.jit(lambda x: chain(x, 1000))
    step(start).block_until_ready()
    cached = median(lambda: step(start).block_until_ready(), 1)
    add = jax.jit(lambda x: x + 1)
    x = jnp.zeros(())
    float(add(x))

    def reads():
        y = x
        for _ in range(1000):
            y = add(y)
            float(y)

    x0, up, down = jnp.ones((32, 64)), jnp.ones((64, 128)), jnp.ones((128, 10))
    mlp = jax.jit(lambda x: jnp.maximum(x @ up, 0) @ down)
    mlp(x0).block_until_ready()

    def steps():
        for _ in range(1000):
            last = mlp(x0)
        last.block_until_ready()

    return {"trace": traced, "eager": eager, "cached": cached, "read": median(reads, 1000), "mlp": median(steps, 1000)}


def main(build):
    ours, theirs = hlod(build), jax_side()
    rows = [
        ("append a node to the arena (the limit)", ours["ArenaNode"], None, None),
        ("x + y on tensors, recorded", ours["PublicAdd"], "jax.make_jaxpr", theirs["trace"]),
        ("x + y on tensors, recorded", ours["PublicAdd"], "eager dispatch", theirs["eager"]),
        ("an operation of a cached step of 10,000", ours["CachedStep"], "jitted step of 1,000, traced once",
         theirs["cached"] / 1000),
        ("x = x + 1, read", ours["AddAndRead"], "jit in process", theirs["read"]),
        ("x = x + 1, read", ours["AddAndRead"], "bare round trip", ours["Ping"]),
        ("a perceptron's step, not read", ours["MlpStep"], "jit in process", theirs["mlp"]),
    ]
    print(f"{'hlod':42} {'ns':>10}  {'beside':34} {'ns':>10}  ratio")
    for name, nanoseconds, peer, peer_nanoseconds in rows:
        tail = f"{peer:34} {peer_nanoseconds:10.0f}  {nanoseconds / peer_nanoseconds:.3f}" if peer else ""
        print(f"{name:42} {nanoseconds:10.0f}  {tail}")


if __name__ == "__main__":
    main(sys.argv[1])
