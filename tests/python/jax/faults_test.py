"""Programs whose daemon is killed, and programs that are interrupted, that fork, or that leak their arrays."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import unittest

import hlod
import jax
import jax.numpy as jnp
import numpy as np


def run(program):
    """Runs a program in a process of its own, and returns its output and its errors. One that hangs is ended, and writes its stacks."""
    with subprocess.Popen([sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            output, errors = process.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            output, errors = process.communicate()
    return output.splitlines(), errors


class Faults(unittest.TestCase):

    def test_a_killed_daemon_is_one_kind_of_error_and_a_new_client_goes_on(self):
        output, errors = run("""
            import os, signal, tempfile
            import hlod, jax, jax.extend, jax.numpy as jnp

            folder = tempfile.TemporaryDirectory()
            pid, daemon = os.path.join(folder.name, "pid"), os.path.join(folder.name, "hlod")
            with open(daemon, "w") as file:
                file.write(f'#!/bin/sh\\necho $$ > {pid}\\nexec {os.environ["HLOD_DAEMON"]} "$@"\\n')
            os.chmod(daemon, 0o700)
            os.environ["HLOD_DAEMON"] = daemon

            x = jnp.arange(5.0)
            print(float(x.sum()))
            with open(pid) as file:
                os.kill(int(file.read()), signal.SIGKILL)
            for use in (lambda: float((x + 1).sum()), lambda: float(x[0]), lambda: float(jnp.ones(4)[0]), hlod.ledger):
                try:
                    use()
                except (jax.errors.JaxRuntimeError, hlod.Error) as error:
                    print(type(error).__name__, str(error).removeprefix("UNAVAILABLE: "))
            jax.extend.backend.clear_backends()
            print(float(jnp.arange(5.0).sum()), jax.devices()[0].platform)
        """)
        self.assertEqual(output[0], "10.0", errors)
        self.assertEqual([line.split(" ")[0] for line in output[1:5]], ["JaxRuntimeError"] * 3 + ["Error"], output)
        for line in output[1:5]:
            self.assertRegex(line, "The session with the daemon at .* is lost, and its buffers with it: The private daemon ended")
        self.assertEqual(output[5:], ["10.0 hlod"], errors)

    def test_an_interrupt_ends_a_wait(self):
        output, errors = run("""
            import os, signal, threading
            import jax, jax.numpy as jnp

            forever = jax.jit(lambda x: jax.lax.while_loop(lambda x: x[0] < 2, jnp.sin, x))
            y = forever(jnp.ones(10))
            first = y[0]  # Python ignores an interrupt where it collects garbage, so nothing is traced meanwhile.

            def interrupted(wait):
                try:
                    threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
                    wait()
                except KeyboardInterrupt:
                    print("interrupted", flush=True)

            interrupted(y.block_until_ready)
            interrupted(lambda: float(first))
            os._exit(0)
        """)
        self.assertEqual(output, ["interrupted"] * 2, errors)

    def test_the_peak_has_the_memory_that_programs_need_while_they_run(self):
        output, errors = run("""
            import jax, jax.numpy as jnp

            f = jax.jit(lambda x: (jnp.sin(x[:, None] * x[None, :]) @ x).sum())
            x = jnp.ones(3000)
            float(f(x))
            print(jax.devices()[0].memory_stats()["peak_bytes_in_use"], f.lower(x).compile().memory_analysis().temp_size_in_bytes)
        """)
        peak, temporaries = map(int, output[0].split())
        self.assertGreater(temporaries, 3000 * 3000 * 4, errors)
        self.assertGreaterEqual(peak, temporaries + 3000 * 4, errors)

    def test_the_peak_has_no_arrays_that_the_daemon_refused(self):
        output, errors = run("""
            import jax, jax.numpy as jnp

            device = jax.devices()[0]
            kept = jnp.ones(1_000_000).block_until_ready()
            limit = device.memory_stats()["bytes_limit"]
            refused = jnp.zeros(limit // 4 + 1000)
            try:
                refused.block_until_ready()
            except jax.errors.JaxRuntimeError:
                pass
            held = device.memory_stats()
            print(held["bytes_in_use"], held["peak_bytes_in_use"], limit)
        """)
        in_use, peak, limit = map(int, output[0].split())
        self.assertGreaterEqual(in_use, 4_000_000, errors)
        self.assertLess(peak, 10_000_000, errors)
        self.assertGreater(limit, 10_000_000)

    def test_a_refused_array_of_any_size_gives_the_daemons_error(self):
        for read in (np.asarray, lambda array: array.block_until_ready()):
            with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "buffer_bytes_max"):
                read(jnp.zeros((1 << 43,)))

    def test_a_fork_is_warned_of(self):
        output, errors = run("""
            import os, warnings
            import jax, jax.numpy as jnp

            x = jnp.ones(3)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                child = os.fork()
                if child == 0:
                    os._exit(7)
            print([str(w.message)[:20] for w in caught], os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), float(x.sum()))
        """)
        self.assertEqual(len(output), 1, errors)
        self.assertRegex(output[0], r"^\['os\.fork\(\) was called|^\['os'")
        self.assertTrue(output[0].endswith(" 7 3.0"), output)

    def test_a_forked_process_is_refused_and_ends(self):
        """Each use in a child is an error, and the child ends by itself, as does its parent."""
        output, errors = run("""
            import os, signal, sys, warnings
            import jax, jax.numpy as jnp, numpy as np

            warnings.simplefilter("ignore")
            x = jnp.ones(3)
            add = jax.jit(lambda v: v + 1)
            add(x).block_until_ready()
            uses = {
                "compile": lambda: jax.jit(lambda v: v * 2)(x),
                "run": lambda: add(x).block_until_ready(),
                "read": lambda: np.asarray(x),
                "upload": lambda: jax.device_put(np.ones(3)).block_until_ready(),
                "call back": lambda: jax.jit(lambda v: jax.pure_callback(np.asarray, v, v))(x),
                "compile for the CPU": lambda: jax.jit(lambda v: v * 2, device=jax.devices("cpu")[0])(np.ones(3)),
            }
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                for name, use in uses.items():
                    try:
                        use()
                        print(name, "went through")
                    except jax.errors.JaxRuntimeError as error:
                        print(name, "was forked from process" in str(error))
                sys.exit(3)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), float(add(x).sum()))
        """)
        names = ["compile", "run", "read", "upload", "call back", "compile for the CPU"]
        self.assertEqual(output, [f"{name} True" for name in names] + ["3 6.0"], errors)

    def test_forgotten_arrays_are_given_back(self):
        device = jax.devices()[0]
        gc.collect()
        hlod.ledger()
        before = device.memory_stats()["bytes_in_use"]
        kept = [jnp.full((1000,), i, jnp.float32) for i in range(1000)]
        hlod.ledger()  # Waits for what was sent.
        self.assertGreaterEqual(device.memory_stats()["bytes_in_use"], before + 4_000_000)
        del kept
        gc.collect()
        hlod.ledger()
        self.assertLess(device.memory_stats()["bytes_in_use"], before + 100_000)


if __name__ == "__main__":
    unittest.main()
