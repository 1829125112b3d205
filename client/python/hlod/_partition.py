"""hlod.partition: the module that each device of a mesh runs, by XLA's own partitioner."""

from __future__ import annotations

import dataclasses
import io
import os
from typing import Any

from . import _hloctl
from .partitioning.client import PartitionError, shared


@dataclasses.dataclass(frozen=True)
class Partitioned:
    """A program as one device of a mesh runs it."""

    module: bytes  # An HloModuleProto with one device's shapes, with collectives, and with the program's lines.
    mesh: dict  # Maps axis names to sizes; a name is empty when neither the program nor the caller stated it.
    devices: int
    partitioner: str  # "shardy" or "gspmd".
    annotated: bool  # False when the program has no shardings, so that each device computes all of it.
    parameter_shardings: list  # In HLO's text: "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".
    result_shardings: list
    jaxlib: str  # The version of jaxlib whose partitioner was used.
    cached: bool

    def save(self, path: str | os.PathLike) -> None:
        """Writes the module, for hloctl and XLA's tools."""
        with open(path, "wb") as file:
            file.write(self.module)


def partition(
    program: Any, *, mesh: Any = None, devices: int | None = None, partitioner: str = "auto", seconds: float = 300
) -> Partitioned:
    """Partitions a program by its shardings, without running it and without as many devices.

    program:     as for hlod.check; the default mesh of a lowered JAX function is its own.
    mesh:        {"data": 4, "model": 2}, "data=4,model=2", or a jax.sharding.Mesh. With Shardy's shardings it may have other sizes than the
                 mesh that the program was lowered for, unless it has a shard_map; GSPMD's shardings have their number of devices.
    devices:     the number of devices, for a program without a mesh.
    partitioner: "shardy" or "gspmd"; "auto" takes the one whose shardings the program has.
    seconds:     the time limit.

    Raises PartitionError with a sentence: jaxlib is missing or crashed, the mesh is not the program's, or XLA refuses the program.
    """
    if partitioner not in ("auto", "shardy", "gspmd"):
        raise ValueError(f"partitioner is {partitioner!r}; it is 'auto', 'shardy' or 'gspmd'")
    request = {"mesh": parse_mesh(mesh), "devices": devices, "partitioner": partitioner, "seconds": seconds}
    header, body = shared().request(request, program_bytes(program))
    return Partitioned(
        module=body[: header["module_bytes"]],
        mesh=dict(map(tuple, header["mesh"])),
        devices=header["devices"],
        partitioner=header["partitioner"],
        annotated=header["annotated"],
        parameter_shardings=header["parameter_shardings"],
        result_shardings=header["result_shardings"],
        jaxlib=header["jaxlib"],
        cached=header["cached"],
    )


def parse_mesh(mesh) -> list | None:
    """Returns a mesh as a list of [name, size]; None when `mesh` is None."""
    if mesh is None:
        return None
    if isinstance(mesh, str):
        stated = [axis.partition("=") for axis in mesh.split(",")]
        mesh = {name.strip(): size for name, _, size in stated}
        if len(mesh) != len(stated):
            raise ValueError("a mesh names each axis once, as in 'data=4,model=2'")
    axes = getattr(mesh, "shape", mesh)
    try:
        axes = [[str(name), int(size)] for name, size in axes.items()]
    except (ValueError, AttributeError):
        raise ValueError(f"{mesh!r} is not a mesh: pass {{'data': 4, 'model': 2}}, 'data=4,model=2' or a jax.sharding.Mesh") from None
    if not axes or any(size < 1 for _, size in axes):
        raise ValueError(f"the mesh {mesh!r} has an axis without devices")
    return axes


def program_bytes(program) -> bytes:
    """Returns a program with its shardings and lines, as bytes. A JAX function becomes StableHLO."""
    is_traced = hasattr(program, "lower") and hasattr(program, "jaxpr")
    if is_traced:
        program = program.lower()
    if hasattr(program, "compiler_ir"):
        buffer = io.BytesIO()
        program.compiler_ir("stablehlo").operation.write_bytecode(buffer)
        return buffer.getvalue()
    data = _hloctl.serialize(program)
    if data is None:
        with open(os.fspath(program), "rb") as file:
            data = file.read()
    return data


__all__ = ["Partitioned", "PartitionError", "parse_mesh", "partition", "program_bytes"]
