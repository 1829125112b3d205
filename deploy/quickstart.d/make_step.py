"""Writes the quickstart's two programs as JAX lowers them: train_step and predict, .pb and .txt each.

    python make_step.py            writes the four files
    python make_step.py --verify   also trains with them in JAX, with true and with shuffled labels

Packages: ../../tests/conformance/jax/requirements.txt. README.md says what the parameters are.
"""

import argparse
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
jax.config.update("jax_hlo_source_file_canonicalization_regex", r".*/deploy/quickstart\.d/")

PIXELS, HIDDEN, DIGITS = 64, 128, 10
BATCH, HELD_OUT, EPOCHS = 64, 360, 30
RATE, MOMENTUM = 0.05, 0.9


def logits_of(params, images):
    w1, b1, w2, b2 = params
    x = images.astype(jnp.float32) / 16
    return jax.nn.relu(x @ w1 + b1) @ w2 + b2


def train_step(w1, b1, w2, b2, v1, c1, v2, c2, images, labels):
    """Cross entropy of one batch, and SGD with momentum: the eight state arrays, updated, and the loss."""
    params, velocity = (w1, b1, w2, b2), (v1, c1, v2, c2)

    def loss_of(params):
        log_p = jax.nn.log_softmax(logits_of(params, images))
        return -jnp.mean(jnp.sum(jax.nn.one_hot(labels, DIGITS) * log_p, axis=-1))

    loss, grads = jax.value_and_grad(loss_of)(params)
    velocity = tuple(MOMENTUM * v + g for v, g in zip(velocity, grads))
    params = tuple(p - RATE * v for p, v in zip(params, velocity))
    return *params, *velocity, loss


def predict(w1, b1, w2, b2, images):
    """The likeliest digit of each held-out image, and the logits."""
    logits = logits_of((w1, b1, w2, b2), images)
    return jnp.argmax(logits, axis=-1).astype(jnp.int32), logits


def state_shapes():
    return [(PIXELS, HIDDEN), (HIDDEN,), (HIDDEN, DIGITS), (DIGITS,)]


def write(name: str, function, shapes, donate=()) -> None:
    lowered = jax.jit(function, donate_argnums=donate, keep_unused=True).lower(*shapes)
    module = lowered.compiler_ir(dialect="hlo")
    (HERE / f"{name}.pb").write_bytes(module.as_serialized_hlo_module_proto())
    (HERE / f"{name}.txt").write_text(module.as_hlo_text(print_large_constants=True).rstrip("\n") + "\n")


def write_programs() -> None:
    f32 = lambda shape: jax.ShapeDtypeStruct(shape, np.float32)
    images = lambda count: jax.ShapeDtypeStruct((count, PIXELS), np.uint8)
    params = [f32(shape) for shape in state_shapes()]
    write(
        "train_step",
        train_step,
        params * 2 + [images(BATCH), jax.ShapeDtypeStruct((BATCH,), np.int32)],
        donate=tuple(range(8)),
    )
    write("predict", predict, params + [images(HELD_OUT)])


def split():
    """Blocks of ten rows; every fifth block is held out (360 rows), so that each digit is in both parts."""
    rows = np.loadtxt(HERE / "digits.csv", delimiter=",", dtype=np.int32)
    held = (np.arange(len(rows)) // 10) % 5 == 0
    part = lambda which: (rows[which, :PIXELS].astype(np.uint8), rows[which, PIXELS])
    return part(~held), part(held)


def accuracy_after_training(seed: int, shuffle_labels: bool, epochs: int = EPOCHS) -> list[float]:
    """Held-out accuracy after each epoch, as the quickstart's C++ program trains."""
    rng = np.random.default_rng(seed)
    (images, labels), (held_images, held_labels) = split()
    if shuffle_labels:
        labels = rng.permutation(labels)
    state = [
        rng.uniform(-1, 1, s).astype(np.float32) / np.sqrt(s[0]) if len(s) == 2 else np.zeros(s, np.float32)
        for s in state_shapes()
    ]
    state += [np.zeros_like(p) for p in state]
    step, guess = jax.jit(train_step), jax.jit(predict)
    reached = []
    for _ in range(epochs):
        order = rng.permutation(len(labels))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            batch = order[start : start + BATCH]
            *state, loss = step(*state, images[batch], labels[batch])
        reached.append(float(np.mean(np.asarray(guess(*state[:4], held_images)[0]) == held_labels)))
    return reached


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    write_programs()
    if not options.verify:
        return
    (_, labels), (_, held_labels) = split()
    print(f"{len(labels)} training, {len(held_labels)} held out, by digit {np.bincount(held_labels)}")
    for seed in range(8):
        true, shuffled = accuracy_after_training(seed, False), accuracy_after_training(seed, True)
        at = "  ".join(f"{e}: {true[e - 1]:.3f}" for e in (1, 2, 5, 10, 20, 30))
        print(f"seed {seed}: after epoch {at};  shuffled labels {shuffled[-1]:.3f}")


if __name__ == "__main__":
    main()
