"""Arrays and programs on the devices of two daemons of a cluster, from one JAX process."""

import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

from daemons import start_for


class Cluster(unittest.TestCase):

    def setUp(self):
        self.first, self.local, address = self.daemon("--cluster", "ci", "--cluster-size", "2")
        self.second, _, _ = self.daemon("--cluster", "ci", "--join", address, "--rank", "1")

    def daemon(self, *flags):
        return start_for(self, *flags)

    def run_program(self, program):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=200,
                              env={**os.environ, "HLOD_ADDRESS": self.local, "HLOD_DEVICES": "1"})
        return done.stdout.splitlines(), done.stderr

    def test_arrays_are_read_and_awaited_on_the_daemon_that_has_them(self):
        output, errors = self.run_program("""
            import time
            import jax, jax.extend, jax.numpy as jnp, numpy as np

            end = time.time() + 60
            while jax.device_count() < 2 and time.time() < end:  # Until the second daemon has joined.
                time.sleep(0.1)
                jax.extend.backend.clear_backends()
            here, there = jax.devices()
            kept = [jax.device_put(np.full(4, float(i), np.float32), here) for i in range(8)]  # Handles of the first session.
            print(np.asarray(jax.device_put(np.full(4, 7.0, np.float32), there)))
            print(jax.device_put(np.full(4, 8.0, np.float32), there).block_until_ready())
            x = jax.device_put(np.arange(4, dtype=np.float32), there)
            f = jax.jit(lambda v: v * 2 + 1)
            y = f(x)
            print(y.block_until_ready(), y.devices() == {there})
            print(np.asarray(jax.device_put(y, here)), float(f(jax.device_put(1.0, there))))
            called = []
            z = jax.jit(lambda v: jax.pure_callback(lambda a: (called.append(1), np.asarray(a) + 1)[1], jax.ShapeDtypeStruct((4,), np.float32), v))(x)
            print(np.asarray(z), len(called))
            print([float(k[0]) for k in kept])
        """)
        self.assertEqual(output, [
            "[7. 7. 7. 7.]", "[8. 8. 8. 8.]", "[1. 3. 5. 7.] True", "[1. 3. 5. 7.] 3.0", "[1. 2. 3. 4.] 1",
            "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]"
        ], errors)

    def test_the_environment_has_the_credentials_for_all_daemons(self):
        with tempfile.TemporaryDirectory() as keys:
            hloctl = os.path.join(os.path.dirname(os.environ["HLOD_DAEMON"]), "hloctl")
            subprocess.run([hloctl, "cluster", "keys", "n0", "n1", "--cluster", "tls", "--out", keys], check=True, capture_output=True)

            def flags(name):
                return ["--cluster", "tls", "--tls-cert", f"{keys}/{name}.pem", "--tls-key", f"{keys}/{name}.key", "--tls-client-ca",
                        f"{keys}/ca.pem"]

            _, self.local, address = self.daemon(*flags("n0"), "--cluster-size", "2")
            self.daemon(*flags("n1"), "--join", address, "--rank", "1")
            credentials = {"HLOD_TLS_CA": f"{keys}/ca.pem", "HLOD_TLS_CERT": f"{keys}/client.pem", "HLOD_TLS_KEY": f"{keys}/client.key"}
            for self.local in (self.local, address):  # Over the socket, and over TCP.
                with unittest.mock.patch.dict(os.environ, credentials):
                    output, errors = self.run_program("""
                        import time
                        import jax, jax.extend, numpy as np

                        end = time.time() + 60
                        while jax.device_count() < 2 and time.time() < end:
                            time.sleep(0.1)
                            jax.extend.backend.clear_backends()
                        print([float(jax.device_put(np.float32(i), d)) for i, d in enumerate(jax.devices())])
                    """)
                self.assertEqual(output, ["[0.0, 1.0]"], errors)


if __name__ == "__main__":
    unittest.main()
