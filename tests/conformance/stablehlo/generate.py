"""Writes cases/: StableHLO as JAX writes it, in each of its forms, with the same program as HLO, arguments and XLA's results.

    python generate.py                  every case
    python generate.py --only 'conv*'   those whose name matches

See README.md. The programs are in stablehlo_programs/, one subject a file; what is written beside StableHLO is
written by ../jax/programs/harness.py.
"""

import argparse
import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import sys
import zlib

# Before JAX is imported. Four devices: the sharded programs have four partitions.
os.environ["XLA_FLAGS"] = " ".join(
    [
        "--xla_allow_excess_precision=false",
        "--xla_cpu_enable_fast_math=false",
        "--xla_cpu_multi_thread_eigen=false",
        "--xla_force_host_platform_device_count=4",
    ]
)
os.environ["JAX_PLATFORMS"] = "cpu"

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(1, str(HERE.parent / "jax"))
sys.path.insert(2, str(HERE.parent))

import jax  # noqa: E402
import numpy as np  # noqa: E402
import pack  # noqa: E402
from jax import export  # noqa: E402
from programs import harness  # noqa: E402
from stablehlo_programs import registry  # noqa: E402

jax.config.update("jax_hlo_source_file_canonicalization_regex", r".*/tests/conformance/")

# Cases that also have module.located.mlir: the pretty form with locations, and aliases for them.
LOCATED = {"calls", "cond", "scan", "reduce_simple", "custom_derivative", "reduce_custom"}


def export_of(program: harness.Program, jitted, text: str):
    """jax.export's artifact, whatever custom calls it has."""
    targets = set(re.findall(r"custom_call @(\w+)", text)) | set(re.findall(r'call_target_name = "([^"]*)"', text))
    checks = [export.DisabledSafetyCheck.custom_call(target) for target in sorted(targets)]
    specifications = getattr(program.function, "specifications", None) or program.arguments
    return export.export(jitted, platforms=["cpu"], disabled_checks=checks)(*specifications)


def write_forms(program: harness.Program, name: str, folder: pathlib.Path) -> None:
    """The StableHLO forms of the program whose HLO is in `folder`."""
    with jax.enable_x64(program.x64):
        jitted = jax.jit(program.function, donate_argnums=program.donate, keep_unused=True)
        if hasattr(program.function, "specifications"):  # Symbolic dimensions: jax.export alone lowers them.
            exported = export_of(program, jitted, "")
            module = mlir_of(exported)
        else:
            lowered = jitted.trace(*program.arguments).lower(lowering_platforms=(program.platform,))
            module = lowered.compiler_ir("stablehlo")
            exported = export_of(program, jitted, module.operation.get_asm(print_generic_op_form=True))
    asm = module.operation.get_asm
    (folder / "module.mlir").write_text(asm())
    (folder / "module.generic.mlir").write_text(asm(print_generic_op_form=True))
    if name in LOCATED:
        (folder / "module.located.mlir").write_text(asm(enable_debug_info=True))
    (folder / "module.mlirbc").write_bytes(exported.mlir_module_serialized)


def mlir_of(exported):
    """The MLIR module of an export."""
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    with mlir.make_ir_context():
        return stablehlo.deserialize_portable_artifact(ir.Context.current, exported.mlir_module_serialized)


def write_case(case: harness.Case, folder: pathlib.Path) -> None:
    """The case as ../jax has them, without its check against f64, and the StableHLO forms."""
    build = lambda rng: dataclasses.replace(case.build(rng), check_f64=False)
    report = harness.write_case(dataclasses.replace(case, build=build), folder)
    program = build(np.random.default_rng(zlib.crc32(case.name.encode())))
    write_forms(program, case.name, folder)
    (folder / "module.txt").unlink()
    print(report.line(), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*", metavar="GLOB")
    options = parser.parse_args()
    if options.only == "*":
        shutil.rmtree(HERE / "cases", ignore_errors=True)
    for case in registry.all_cases():
        if fnmatch.fnmatch(case.name, options.only):
            write_case(case, HERE / "cases" / case.name)
    pack.pack_all(HERE / "cases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
