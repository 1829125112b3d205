"""Random numbers: threefry as plain integer operations, rolled and unrolled, and rng-bit-generator."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import inputs
from programs.harness import Program, Registry

CASES = Registry()

KEY = np.array([0x1234ABCD, 42], np.uint32)
WIDE_KEY = np.array([0x1234ABCD, 42, 7, 0xDEADBEEF], np.uint32)


def threefry(key):
    return jax.random.wrap_key_data(key, impl="threefry2x32")


def bits(key):
    key = threefry(key)
    return (
        jax.random.bits(key, (33,)),
        jax.random.bits(key, (4, 5), np.uint8),
        jax.random.bits(key, (9,), np.uint16),
        jax.random.key_data(jax.random.split(key, 3)),
        jax.random.key_data(jax.random.fold_in(key, 5)),
    )


@CASES.case("threefry_bits")
def threefry_bits(rng):
    """threefry2x32 bits, split and fold_in as the CPU lowering writes them: a while loop over rounds."""
    return Program(bits, (KEY,), kind="exact", check_f64=False)


@CASES.case("threefry_bits_unrolled")
def threefry_bits_unrolled(rng):
    """The same as every other platform writes it: twenty rounds unrolled."""
    return Program(bits, (KEY,), kind="exact", check_f64=False, platform="tpu")


@CASES.case("threefry_distributions")
def threefry_distributions(rng):
    """uniform, normal, randint, bernoulli, exponential, gumbel, categorical and truncated normal."""

    def f(key, logits):
        keys = jax.random.split(threefry(key), 8)
        return (
            jax.random.uniform(keys[0], (40,)),
            jax.random.normal(keys[1], (6, 7)),
            jax.random.uniform(keys[2], (9,), minval=-3, maxval=5),
            jax.random.exponential(keys[3], (12,)),
            jax.random.gumbel(keys[4], (12,)),
            jax.random.truncated_normal(keys[5], -1, 2, (20,)),
            jax.random.randint(keys[6], (30,), -5, 1000),
            jax.random.bernoulli(keys[7], 0.3, (30,)),
            jax.random.categorical(keys[0], logits),
        )

    return Program(f, (KEY, inputs.normal(rng, (5, 11), np.float32)), kind="elementwise", check_f64=False)


@CASES.case("threefry_bf16_unrolled")
def threefry_bf16_unrolled(rng):
    """bf16 uniform and normal numbers, unrolled."""

    def f(key):
        return jax.random.uniform(threefry(key), (16, 8), jnp.bfloat16), jax.random.normal(
            threefry(key), (16, 8), jnp.bfloat16
        )

    return Program(f, (KEY,), kind="elementwise", check_f64=False, platform="tpu")


@CASES.case("shuffle_permutation")
def shuffle_permutation(rng):
    """A random permutation (sorts by random keys) and a choice without replacement."""

    def f(key, x):
        return jax.random.permutation(threefry(key), x), jax.random.choice(
            threefry(key), 30, (8,), replace=False
        )

    return Program(f, (KEY, np.arange(40, dtype=np.int32)), kind="exact", check_f64=False)


@CASES.case("dropout_train", ("f32", "bf16"))
def dropout_train(rng, dtype):
    """A dense layer with dropout from a threefry key, its value and gradients, and the next key."""
    w, x = inputs.weight(rng, (24, 32), dtype), inputs.varied(rng, (10, 24), dtype, -1, 1)

    def f(w, x, key):
        key, used = jax.random.split(threefry(key))
        keep = jax.random.bernoulli(used, 0.8, (10, 32))

        def loss(w):
            hidden = jnp.where(keep, jnp.tanh(x @ w) / 0.8, 0)
            return jnp.sum(hidden.astype(jnp.promote_types(hidden.dtype, jnp.float32)) ** 2), hidden

        (_, hidden), grad = jax.value_and_grad(loss, has_aux=True)(w)
        return hidden, grad, jax.random.key_data(key)

    return Program(f, (w, x, KEY), check_f64=False)


@CASES.case("rng_bit_generator")
def rng_bit_generator(rng):
    """rng_bit_generator by the default algorithm, threefry and philox, to u8, u16, u32 and u64, with the next
    state."""

    def f(key):
        wide = lax.bitcast_convert_type(key.reshape(2, 2), jnp.uint64)
        draw = lambda state, shape, dtype, algorithm: lax.rng_bit_generator(
            state, shape, dtype=dtype, algorithm=algorithm
        )
        algorithms = lax.RandomAlgorithm
        default = [
            draw(key, shape, dtype, algorithms.RNG_DEFAULT)
            for shape, dtype in (((13,), jnp.uint32), ((3, 5), jnp.uint64))
        ]
        philox = [
            draw(wide, shape, dtype, algorithms.RNG_PHILOX)
            for shape, dtype in (((7, 3), jnp.uint32), ((6,), jnp.uint64))
        ]
        three = [
            draw(wide, shape, dtype, algorithms.RNG_THREE_FRY)
            for shape, dtype in (((7, 3), jnp.uint32), ((6,), jnp.uint64), ((8,), jnp.uint32))
        ]
        return default, philox, three

    return Program(f, (WIDE_KEY,), kind="exact", x64=True, check_f64=False)


@CASES.case("rng_bit_generator_narrow")
def rng_bit_generator_narrow(rng):
    """rng_bit_generator to u8 and u16."""

    def f(key):
        default = lax.RandomAlgorithm.RNG_DEFAULT
        return [
            lax.rng_bit_generator(key, (11,), dtype=dtype, algorithm=default)
            for dtype in (jnp.uint8, jnp.uint16)
        ]

    return Program(f, (WIDE_KEY,), kind="exact", check_f64=False)


@CASES.case("rbg_random")
def rbg_random(rng):
    """jax.random with impl rbg: bits, uniform and normal through rng-bit-generator, split by threefry."""

    def f(key):
        key = jax.random.wrap_key_data(key, impl="rbg")
        a, b = jax.random.split(key)
        return (
            jax.random.bits(a, (17,)),
            jax.random.uniform(b, (5, 8)),
            jax.random.normal(a, (21,)),
            jax.random.key_data(b),
        )

    return Program(f, (WIDE_KEY,), kind="elementwise", check_f64=False)
