"""Writes what operations.mlir is in the other forms, and programs as artifacts of older versions.

    python generate.py      # with the packages of tests/conformance/jax/requirements.txt

operations.mlir has the operations that JAX does not write, or not in these forms, one function each. jaxlib's MLIR
parses, verifies and prints it: pretty.mlir, generic.mlir. artifact.mlirbc has the functions that a portable artifact
may have (CHLO's operations are none), and NAME-VERSION.mlirbc a program of tests/conformance/stablehlo in the
oldest version that it may be written in; beside each is what MLIR reads from it.
"""

import pathlib
import sys
import tempfile

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

HERE = pathlib.Path(__file__).resolve().parent
CONFORMANCE = HERE.parents[3] / "conformance"
sys.path.insert(0, str(CONFORMANCE))

import pack  # noqa: E402

OLDER = {
    "0.9.0": ["scan", "reduce_custom", "convolutions_f32", "random_threefry", "searches"],
    "1.0.0": ["sorts"],
    "1.4.0": ["training_step", "scatters"],
}


def write_artifact(module: ir.Module, name: str, version: str) -> None:
    artifact = stablehlo.serialize_portable_artifact(module, version)
    (HERE / f"{name}.mlirbc").write_bytes(artifact)
    read = stablehlo.deserialize_portable_artifact(ir.Context.current, artifact)
    (HERE / f"{name}.mlir").write_text(read.operation.get_asm(print_generic_op_form=True))


def can_be_artifact(text: str) -> bool:
    if "chlo." in text:  # Some are left as they are, which no reader of artifacts takes.
        return False
    try:
        stablehlo.serialize_portable_artifact(ir.Module.parse(text), stablehlo.get_current_version())
        return True
    except Exception:  # Whatever MLIR throws where an operation is not among VHLO's.
        return False


if __name__ == "__main__":
    with mlir.make_ir_context():
        module = ir.Module.parse((HERE / "operations.mlir").read_text())
        module.operation.verify()
        (HERE / "pretty.mlir").write_text(module.operation.get_asm())
        (HERE / "generic.mlir").write_text(module.operation.get_asm(print_generic_op_form=True))
        functions = [operation.operation.get_asm(print_generic_op_form=True) for operation in module.body.operations]
        portable = [function for function in functions if can_be_artifact(function)]
        write_artifact(ir.Module.parse("\n".join(portable)), "artifact", stablehlo.get_current_version())
        with tempfile.TemporaryDirectory() as scratch:
            cases = pack.unpack_all(pathlib.Path(scratch), corpora=("stablehlo",)) / "stablehlo/cases"
            for version, names in OLDER.items():
                for name in names:
                    bytes = (cases / name / "module.mlirbc").read_bytes()
                    program = stablehlo.deserialize_portable_artifact(ir.Context.current, bytes)
                    write_artifact(program, f"{name}-{version}", version)
