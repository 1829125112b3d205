"""Writes pretty.mlir and generic.mlir: operations.mlir as MLIR prints it in each form.

    python generate.py      # with the packages of tests/conformance/jax/requirements.txt

operations.mlir has the operations that JAX does not write, or not in these forms, one function each. jaxlib's MLIR
parses, verifies and prints it.
"""

import pathlib

from jax._src.interpreters import mlir
from jaxlib.mlir import ir

HERE = pathlib.Path(__file__).resolve().parent

if __name__ == "__main__":
    with mlir.make_ir_context():
        module = ir.Module.parse((HERE / "operations.mlir").read_text())
        module.operation.verify()
        (HERE / "pretty.mlir").write_text(module.operation.get_asm())
        (HERE / "generic.mlir").write_text(module.operation.get_asm(print_generic_op_form=True))
