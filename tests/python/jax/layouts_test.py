"""Layouts, compile options, and compilation ahead of time, also for devices that are not there."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.experimental.layout import Format, Layout
from jax.experimental.serialize_executable import deserialize_and_load, serialize

import support


class LayoutTest(support.PluginTest):
    def columns(self):
        return Format(Layout(major_to_minor=(1, 0)), jax.sharding.SingleDeviceSharding(support.hlod()))

    def test_device_put_in_a_layout(self):
        x = support.array(8, 16)
        y = jax.device_put(x, self.columns())
        self.assertEqual(y.format.layout.major_to_minor, (1, 0))
        np.testing.assert_array_equal(y, x)
        np.testing.assert_array_equal(jax.jit(lambda y: y[:2] * 2)(y), x[:2] * 2)
        np.testing.assert_array_equal(jax.device_put(np.asfortranarray(x), self.columns()), x)
        np.testing.assert_array_equal(jnp.asarray(x[::-1, ::-2]), x[::-1, ::-2])

    def test_layouts_of_programs(self):
        x = support.array(4, 6)
        run = jax.jit(lambda x: (x.T, x + 1), out_shardings=(None, self.columns())).lower(x).compile()
        transposed, plus = run(x)
        self.assertEqual(plus.format.layout.major_to_minor, (1, 0))
        np.testing.assert_array_equal(plus, x + 1)
        np.testing.assert_array_equal(transposed, x.T)
        taken = jax.jit(lambda x: 2 * x, in_shardings=self.columns()).lower(x).compile()
        self.assertEqual(taken.input_formats[0][0].layout.major_to_minor, (1, 0))
        np.testing.assert_array_equal(taken(plus), 2 * (x + 1))

    def test_layouts_that_the_compiler_chooses(self):
        x = support.array(4, 6)
        run = jax.jit(lambda x: x.T, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO))
        compiled = run.lower(jax.ShapeDtypeStruct(x.shape, x.dtype)).compile()
        given = jax.device_put(x, compiled.input_formats[0][0])
        np.testing.assert_array_equal(compiled(given), x.T)
        self.assertEqual(compiled(given).format, compiled.output_formats)


class CompileOptionsTest(support.PluginTest):
    def test_options(self):
        x = support.array(3)
        run = lambda **options: jax.jit(jnp.sin, compiler_options=options)(x)
        np.testing.assert_allclose(run(xla_embed_ir_in_executable=True, xla_backend_optimization_level=1), np.sin(x), rtol=1e-6)
        with self.assertRaisesRegex(Exception, "No such compile option: 'invalid_key'"):
            run(invalid_key="invalid_value")
        with self.assertRaisesRegex(Exception, "While setting option xla_embed_ir_in_executable, 'maybe' is not a valid bool value"):
            run(xla_embed_ir_in_executable="maybe")
        with self.assertRaisesRegex(Exception, "xla_tpu_detect_nan"):
            run(xla_tpu_detect_nan=True)


class AheadOfTimeTest(support.PluginTest):
    def test_devices_that_are_not_there(self):
        topology = topologies.get_topology_desc("2x4", platform="hlod")
        self.assertEqual(len(topology.devices), 8)
        mesh = topologies.make_mesh(topology, (2, 4), ("x", "y"))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x", "y"))
        shape = jax.ShapeDtypeStruct((16, 16), jnp.float32, sharding=sharding)
        compiled = jax.jit(lambda x: (x @ x).sum()).lower(shape).compile()
        self.assertEqual(compiled.memory_analysis().argument_size_in_bytes, 4 * 16 * 16 // 8)
        flops = compiled.cost_analysis()["flops"]  # The operations of one device, which computes 8x4 of the product and sums them.
        self.assertTrue(2 * 8 * 4 * 16 <= flops <= 1.1 * 2 * 8 * 4 * 16, flops)
        with self.assertRaisesRegex(Exception, "topology_name is not specified"):
            topologies.get_topology_desc(platform="hlod")

    def test_a_program_for_one_of_them_is_loaded(self):
        device = topologies.get_topology_desc("1", platform="hlod").devices[0]
        shape = jax.ShapeDtypeStruct((4,), jnp.float32, sharding=jax.sharding.SingleDeviceSharding(device))
        compiled = jax.jit(lambda x: x * x + 1).lower(shape).compile()
        loaded = deserialize_and_load(*serialize(compiled), backend="hlod", execution_devices=[support.hlod()])
        x = support.array(4)
        np.testing.assert_allclose(loaded(jax.device_put(x, support.hlod())), x * x + 1, rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
