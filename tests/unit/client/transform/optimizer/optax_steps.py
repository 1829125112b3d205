"""Steps of Optax's optimizers on small random trees, for the generators of this folder."""
import jax
import jax.numpy as jnp
import numpy
import optax

STEPS = 6


def listed(array):
    return numpy.asarray(array, numpy.float64).reshape(-1).tolist()


def plain(tree):
    return {name: listed(array) for name, array in tree.items()}


def drawn(random, shapes):
    return {name: random.normal(size=shape).astype(numpy.float32).round(3) for name, shape in shapes.items()}


def results(random, shapes, optimizers, schedules):
    """The parameters after six steps of each optimizer, from the same parameters and gradients, and values of schedules."""
    params, grads = drawn(random, shapes), [drawn(random, shapes) for _ in range(STEPS)]
    result = {"shapes": shapes, "params": plain(params), "grads": [plain(grad) for grad in grads], "after": {}}
    for name, optimizer in optimizers.items():
        moved = jax.tree.map(jnp.asarray, params)
        state = optimizer.init(moved)
        for grad in grads:
            updates, state = optimizer.update(jax.tree.map(jnp.asarray, grad), state, moved)
            moved = optax.apply_updates(moved, updates)
        result["after"][name] = plain(moved)
    result["schedules"] = {name: [float(schedule(jnp.int32(count))) for count in range(21)]
                           for name, schedule in schedules.items()}
    return params, result
