"""Prepares JAX's programs before the plugin compiles them."""

from __future__ import annotations

import functools
import inspect

from . import _divided_callbacks, _fork, _shardings
from .jax import NAME


def register() -> None:
    """Has JAX check the options of its programs, and complete their shardings, before the plugin compiles them. Has JAX keep
    compiled programs in its persistent cache, if it has one ($JAX_COMPILATION_CACHE_DIR), as it does for its own platforms."""
    from jax._src import compilation_cache, compiler

    name = "backend_compile_and_load" if hasattr(compiler, "backend_compile_and_load") else "backend_compile"  # JAX before 0.7
    compile_and_load = getattr(compiler, name)
    signature = inspect.signature(compile_and_load)

    @functools.wraps(compile_and_load)
    def compiling(*arguments, **parameters):
        call = signature.bind(*arguments, **parameters)
        _fork.check(call.arguments["backend"])
        options = call.arguments["options"]
        if call.arguments["backend"].platform == NAME:
            check_options(options)
            build = options.executable_build_options
            if build.num_partitions > 1 and build.use_shardy_partitioner:
                call.arguments["module"], added = _shardings.completed(call.arguments["module"])
                own = [c for c in call.arguments["host_callbacks"] if not isinstance(c, _divided_callbacks.Callback)]
                call.arguments["host_callbacks"] = [*own, *added]
        return compile_and_load(*call.args, **call.kwargs)

    setattr(compiler, name, compiling)
    is_used = compilation_cache.is_cache_used

    @functools.wraps(is_used)
    def is_cache_used(backend):
        return is_used(_Cached if backend.platform == NAME else backend)

    compilation_cache.is_cache_used = is_cache_used
    _analyse_costs()


def _analyse_costs() -> None:
    """Has `jax.jit(f).lower(x).cost_analysis()` answer as on JAX's CPU, whose client counts the operations of an HLO module of any platform.
    JAX itself answers None for a plugin."""
    import jax
    from jax._src.interpreters import pxla

    computation = getattr(pxla, "MeshComputation", None)
    if not hasattr(computation, "cost_analysis") or not hasattr(getattr(pxla, "_jax", None), "hlo_module_cost_analysis"):
        return  # A JAX that has them elsewhere goes on to answer None.
    analysis_of_jax = computation.cost_analysis

    @functools.wraps(analysis_of_jax)
    def cost_analysis(self):
        backend = self.compile_args.get("backend")
        if getattr(backend, "platform", None) != NAME:
            return analysis_of_jax(self)
        try:
            cpu = jax.local_devices(backend="cpu")[0].client
        except RuntimeError:
            return analysis_of_jax(self)  # JAX_PLATFORMS leaves the CPU out.
        return pxla._jax.hlo_module_cost_analysis(cpu, self.hlo().as_hlo_module())

    computation.cost_analysis = cost_analysis


class _Cached:
    """A backend for JAX's persistent cache, which uses only its name."""

    platform = "cpu"
    supports_executable_serialization = True


def check_options(options) -> None:
    """Raises JaxRuntimeError for `compiler_options` that XLA does not have, or whose values are not of their types."""
    overrides = tuple((name, value) for name, value in options.env_option_overrides if name != "xla_dump_to")
    if overrides:
        _check(overrides)


@functools.lru_cache(maxsize=1024)
def _check(overrides) -> None:
    """Asks JAX's CPU, which has XLA's table of options, to compile an empty program with them."""
    import jax
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir

    try:
        device = jax.local_devices(backend="cpu")[0]
    except RuntimeError:
        return  # JAX_PLATFORMS leaves the CPU out, so the plugin accepts every option that has the form of XLA's.
    if not hasattr(device.client, "compile_and_load"):
        return  # JAX before 0.7
    options = xla_client.CompileOptions()
    options.env_option_overrides = list(overrides)
    with mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse("func.func public @main() { return }")
        device.client.compile_and_load(mlir.module_to_bytecode(module), xla_client.DeviceList((device,)), options)
