"""Texts, flags, errors and orders of effects are the same on the plugin as on JAX's own CPU."""

import contextlib
import copy
import functools
import io
import os
import pickle
import re
import tempfile
import threading
import warnings

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import dispatch
from jax.experimental import checkify, io_callback, pallas, serialize_executable, sparse
from jax.experimental.sparse import linalg as sparse_linalg
from jax.sharding import SingleDeviceSharding

from support import PluginTest, cpu, hlod, main

SCALAR = jax.ShapeDtypeStruct((), jnp.float32)


def plain(text) -> str:
    """A text without the names of platforms, devices and addresses, and with numbers of four digits."""
    text = re.sub(r"CpuDevice\(id=(\d+)\)|hlod:(\d+)", lambda m: f"device {m[1] or m[2]}", str(text))
    text = re.sub(r"hlod|cpu", "platform", text, flags=re.IGNORECASE)
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"\d+\.\d{4,}(e[-+]\d+)?", lambda m: f"{float(m[0]):.4g}", text)
    return re.sub(r" +(?=\])", "", re.sub(" +", " ", text))  # NumPy pads to the longest of the numbers before they are rounded.


def outcome(case, device) -> str:
    """The text of what a case returns on a device, or of the error that it raises."""
    with jax.default_device(device):
        try:
            return plain(case(device))
        except Exception as error:  # Any error is an outcome to compare.
            return plain(f"{type(error).__name__}: {error}")


def printed(function, *arguments) -> list[str]:
    """The lines that a function's effects print."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        function(*arguments)
        jax.effects_barrier()
    return text.getvalue().splitlines()


def each(*functions):
    """Returns what each function returns, or the class and the text of its error."""
    results = []
    for function in functions:
        try:
            results.append(function())
        except Exception as error:
            results.append((type(error).__name__, str(error)))
    return results


class Behaviour(PluginTest):

    def alike(self, *cases):
        """Asserts that the cases, functions of a device, have one outcome on both devices."""
        self.maxDiff = None
        for case in cases:
            with self.subTest(getattr(case, "__name__", "")):
                self.assertEqual(outcome(case, cpu()), outcome(case, hlod()))


class Arrays(Behaviour):

    def test_attributes(self):
        def attributes(device):
            x = jax.device_put(np.arange(6, dtype=np.float32).reshape(2, 3), device)
            names = "nbytes itemsize size ndim shape dtype weak_type aval sharding device committed is_fully_addressable"
            return [getattr(x, name) for name in [*names.split(), "is_fully_replicated", "format", "global_shards"]]

        def texts(device):
            x = jax.device_put(np.arange(6, dtype=np.float32), device)
            return repr(x), str(x), f"{x[0]:.2f} {x}", repr(x.astype(jnp.bfloat16)), repr(jnp.arange(2000)), repr(jax.random.key(0))

        self.alike(attributes, texts)

    def test_conversions(self):
        x, one, whole = (lambda d: jax.device_put(np.arange(3.0), d)), (lambda d: jnp.float32(1.5)), (lambda d: jnp.int32(2))
        self.alike(
            lambda d: (float(one(d)), int(one(d)), bool(one(d)), complex(one(d)), one(d).item(), round(one(d), 1)),
            lambda d: ([1, 2, 3][whole(d)], hex(whole(d)), list(range(whole(d)))),
            lambda d: (x(d).tolist(), list(x(d)), len(x(d)), np.asarray(x(d)).flags.writeable, np.array(x(d)).flags.writeable),
            lambda d: (x(d).__array__(np.int32), np.asarray(x(d), dtype=np.float16), np.add(x(d), 1), np.sum(x(d))),
            lambda d: int(x(d)),
            lambda d: bool(x(d)),
            lambda d: [1, 2][one(d)],
            lambda d: len(one(d)),
            lambda d: list(one(d)),
            lambda d: hash(one(d)),
            lambda d: x(d).__setitem__(0, 1),
            lambda d: jax.device_put(np.array(["a"]), d),
            lambda d: jax.device_put(np.array([object()]), d),
        )

    def test_copies(self):
        def copies(device):
            x = jax.device_put(np.arange(3.0), device)
            made = pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x), x.copy(), jnp.copy(x), jax.device_get(x)
            return [(y, getattr(y, "committed", None)) for y in made], jax.device_put(x, device) is x, jnp.asarray(x) is x

        self.alike(copies, lambda d: [pickle.loads(pickle.dumps(v)).dtype for v in (jnp.bfloat16(1), jnp.arange(3, dtype=jnp.int4))])

    def test_deleted_ones(self):
        def use(device):
            x = jax.device_put(np.arange(3.0), device)
            x.delete()
            return each(
                lambda: np.asarray(x), lambda: x + 1, x.block_until_ready, x.tolist, lambda: repr(x), x.copy, lambda: x.addressable_data(0),
                x.on_device_size_in_bytes, lambda: jax.jit(lambda v: v)(x), x.delete, lambda: jax.device_put(x, device),
                x.copy_to_host_async, lambda: pickle.dumps(x), lambda: x[0], lambda: (x.shape, x.sharding, x.is_deleted()),
            )  # fmt: skip

        self.alike(use)

    def test_donated_ones(self):
        put = lambda device: jax.device_put(np.arange(3.0), device)

        def use(device):
            x, step = put(device), jax.jit(lambda v: v * 2, donate_argnums=0)
            step(x)
            return x.is_deleted(), each(lambda: np.asarray(x), lambda: step(x), lambda: x + 1, x.block_until_ready)

        def unused(device):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                x = put(device)
                jax.jit(lambda v: v[:1].astype(jnp.int32), donate_argnums=0)(x)
                return [str(warning.message) for warning in caught], x.is_deleted()

        def moved(device):
            x, y = put(device), put(device)
            jax.device_put(x, device, donate=True)
            other = jax.device_put(y, SingleDeviceSharding(device, memory_kind="pinned_host"), donate=True)
            return x.is_deleted(), y.is_deleted(), other

        def twice(device, donated):
            x = put(device)
            return jax.jit(lambda a, b: (a + 1, b * 2), donate_argnums=donated)(x, x)

        self.alike(use, unused, moved, functools.partial(twice, donated=(0, 1)), functools.partial(twice, donated=(0,)))

    def test_pointers_tell_arrays_apart(self):
        x, pointer = jnp.arange(3.0), lambda array: array.unsafe_buffer_pointer()
        self.assertEqual(pointer(jax.device_put(x, hlod(), may_alias=True)), pointer(x))
        for other in (x.copy(), x + 0, jax.device_put(x, hlod(), may_alias=False), jnp.array(x, copy=True)):
            self.assertNotEqual(pointer(other), pointer(x))
        before = pointer(x)
        result = jax.jit(lambda v: v + 1, donate_argnums=0)(x)
        self.assertEqual(pointer(result), before)
        with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "deleted or donated"):
            pointer(x)

    def test_memories(self):
        def kinds(device):
            host = SingleDeviceSharding(device, memory_kind="pinned_host")
            x = jax.device_put(np.arange(4.0), host)
            back = jax.jit(lambda v: jax.device_put(v, jax.memory.Space.Device) * 2)
            there = jax.jit(lambda v: v * 2, out_shardings=host)
            return [y.sharding for y in (x, x * 2, jnp.sin(x), x[0], back(x), there(np.arange(4.0)))], jax.typeof(x), device.default_memory().kind

        self.alike(
            kinds,
            lambda d: SingleDeviceSharding(d, memory_kind="nowhere"),
            lambda d: jax.jit(lambda a, b: a * b)(
                jax.device_put(np.ones(3), SingleDeviceSharding(d, memory_kind="pinned_host")), jax.device_put(np.ones(3), d)
            ),
        )

    def test_transfer_guards(self):
        def guarded(device, guard):
            x = jax.device_put(np.arange(3.0), device)
            with guard:
                return [
                    r if isinstance(r, tuple) and r[0].endswith("Error") else "passed"
                    for r in each(
                        lambda: jax.device_put(np.ones(2), device), lambda: jax.jit(lambda v: v)(np.ones(2)), lambda: x + 1,
                        lambda: jnp.ones(7), lambda: x * x, lambda: jax.device_put(x, device.client.devices()[-1]),
                    )
                ]  # fmt: skip

        for level in ("allow", "disallow", "disallow_explicit"):
            for guard in (jax.transfer_guard_host_to_device, jax.transfer_guard_device_to_device):
                self.alike(functools.partial(lambda d, g, l: guarded(d, g(l)), g=guard, l=level))

    def test_reads_are_guarded(self):
        x = jnp.arange(3.0)
        with jax.transfer_guard_device_to_host("disallow"), self.assertRaisesRegex(jax.errors.JaxRuntimeError, "Disallowed"):
            np.asarray(x)
        with jax.transfer_guard_device_to_host("disallow"):
            self.assertEqual(jax.device_get(x).tolist(), [0, 1, 2])

    def test_other_libraries_get_a_copy_by_dlpack(self):
        x = jnp.arange(6.0).reshape(2, 3)
        np.testing.assert_array_equal(np.from_dlpack(x), np.arange(6.0).reshape(2, 3))
        self.assertEqual(x.__dlpack_device__(), np.zeros(1).__dlpack_device__())
        with self.assertRaisesRegex(BufferError, "copy"):
            np.from_dlpack(x, copy=False)
        self.assertEqual(jax.dlpack.from_dlpack(np.arange(3), device=hlod()).devices(), {hlod()})


class Programs(Behaviour):

    def test_compiled_ones(self):
        def describe(device):
            lowered = jax.jit(lambda x, y=1: {"a": x * 2 + y}).lower(jax.ShapeDtypeStruct((3,), np.float32))
            compiled = lowered.compile()
            trees = lowered.in_tree, lowered.out_tree, compiled.in_tree, compiled.out_tree, compiled.args_info, compiled.out_info
            figures = compiled.memory_analysis()
            return (
                lowered.as_text(), trees, compiled.input_formats, compiled.output_formats, compiled.input_shardings,
                figures.argument_size_in_bytes, figures.alias_size_in_bytes, compiled.as_text()[:9],
                each(compiled, lambda: compiled(np.ones(4, np.float32)), lambda: compiled(np.ones(3, np.int32))),
            )  # fmt: skip

        def saved(device):
            compiled = jax.jit(lambda v: {"a": v["x"] * 2}).lower({"x": jax.device_put(np.ones(3), device)}).compile()
            bytes_and_trees = serialize_executable.serialize(compiled)
            load = serialize_executable.deserialize_and_load
            return load(*bytes_and_trees, backend=device.client, execution_devices=[device])({"x": jax.device_put(np.ones(3), device)})

        self.alike(describe, saved)

    def test_compiler_options(self):
        compiling = lambda **options: jax.jit(lambda x: x * 2, compiler_options=options)(1.0)
        self.alike(
            lambda d: compiling(xla_embed_ir_in_executable=True, xla_dump_max_hlo_modules=200),
            lambda d: compiling(xla_embed_ir_in_executable="maybe"),
            lambda d: compiling(xla_dump_max_hlo_modules=0.5),
            lambda d: compiling(xla_no_such_option=True),
            lambda d: compiling(no_such_option=True),
        )

    def test_branches_by_platform(self):
        choose = lambda x: lax.platform_dependent(x, cpu=lambda x: x + 1, tpu=lambda x: x * 5, default=lambda x: -x)
        known = lambda x: lax.platform_dependent(x, cpu=lambda x: x + 1, cuda=lambda x: x * 5)
        for f in (choose, known):
            self.alike(*[lambda d, g=g: g(3.0) for g in (f, jax.jit(f), jax.grad(f), lambda x: jax.vmap(f)(jnp.ones(2) * x))])

    def test_pallas_kernels_are_interpreted(self):
        def double(x_ref, y_ref):
            y_ref[...] = 2 * x_ref[...]

        call = lambda **options: pallas.pallas_call(double, out_shape=jax.ShapeDtypeStruct((4,), jnp.float32), **options)
        self.alike(lambda d: call(interpret=True)(jnp.arange(4.0)), lambda d: call()(jnp.arange(4.0)))

    def test_exports_for_the_cpu(self):
        exported = jax.export.export(jax.jit(lambda x: jnp.linalg.inv(jnp.sin(x))), platforms=["tpu", "cpu"])(SCALAR.update(shape=(2, 2)))
        run = jax.export.deserialize(exported.serialize(vjp_order=1)).call
        x = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)
        self.alike(lambda d: jax.jit(run)(x), lambda d: jax.grad(lambda x: run(x).sum())(x))
        with self.assertRaisesRegex(ValueError, "exported for platforms"):
            jax.export.export(jax.jit(jnp.sin), platforms=["tpu"])(1.0).call(jnp.float32(1))

    def test_the_persistent_cache(self):
        from jax._src import compilation_cache

        def kept(device):
            settings = {"jax_persistent_cache_min_compile_time_secs": 0, "jax_persistent_cache_min_entry_size_bytes": 0}
            before = {name: getattr(jax.config, name) for name in [*settings, "jax_compilation_cache_dir"]}
            with tempfile.TemporaryDirectory() as folder:
                try:
                    for name, value in {**settings, "jax_compilation_cache_dir": folder}.items():
                        jax.config.update(name, value)
                    compilation_cache.reset_cache()
                    results = []
                    for _ in range(2):
                        results += [jax.jit(lambda x: jnp.sin(x) * 7)(1.0), len(os.listdir(folder))]
                        jax.clear_caches()
                    return results
                finally:
                    for name, value in before.items():
                        jax.config.update(name, value)
                    compilation_cache.reset_cache()

        self.alike(kept)

    def test_64_bits_and_threads(self):
        def wide(device):
            with jax.enable_x64(True):
                return jnp.arange(3.0).dtype, jax.jit(lambda x: x * 2)(np.arange(3.0)).dtype, jnp.int64(1 << 40) + 1

        def threads(device):
            results = [None] * 8

            def run(i):
                with jax.enable_x64(i % 2 == 1), jax.default_device(device):
                    results[i] = jax.jit(lambda: jnp.arange(3.0) * i)().dtype

            running = [threading.Thread(target=run, args=(i,)) for i in range(8)]
            [thread.start() for thread in running]
            [thread.join() for thread in running]
            return results

        self.alike(wide, threads)

    def test_where_results_are(self):
        self.alike(
            lambda d: [jax.jit(lambda x: x * 2, backend=d.platform)(1.0).devices(), jnp.zeros(3, device=d).devices(), jnp.eye(2).committed],
            lambda d: jax.device_put(jax.device_put(jnp.ones(3), cpu()), d).devices(),
            lambda d: jax.jit(lambda x: x, backend="nowhere")(1.0),
            lambda d: jax.devices("nowhere"),
        )
        self.assertEqual(jax.jit(lambda x: x * 2, backend="cpu")(1.0).devices(), {cpu()})

    def test_values_out_of_range(self):
        x, i = np.array([np.nan, np.inf, -np.inf, 1e20, -1e20, 3.9, -3.9, 300, -1], np.float32), np.arange(3)
        self.alike(
            lambda d: [jnp.asarray(x).astype(t) for t in ("int8", "uint8", "int16", "int32", "uint32", "bool", "int4", "float8_e4m3fn")],
            lambda d: [jnp.asarray(i)[5], jnp.asarray(i).at[7].set(1), jnp.asarray(i).at[7].get(mode="fill", fill_value=-1)],
            lambda d: [f(jnp.array([-7, 7, 0], t), jnp.zeros(3, t)) for t in ("int8", "int32") for f in (lax.div, lax.rem, jnp.floor_divide)],
        )

    def test_sparse_solutions(self):
        matrix = sparse.BCSR.fromdense(np.eye(4, dtype=np.float32) * 3 + np.eye(4, k=1, dtype=np.float32))
        self.alike(lambda d: sparse_linalg.spsolve(matrix.data, matrix.indices, matrix.indptr, jnp.ones(4)))


class Effects(Behaviour):

    def test_prints(self):
        def several(x):
            jax.debug.print("x={x} {}", x * 2, x=x, ordered=True)
            jax.debug.print("{:.2f}", x.sum(), ordered=True)
            jax.debug.print("none", ordered=True)
            return x

        note = lambda text, *values: jax.debug.print(text, *values, ordered=True)
        loop = lambda x: lax.fori_loop(0, 3, lambda i, c: (note("loop {} {}", i, c), c * 2)[1], x)
        scan = lambda x: lax.scan(lambda c, i: (note("scan {} {}", i, c), (c * 2, c))[1], x, jnp.arange(3))
        choice = lambda x: lax.cond(x > 0, lambda x: (note("then {}", x), x)[1], lambda x: (note("else {}", x), x)[1], x)
        turns = lambda x: lax.while_loop(lambda c: (note("while {}", c), c < 3)[1], lambda c: (note("do {}", c), c + 1)[1], x)
        types = lambda x: [note("{}", jnp.array([1, 0], t)) for t in ("bool", "int8", "bfloat16", "complex64", "int4", "float8_e5m2")]
        noted = lambda x: (jax.debug.print("{}", x), jnp.sin(x))[1]
        self.alike(
            lambda d: printed(jax.jit(several), jnp.arange(3.0)),
            lambda d: printed(several, jnp.arange(3.0)),
            *[lambda d, f=f: printed(jax.jit(f), 1.0) for f in (loop, scan, choice, turns, types)],
            *[lambda d, f=f: printed(jax.jit(f), 2.0) for f in (jax.grad(noted), jax.grad(jax.checkpoint(noted)))],
            lambda d: sorted(printed(jax.jit(jax.vmap(noted)), jnp.arange(3.0))),
            lambda d: printed(jax.jit(lambda x: jax.debug.print("{}", x, partitioned=True)), 1),
            lambda d: jax.jit(lambda x: jax.debug.print("{y}", x=x))(1),
            lambda d: jax.jit(lambda x: jax.debug.print("{}"))(1),
        )

    def test_callbacks(self):
        double = lambda x: np.asarray(x) * 2
        call = lambda f, x, result=SCALAR, **how: jax.pure_callback(f, result, x, **how)
        self.alike(
            lambda d: jax.jit(lambda x: call(lambda t: {"a": t["u"] * 2, "b": ()}, x, {"a": SCALAR, "b": ()}))({"u": 2.0}),
            lambda d: jax.jit(lambda: jax.pure_callback(lambda: np.float32(3), SCALAR))(),
            lambda d: jax.jit(lambda x: call(lambda x: np.zeros((0, 3), np.float32), x, jax.ShapeDtypeStruct((0, 3), jnp.float32)))(1.0),
            lambda d: jax.jit(lambda x: lax.fori_loop(0, 5, lambda i, c: call(double, c), x))(1.0),
            lambda d: jax.jit(lambda x: lax.while_loop(lambda c: call(lambda c: np.bool_(c < 5), c, jax.ShapeDtypeStruct((), bool)), lambda c: c + 1, x))(1.0),
            lambda d: jax.jit(lambda x: call(lambda x: jnp.sin(x) * 2, x))(1.0),
            lambda d: jax.jit(lambda x: call(jax.jit(lambda x: jnp.sin(x)), x))(1.0),
            lambda d: jax.grad(lambda x: call(double, x))(1.0),
            lambda d: jax.jit(lambda k: call(lambda k: k, k, jax.typeof(k)))(jax.random.key(3)),
        )  # fmt: skip

    def test_callbacks_under_vmap(self):
        def shapes(device, method):
            seen = []
            f = lambda x, y: (seen.append((np.shape(x), np.shape(y))), np.asarray(x) + np.asarray(y))[1]
            g = lambda x, y: jax.pure_callback(f, jax.ShapeDtypeStruct(x.shape, x.dtype), x, y, vmap_method=method)
            return jax.jit(jax.vmap(g, in_axes=(0, None)))(jnp.arange(3.0), 1.0), seen

        for method in ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", None):
            self.alike(functools.partial(shapes, method=method))

    def test_errors_of_callbacks(self):
        def fail(x):
            raise ValueError("no such luck")

        def errors_of(function):
            run = jax.jit(lambda x: jax.pure_callback(function, jax.ShapeDtypeStruct((3,), jnp.float32), x))
            try:
                return jax.block_until_ready(run(1.0))
            except jax.errors.JaxRuntimeError as error:
                return [line for line in str(error).splitlines() if re.match(r"\w*Error: ", line)]
            finally:
                dispatch.runtime_tokens.clear()  # JAX keeps those of failed programs.

        results = (np.ones(4, np.float32), np.ones(3, np.int16), (np.float32(1),) * 2)
        with self.assertLogs(level="ERROR"):
            self.alike(lambda d: errors_of(fail), *[lambda d, r=r: errors_of(lambda x: r) for r in results])

    def test_effects_happen_in_order_and_once(self):
        def order(device):
            seen = []
            note = lambda x, name: io_callback(lambda x: seen.append((name, float(x))), None, x, ordered=True)
            step = lambda name: jax.jit(lambda x: (note(x, name), x + 1)[1])
            first, second = step("a"), step("b")
            result = second(first(second(first(1.0))))
            jax.jit(lambda x: lax.cond(x > 0, lambda x: note(x, "then"), lambda x: None, x))(1.0)
            jax.effects_barrier()
            return seen, result

        def count(device):
            seen = []
            counted = jax.jit(lambda x: jax.pure_callback(lambda x: (seen.append(1), np.asarray(x))[1], SCALAR, x))
            return jax.block_until_ready([counted(1.0), counted(2.0), counted(3.0)]), len(seen)

        self.alike(order, count, lambda d: jax.vmap(lambda x: io_callback(lambda x: None, None, x, ordered=True))(jnp.arange(3.0)))

    def test_checks(self):
        def positive(x):
            checkify.check(x > 0, "x is {x}", x=x)
            return x

        def error_of(function, *arguments, errors=checkify.user_checks):
            error, _ = jax.jit(checkify.checkify(function, errors=errors))(*arguments)
            return error.get()

        self.alike(
            lambda d: error_of(positive, -1.0),
            lambda d: error_of(lambda x, i: x[i], jnp.arange(3.0), 5, errors=checkify.index_checks),
            lambda d: error_of(lambda x: jnp.log(x), -1.0, errors=checkify.float_checks),
            lambda d: jax.jit(checkify.checkify(positive))(-1.0)[0].throw(),
            lambda d: jax.jit(positive)(-1.0),
        )

    def test_mutable_arrays(self):
        def steps(device):
            ref = jax.new_ref(jnp.arange(4.0))

            @jax.jit
            def step(ref, x):
                ref[1] = x
                ref[2] += x
                lax.fori_loop(0, 3, lambda i, _: ref.__setitem__(..., ref[...] * 2), None)
                lax.cond(x > 0, lambda: ref.__setitem__(0, 5.0), lambda: ref.__setitem__(3, 6.0))
                return ref[...].sum()

            return step(ref, 5.0), step(ref, -5.0), ref[...], jax.freeze(ref)

        def derivative(device):
            def f(x):
                ref = jax.new_ref(x)
                ref[...] = jnp.sin(ref[...]) * 2
                return ref[...].sum()

            return jax.jit(jax.grad(f))(jnp.ones(3)), jax.jit(jax.vmap(f))(jnp.ones((2, 3)))

        def twice(device):
            ref = jax.new_ref(jnp.ones(3))
            return jax.jit(lambda a, b: a[...] + b[...])(ref, ref)

        self.alike(steps, derivative, twice, lambda d: jax.jit(lambda ref: ref)(jax.new_ref(jnp.ones(3))))



if __name__ == "__main__":
    main()
