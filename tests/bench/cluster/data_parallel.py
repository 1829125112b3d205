"""Times a data-parallel training step of a small GPT by jax.distributed: processes, one per daemon of a cluster on the loopback
interface, beside as many processes of JAX's own CPU backend with Gloo, in turns:

    python3 tests/bench/cluster/data_parallel.py PLUGIN HLOD [PROCESSES [DEVICES [REPEATS]]]
"""

import os
import pathlib
import socket
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests/python/jax"))
import daemons  # pylint: disable=wrong-import-position

STEP = """
import sys, time
import jax, jax.numpy as jnp, numpy as np

index, count, coordinator, devices = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
if jax.config.jax_platforms == "cpu":
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.config.update("jax_num_cpu_devices", devices)
jax.distributed.initialize(coordinator, count, index)
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("data",))
width, layers, words, length, batch = 128, 4, 512, 64, len(jax.devices())
random = np.random.RandomState(0)


def weights(*shape):
    values = (random.randn(*shape) * 0.05).astype(np.float32)
    return jax.make_array_from_callback(shape, NamedSharding(mesh, P()), lambda part: values[part])


def block():
    return {name: weights(width, width) for name in "qkvo"} | {"up": weights(width, 4 * width), "down": weights(4 * width, width)}


model = {"words": weights(words, width), "layers": [block() for _ in range(layers)]}
tokens = random.randint(0, words, (batch, length + 1)).astype(np.int32)
tokens = jax.make_array_from_callback(tokens.shape, NamedSharding(mesh, P("data")), lambda part, all=tokens: all[part])


def normed(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def loss(model, tokens):
    x = model["words"][tokens[:, :-1]]
    mask = jnp.tril(jnp.ones((length, length)))
    for layer in model["layers"]:
        q, k, v = ((normed(x) @ layer[name]).reshape(batch, length, 4, -1) for name in "qkv")
        scores = jax.nn.softmax(jnp.where(mask > 0, jnp.einsum("bthd,bshd->bhts", q, k) / 8, -1e9))
        x = x + jnp.einsum("bhts,bshd->bthd", scores, v).reshape(batch, length, width) @ layer["o"]
        x = x + jax.nn.gelu(normed(x) @ layer["up"]) @ layer["down"]
    logits = jax.nn.log_softmax(normed(x) @ model["words"].T)
    return -jnp.mean(jnp.take_along_axis(logits, tokens[:, 1:, None], -1))


@jax.jit
def step(model, tokens):
    value, gradient = jax.value_and_grad(loss)(model, tokens)
    return value, jax.tree.map(lambda w, g: w - 0.1 * g, model, gradient)


for _ in range(3):
    value, model = step(model, tokens)
jax.block_until_ready(model)
times = []
for _ in range(10):
    begin = time.perf_counter()
    value, model = step(model, tokens)
    jax.block_until_ready(model)
    times.append(time.perf_counter() - begin)
print("result", float(value), sorted(times)[5] * 1e3, flush=True)
from jax.experimental import multihost_utils
multihost_utils.sync_global_devices("end")
"""


def run(count, devices, environments):
    """Returns the loss and the median step in ms of process 0."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{s.getsockname()[1]}"
    processes = [
        subprocess.Popen([sys.executable, "-c", STEP, str(index), str(count), coordinator, str(devices)], env={**os.environ, **environment},
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for index, environment in enumerate(environments)
    ]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    _, loss, step = next(line for line in outputs[0].splitlines() if line.startswith("result ")).split()
    return float(loss), float(step)


def main():
    plugin, os.environ["HLOD_DAEMON"] = (os.path.abspath(path) for path in sys.argv[1:3])
    count, devices, repeats = (int(text) for text in (sys.argv[3:] + ["4", "2", "3"][len(sys.argv) - 3:]))
    flags = ("--cluster", "bench", "--devices", str(devices))
    started = [daemons.start(*flags, "--cluster-size", str(count))]
    try:
        for rank in range(1, count):
            started.append(daemons.start(*flags, "--join", started[0][2], "--rank", str(rank)))
        ours = {"HLOD_PJRT_LIBRARY": plugin, "JAX_PLATFORMS": "hlod", "PYTHONPATH": f"{ROOT}/client/python:{ROOT}/tests/python/jax/installed"}
        mine, gloo, losses = [], [], set()
        for _ in range(repeats):
            for times, environments in ((mine, [{**ours, "HLOD_ADDRESS": address} for _, address, _ in started]),
                                        (gloo, [{"JAX_PLATFORMS": "cpu"}] * count)):
                loss, step = run(count, devices, environments)
                losses.add(round(loss, 4))
                times.append(step)
    finally:
        for daemon, _, _ in started:
            daemon.kill()
    print(f"{count} processes x {devices} devices: hlod {statistics.median(mine):.1f} ms, JAX's CPU with Gloo {statistics.median(gloo):.1f} ms, "
          f"ratio {statistics.median(mine) / statistics.median(gloo):.2f} (aim: 1), losses {sorted(losses)}")


if __name__ == "__main__":
    main()
