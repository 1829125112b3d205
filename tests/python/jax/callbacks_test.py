"""Host callbacks that run beside and within each other."""

import threading
import time
import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

import support


class NestedCallbackTest(support.PluginTest):
    def test_a_callback_runs_a_program_with_a_callback(self):
        device = support.hlod()

        def inner_host(x):
            return np.asarray(x) + 1

        @jax.jit
        def inner(x):
            return jax.pure_callback(inner_host, jax.ShapeDtypeStruct((3,), np.float32), 2 * x)

        def outer_host(x):
            return np.asarray(inner(jax.device_put(np.asarray(x), device)))

        @jax.jit
        def outer(x):
            return 10 * jax.pure_callback(outer_host, jax.ShapeDtypeStruct((3,), np.float32), x)

        x = np.array([1, 2, 3], np.float32)
        for _ in range(3):
            np.testing.assert_array_equal(outer(x), 10 * (2 * x + 1))

    def test_a_callback_reads_an_array_of_the_device(self):
        held = jax.device_put(np.arange(3, dtype=np.float32), support.hlod())

        @jax.jit
        def run(x):
            return jax.pure_callback(lambda x: np.asarray(held * 2) + np.asarray(x), jax.ShapeDtypeStruct((3,), np.float32), x)

        np.testing.assert_array_equal(run(jnp.ones(3)), 2 * np.arange(3) + 1)

    def test_two_threads_call_back_at_once(self):
        # Each callback waits for the other: neither program ends unless both run.
        meeting = threading.Barrier(2, timeout=60)

        def meet(x):
            if x >= 0:
                meeting.wait()
            return np.asarray(x) + 1

        @jax.jit
        def run(x):
            return jax.pure_callback(meet, jax.ShapeDtypeStruct((), np.float32), x)

        run(np.float32(-1))  # A function's first call holds up other threads' calls of it until it returns, on every platform.
        results = [None, None]

        def work(i):
            results[i] = float(run(np.float32(i)))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [1, 2])

    def test_programs_of_one_thread_call_back_in_order(self):
        seen = []

        @jax.jit
        def run(x):
            jax.debug.callback(lambda x: seen.append(int(x)), x)
            return x + 1

        for i in range(20):
            run(i)
        jax.effects_barrier()
        self.assertEqual(seen, list(range(20)))

    def test_an_error_reaches_what_depends_on_it(self):
        def fail(x):
            raise RuntimeError("no value today")

        @jax.jit
        def run(x):
            return jax.pure_callback(fail, jax.ShapeDtypeStruct((), np.float32), x)

        with self.assertRaisesRegex(Exception, "no value today"):
            float(run(np.float32(1)))
        with self.assertRaises(Exception):
            float(jax.jit(lambda y: y + 1)(run(np.float32(1))))


class InCallTest(support.PluginTest):
    """A program with callbacks has ended when its call returns, as on JAX's CPU."""

    PROGRAMS = {
        "pure_callback": lambda host, x: jax.pure_callback(host, jax.ShapeDtypeStruct((), np.float32), x),
        "io_callback": lambda host, x: io_callback(host, jax.ShapeDtypeStruct((), np.float32), x, ordered=True),
        "debug.callback": lambda host, x: (jax.debug.callback(host, x), x)[1],
        "ordered debug.callback": lambda host, x: (jax.debug.callback(host, x, ordered=True), x)[1],
        "a callback in a loop": lambda host, x: jax.lax.fori_loop(
            0, 3, lambda i, x: jax.pure_callback(host, jax.ShapeDtypeStruct((), np.float32), x), x
        ),
    }

    def test_callbacks_are_made_within_the_call(self):
        for name, program in self.PROGRAMS.items():
            for device in support.cpu(), support.hlod():
                with self.subTest(name, device=device):
                    threads = set()

                    def host(x):
                        time.sleep(0.01)  # A call that does not wait for the callback would be over by then.
                        threads.add(threading.current_thread())
                        return np.asarray(x)

                    jax.jit(lambda x: program(host, x) + 1)(jax.device_put(np.float32(1), device))
                    self.assertEqual(threads, {threading.current_thread()})

    def test_errors_are_raised_by_the_call(self):
        def fail(x):
            raise RuntimeError("no value today")

        for name, program in self.PROGRAMS.items():
            for device in support.cpu(), support.hlod():
                with self.subTest(name, device=device):
                    run = jax.jit(lambda x: program(fail, x) + 1)
                    with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "no value today"):
                        run(jax.device_put(np.float32(1), device))
                    # Later programs with callbacks run.
                    again = jax.jit(lambda x: program(np.asarray, x) + 1)
                    self.assertEqual(again(jax.device_put(np.float32(1), device)), 2)
        jax.effects_barrier()

    def test_callbacks_within_callbacks(self):
        def program(depth):
            inner = program(depth - 1) if depth > 0 else np.asarray
            host = lambda x: np.asarray(inner(jax.device_put(x, support.hlod()))) + np.asarray(inner(x))
            return jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct((), np.int32), x) + 1)

        # Each level returns twice the value of the one below it, and 1.
        self.assertEqual(program(3)(np.int32(5)), 2 * (2 * (2 * (2 * 5 + 1) + 1) + 1) + 1)


if __name__ == "__main__":
    unittest.main()
