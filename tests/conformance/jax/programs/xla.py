"""An HLO module as XLA holds it: its proto bytes, its text, and a way to run it on XLA's CPU backend."""

import re

import jax
import numpy as np
from jaxlib import _hlo, _jax


class Module:
    """Wraps jaxlib's XlaComputation, not optimised."""

    def __init__(self, computation):
        self._computation = computation
        self.proto: bytes = computation.as_serialized_hlo_module_proto()
        self.text: str = computation.as_hlo_text(print_large_constants=True).rstrip("\n") + "\n"

    @classmethod
    def from_text(cls, text: str) -> "Module":
        parsed = _hlo.hlo_module_from_text(text)
        return cls(_hlo.XlaComputation(parsed.as_serialized_hlo_module_proto()))

    def opcodes(self) -> list[str]:
        """The sorted set of opcodes in all computations, as HLO text spells them."""
        found = set()
        for line in self.text.splitlines():
            match = re.match(r"\s+(?:ROOT )?[^ ]+ = (.*)$", line)
            if match:
                found.add(re.match(r"[\w-]+", _after_shape(match.group(1))).group(0))
        return sorted(found)

    def donated(self) -> list[dict[str, object]]:
        """Parameters whose memory a result may take, as the module's input_output_alias says."""
        header = self.text.split("\n", 1)[0]
        entries = re.findall(r"\{([\d, ]*)\}: \((\d+), \{[\d, ]*\}, (may|must)-alias\)", header)
        return [
            {"result": int(result or 0), "parameter": int(parameter), "kind": kind}
            for result, parameter, kind in entries
        ]

    def long_text(self) -> str:
        """The same module with %, operand shapes, metadata and tables of source lines."""
        options = _hlo.HloPrintOptions()
        options.print_large_constants = True
        options.print_operand_shape = True
        return self._computation.get_hlo_module().to_string(options).rstrip("\n") + "\n"

    def run(self, arguments: list[np.ndarray]) -> list[np.ndarray]:
        """The module's result leaves on XLA's CPU backend."""
        device = jax.devices("cpu")[0]
        devices = _jax.DeviceList((device,))
        stablehlo = _jax.mlir.hlo_to_stablehlo(self.proto)
        executable = device.client.compile_and_load(stablehlo, devices, _jax.CompileOptions())
        results = executable.execute_sharded([jax.device_put(a, device) for a in arguments])
        return [np.asarray(shards[0]) for shards in results.disassemble_into_single_device_arrays()]


def _after_shape(text: str) -> str:
    """Returns the text after the shape at the start of an instruction's right-hand side."""
    if not text.startswith("("):
        return text.split(" ", 1)[1]
    depth = 0
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[i + 2 :]
    raise ValueError(f"unbalanced shape in {text!r}")
