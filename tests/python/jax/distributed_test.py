"""Programs of several JAX processes (jax.distributed), each with a daemon of its own; the daemons form a cluster."""

import os
import socket
import subprocess
import sys
import textwrap
import time
import unittest

from daemons import start_for

# The beginnings of every process's program: it joins the others, and uses the devices of all.
JOIN = """
import os, sys, time
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

index, count = int(sys.argv[1]), int(sys.argv[2])
jax.distributed.initialize(sys.argv[3], count, index)
"""
SPREAD = """
mesh = Mesh(np.array(jax.devices()).reshape(count, -1), ("data", "model"))


def spread(values, *spec, over=mesh):
    return jax.make_array_from_callback(values.shape, NamedSharding(over, P(*spec)), lambda part: values[part])


"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Processes(unittest.TestCase):
    """Three processes, whose daemons are at `addresses` and have two devices each."""

    environment = {}

    def begin(self, program, addresses=None, beginning=JOIN + SPREAD):
        """Starts the program in three processes."""
        coordinator = f"127.0.0.1:{free_port()}"
        processes = []
        for index, address in enumerate(addresses or self.addresses):
            environment = {name: value for name, value in os.environ.items() if name != "HLOD_DEVICES"}
            environment.update(self.environment, HLOD_ADDRESS=address)
            process = subprocess.Popen([sys.executable, "-c", beginning + textwrap.dedent(program), str(index), "3", coordinator],
                                       env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            processes.append(process)
        return processes

    def run_program(self, program, addresses=None):
        """Returns the lines that each of the three processes prints."""
        processes = self.begin(program, addresses)
        outputs = [process.communicate(timeout=200) for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0, 0], outputs)
        return [output.splitlines() for output, _ in outputs]


class Distributed(Processes):

    def setUp(self):
        flags = ("--cluster", "jax", "--devices", "2")
        first, local, address = start_for(self, *flags, "--cluster-size", "3")
        self.daemons, self.addresses = [first], [local]
        for rank in ("1", "2"):
            daemon, local, _ = start_for(self, *flags, "--join", address, "--rank", rank)
            self.daemons.append(daemon)
            self.addresses.append(local)

    def test_a_training_step_has_the_result_of_one_process(self):
        lines = self.run_program("""
            print(jax.process_index(), jax.process_count(), len(jax.devices()), [d.id for d in jax.local_devices()])
            first = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)
            second = np.random.default_rng(1).standard_normal((16, 4)).astype(np.float32)
            batch = np.random.default_rng(2).standard_normal((12, 8)).astype(np.float32)

            def loss(weights, x):
                return jnp.mean(jnp.square(jnp.tanh(x @ weights[0]) @ weights[1]))

            @jax.jit
            def step(weights, x):
                value, gradient = jax.value_and_grad(loss)(weights, x)
                return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient)

            def train(weights, x):
                for _ in range(10):
                    value, weights = step(weights, x)
                return float(value)

            together = train((spread(first, None, "model"), spread(second, "model")), spread(batch, "data"))
            with jax.default_device(jax.local_devices()[0]):
                alone = train((first, second), batch)
            print(abs(together - alone) < 1e-5 * alone, together < 2)
        """)
        self.assertEqual(lines, [[f"{i} 3 6 [{2 * i}, {2 * i + 1}]", "True True"] for i in range(3)])

    def test_processes_meet_in_programs_of_some_and_of_all(self):
        lines = self.run_program("""
            def total(devices):
                over = Mesh(np.array(devices), ("d",))
                x = spread(np.arange(len(devices), dtype=np.float32), "d", over=over)
                return float(jax.jit(jnp.sum, out_shardings=NamedSharding(over, P()))(x))

            for _ in range(3):
                if index < 2:
                    print(total([d for d in jax.devices() if d.process_index < 2]))
                print(total(jax.devices()))
            print(multihost_utils.process_allgather(np.array([index, 10 * index])).tolist())
            print(float(multihost_utils.broadcast_one_to_all(np.float32(index + 5))))
            multihost_utils.sync_global_devices("end")
        """)
        for index, of_one in enumerate(lines):
            self.assertEqual(of_one, (["6.0", "15.0"] if index < 2 else ["15.0"]) * 3 + ["[[0, 0], [1, 10], [2, 20]]", "5.0"])

    def test_programs_that_differ_are_refused_and_the_processes_go_on(self):
        lines = self.run_program("""
            x = spread(np.arange(6, dtype=np.float32), ("data", "model"))
            whole = NamedSharding(mesh, P())
            print(float(jax.jit(jnp.sum, out_shardings=whole)(x)))
            try:
                print(float(jax.jit(jnp.max if index == 1 else jnp.min, out_shardings=whole)(x)))
            except Exception as error:
                print(type(error).__name__, "program" in str(error), "rank 0" in str(error), "rank 1" in str(error),
                      "same programs in the same order" in str(error))
            print(float(jax.jit(jnp.sum, out_shardings=whole)(x)))
        """)
        self.assertEqual(lines, [["15.0", "JaxRuntimeError True True True True", "15.0"]] * 3)

    def test_processes_compile_the_same_program_on_different_lines(self):
        lines = self.run_program("""
            total = jax.jit(jnp.sum, out_shardings=NamedSharding(mesh, P()))
            x = spread(np.arange(6, dtype=np.float32), ("data", "model"))
            if index == 0:
                print(float(total(x)))
            else:
                y = total(x)
                print(float(y))
        """)
        self.assertEqual(lines, [["15.0"]] * 3)

    def test_a_process_that_dies_fails_what_waits_for_it_and_the_others_go_on(self):
        processes = self.begin("""
            x = spread(np.arange(6, dtype=np.float32), ("data", "model"))
            total = jax.jit(jnp.sum, out_shardings=NamedSharding(mesh, P()))
            print(float(total(x)), flush=True)
            if index == 2:
                os.kill(os.getpid(), 9)
            for _ in range(2):
                try:
                    print(float(total(x)))
                except Exception as error:
                    print(type(error).__name__, "(rank 2) has ended" in str(error))
            with jax.default_device(jax.local_devices()[1]):
                print(float(jnp.sum(jnp.ones(3))), flush=True)
            os._exit(0)  # Not by JAX's own farewell, which waits for all processes.
        """)
        outputs = [process.communicate(timeout=200) for process in processes]
        lost = "JaxRuntimeError True"
        self.assertEqual([output.splitlines() for output, _ in outputs], [["15.0", lost, lost, "3.0"]] * 2 + [["15.0"]], outputs)

    def test_a_process_that_ends_with_an_exception_is_not_waited_for(self):
        processes = self.begin("""
            x = spread(np.arange(6, dtype=np.float32), ("data", "model"))
            total = jax.jit(jnp.sum, out_shardings=NamedSharding(mesh, P()))
            print(float(total(x)), flush=True)
            if index == 2:
                raise ValueError("a line of the user's")
            try:
                print(float(total(x)))
            except Exception as error:
                print(type(error).__name__, "(rank 2) has ended" in str(error), flush=True)
            os._exit(0)
        """)
        outputs = [process.communicate(timeout=100)[0].splitlines() for process in processes[:2]]  # JAX would wait for 300 s.
        self.assertEqual(outputs, [["15.0", "JaxRuntimeError True"]] * 2)
        processes[2].kill()
        self.assertIn("a line of the user's", processes[2].communicate()[1])

    def test_a_process_that_leaves_out_a_launch_is_not_waited_for_at_its_end(self):
        processes = self.begin("""
            x = spread(np.arange(6, dtype=np.float32), ("data", "model"))
            total = jax.jit(jnp.sum, out_shardings=NamedSharding(mesh, P()))
            for step in range(3):
                try:
                    if (index, step) == (2, 1):
                        raise ValueError("an error that the program catches")
                    print(float(total(x)), flush=True)
                except ValueError:
                    print("caught", flush=True)
                except Exception as error:
                    print(type(error).__name__, "(rank 2) has ended" in str(error), flush=True)
            if index < 2:
                os._exit(0)
        """)
        outputs = [process.communicate(timeout=100)[0].splitlines() for process in processes[:2]]  # JAX would wait for 300 s.
        self.assertEqual(outputs, [["15.0", "15.0", "JaxRuntimeError True"]] * 2)
        processes[2].kill()
        self.assertEqual(processes[2].communicate()[0].splitlines(), ["15.0", "caught", "15.0"])

    def test_reasons_not_to_begin(self):
        _, alone, _ = start_for(self)
        begin = """
            try:
                jax.devices()
            except Exception as error:
                print(error)
        """
        for addresses, reason in ((self.addresses[:2] + [alone], "is not in a cluster"), (self.addresses[:1] * 3, "both use the daemon")):
            processes = self.begin(begin, addresses, JOIN)
            self.assertIn(reason, processes[-1].communicate(timeout=200)[0])
            for process in processes[:-1]:
                process.kill()
                process.communicate()


class PrivateDaemons(Processes):
    """The processes start their daemons, which meet by themselves."""

    addresses = ["private"] * 3

    def setUp(self):
        self.mark = f"{os.getpid()} {self.id()}"
        self.environment = {"HLOD_DEVICES": "2", "HLOD_TEST_MARK": self.mark}

    def await_the_ends_of_daemons(self):
        """Waits until no process is left that has inherited the mark."""
        entry = f"HLOD_TEST_MARK={self.mark}".encode()

        def left():
            for folder in os.scandir("/proc"):
                try:
                    with open(f"{folder.path}/environ", "rb") as file:
                        if entry in file.read().split(b"\0"):
                            return True
                except OSError:  # It is not a process, has ended, or is another user's.
                    pass
            return False

        while left():
            time.sleep(0.02)

    def test_processes_meet_without_settings(self):
        lines = self.run_program("""
            print(len(jax.devices()), [d.id for d in jax.local_devices()])
            x = spread(np.arange(30000, dtype=np.float32).reshape(3, 10000), "data", "model")
            total = jax.jit(lambda x: jnp.sum(x, axis=0), out_shardings=NamedSharding(mesh, P()))
            print(float(jnp.max(jax.device_get(total(x)))))
            print(multihost_utils.process_allgather(np.array([index, 10 * index])).tolist())
        """)
        self.assertEqual(lines, [[f"6 [{2 * i}, {2 * i + 1}]", "59997.0", "[[0, 0], [1, 10], [2, 20]]"] for i in range(3)])
        self.await_the_ends_of_daemons()

    def test_a_process_that_dies_fails_what_waits_for_it_and_all_daemons_end(self):
        processes = self.begin("""
            x = spread(np.arange(6, dtype=np.float32), ("data", "model"))
            total = jax.jit(jnp.sum, out_shardings=NamedSharding(mesh, P()))
            print(float(total(x)), flush=True)
            if index == 2:
                os.kill(os.getpid(), 9)
            try:
                print(float(total(x)))
            except Exception as error:
                print(type(error).__name__, "(rank 2)" in str(error))
            with jax.default_device(jax.local_devices()[1]):
                print(float(jnp.sum(jnp.ones(3))), flush=True)
            os._exit(0)  # Not by JAX's own farewell, which waits for all processes.
        """)
        outputs = [process.communicate(timeout=200) for process in processes]
        self.assertEqual([output.splitlines() for output, _ in outputs], [["15.0", "JaxRuntimeError True", "3.0"]] * 2 + [["15.0"]], outputs)
        self.await_the_ends_of_daemons()

    def test_reasons_not_to_begin(self):
        _, running, _ = start_for(self, "--cluster", "jax")
        begin = """
            try:
                jax.devices()
            except Exception as error:
                print(error)
        """
        for addresses, reason in (([running, "private", "private"], "process 0 has a daemon that was running"),
                                  (["private", running, "private"], 'in the cluster "jax", and that of process 0 in "private"')):
            processes = self.begin(begin, addresses, JOIN)
            self.assertIn(reason, processes[1].communicate(timeout=200)[0])
            for process in processes:
                process.kill()
                process.communicate()
        self.await_the_ends_of_daemons()


if __name__ == "__main__":
    unittest.main()
