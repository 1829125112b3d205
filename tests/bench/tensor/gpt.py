"""The training step of a small GPT through the daemon, beside the same step in JAX on this machine, in one run: gpt.py BUILD.

BUILD is a build folder with bin/example_gpt_train. Both train the same model on the same text with the same batches' shape:
layers by a scan, checkpoints that keep products, products in bf16, AdamW by a schedule, batches cut out on the device. JAX also with
products in f32, which some CPUs prefer. Times from nothing compiled to the first loss, and after it; processor times beside them say
more on a busy machine (hlod's to the first loss include its start and a sample). Needs the packages of
tests/conformance/jax/requirements.txt, and optax."""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import optax

ROUNDS, STEPS = 3, 60
BATCH, LENGTH, HEADS, LAYERS, SIZE = 16, 64, 4, 4, 128
TEXT = pathlib.Path(__file__).resolve().parents[3] / "LICENSE"


def run_example(build, steps):
    """Returns the example's output, and the processor time of the example and its daemon."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/hlod.sock"
        daemon = subprocess.Popen([f"{build}/bin/hlod", "--listen", address, "--compile-cache", "none"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while daemon.poll() is None and not os.path.exists(f"{folder}/hlod.sock"):
                time.sleep(0.01)
            command = [f"{build}/bin/example_gpt_train", "--text", str(TEXT), "--steps", str(steps), "--layers", str(LAYERS),
                       "--size", str(SIZE), "--letters", "1"]
            environment = dict(os.environ, HLOD_ADDRESS=address)
            printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
        finally:
            daemon.terminate()
            daemon.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return printed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def hlod(build):
    _, cold_time = run_example(build, 1)
    printed, time_of_all = run_example(build, STEPS)
    first, rate = re.search(r"first step ([0-9.]+) s, then ([0-9.]+) steps", printed).groups()
    loss = re.findall(r"loss ([0-9.]+)", printed)[-1]
    return float(first), float(rate), cold_time, (time_of_all - cold_time) / (STEPS - 1), float(loss)


def initial_params(key, alphabet):
    keys = iter(jax.random.split(key, 6))
    normal = lambda deviation, *shape: deviation * jax.random.normal(next(keys), shape)
    inner = SIZE**-0.5
    deep = inner / (2 * LAYERS) ** 0.5
    layers = {"norm1": jnp.ones((LAYERS, SIZE)), "query_key_value": normal(inner, LAYERS, SIZE, 3 * SIZE),
              "out": normal(deep, LAYERS, SIZE, SIZE), "norm2": jnp.ones((LAYERS, SIZE)),
              "up": normal(inner, LAYERS, SIZE, 4 * SIZE), "down": normal(deep / 2, LAYERS, 4 * SIZE, SIZE)}
    return {"letters": normal(inner, alphabet, SIZE), "places": normal(inner, LENGTH, SIZE), "layers": layers,
            "norm": jnp.ones(SIZE)}


def rms_norm(x, weight):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * weight


def loss_of(params, tokens, target, dtype):
    product = lambda x, w: jnp.matmul(x.astype(dtype), w.astype(dtype))

    def block(x, w):
        joined = product(rms_norm(x, w["norm1"]), w["query_key_value"])
        q, k, v = (part.reshape(BATCH, LENGTH, HEADS, -1).transpose(0, 2, 1, 3) for part in jnp.split(joined, 3, -1))
        scores = product(q, k.transpose(0, 1, 3, 2)).astype(jnp.float32) * (SIZE // HEADS) ** -0.5
        weights = jax.nn.softmax(jnp.where(jnp.tri(LENGTH, dtype=bool), scores, -jnp.inf))
        mixed = product(weights, v).transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, SIZE)
        y = x + product(mixed, w["out"])
        return y + product(jax.nn.gelu(product(rms_norm(y, w["norm2"]), w["up"]), approximate=False), w["down"]), None

    x = params["letters"][tokens] + params["places"]
    y, _ = jax.lax.scan(jax.checkpoint(block, policy=jax.checkpoint_policies.dots_saveable), x, params["layers"])
    scores = product(rms_norm(y, params["norm"]), params["letters"].T).astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(scores, target).mean()


def jax_side(dtype):
    text = TEXT.read_bytes()
    alphabet = sorted(set(text))
    tokens = jnp.array([alphabet.index(letter) for letter in text])
    params = initial_params(jax.random.key(0), len(alphabet))
    optimizer = optax.chain(optax.clip_by_global_norm(1),
                            optax.adamw(optax.warmup_cosine_decay_schedule(0, 3e-3, STEPS // 10, STEPS), weight_decay=0.1))

    def step(params, state, key):
        key, drawn = jax.random.split(key)
        at = jax.random.randint(drawn, (BATCH, 1), 0, len(text) - LENGTH) + jnp.arange(LENGTH)
        loss, gradient = jax.value_and_grad(loss_of)(params, tokens[at], tokens[at + 1], dtype)
        updates, state = optimizer.update(gradient, state, params)
        return loss, optax.apply_updates(params, updates), state, key

    begun, begun_time = time.perf_counter(), time.process_time()
    state, key = optimizer.init(params), jax.random.key(1)
    step = jax.jit(step, donate_argnums=(0, 1, 2))
    for i in range(1, STEPS + 1):
        loss, params, state, key = step(params, state, key)
        if i in (1, STEPS) or i % (STEPS // 10 + 1) == 0:
            last = float(loss)
        if i == 1:
            first, first_time = time.perf_counter() - begun, time.process_time() - begun_time
    rate = (STEPS - 1) / (time.perf_counter() - begun - first)
    return first, rate, first_time, (time.process_time() - begun_time - first_time) / (STEPS - 1), last


def main(build):
    what = ["s to the first loss (aim: 50)", "steps a second after it (aim: 1)", "processor s to the first loss",
            "processor s a step after it", "last loss"]
    higher_is_better = [False, True, False, False, None]
    print(f"{'':34} {'hlod':>8}   {'JAX, bf16':>9} {'ratio':>6}   {'JAX, f32':>9} {'ratio':>6}")
    for _ in range(ROUNDS):
        ours, peers = hlod(build), [jax_side(jnp.bfloat16), jax_side(jnp.float32)]
        for i, name in enumerate(what):
            columns = ""
            for peer in peers:
                ratio = {True: ours[i] / peer[i], False: peer[i] / ours[i], None: None}[higher_is_better[i]]
                columns += f"   {peer[i]:9.3f} {'' if ratio is None else format(ratio, '6.2f'):6}"
            print(f"{name:34} {ours[i]:8.3f}{columns}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
