"""A client of JAX on the plugin, for `soak_daemon`: jax_client.py ADDRESS RATE ROUNDS, until SIGTERM; ROUNDS 0 is without end."""

import os
import signal
import sys

import numpy as np


def main(address, rate, rounds):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    os.environ["HLOD_ADDRESS"] = address
    import jax
    import jax.numpy as jnp

    step = jax.jit(jax.grad(lambda w, x: jnp.sum((x @ w) ** 2)))
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    w = np.ones((3, 2), np.float32)
    done = 0
    while True:
        got = np.asarray(step(jnp.asarray(w), jnp.asarray(x)))
        np.testing.assert_allclose(got, 2 * x.T @ (x @ w), rtol=1e-5)
        done += 1
        if done == rounds or signal.sigtimedwait([signal.SIGTERM], 1 / rate) is not None:
            return


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]))
