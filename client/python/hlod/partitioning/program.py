"""Reads a program for jaxlib's compiler: its form, the mesh that it is divided over, and which arrays have no sharding."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re

from . import protos
from . import rules as argument_rules


class Refused(ValueError):
    """The program or the mesh cannot be partitioned; the message is a sentence."""


@dataclasses.dataclass
class Program:
    module: object  # An ir.Module.
    partitioner: str  # "shardy" or "gspmd".
    mesh: list  # A list of [name, size]; names are empty when the program does not state them.
    devices: int
    annotated: bool  # False when no array of the program has a sharding.
    open_parameters: list  # One bool per parameter, True when the partitioner may choose its sharding.
    open_results: list


def read(data: bytes, request: dict) -> Program:
    """Reads StableHLO text, bytecode or a portable artifact, HLO text, or an HloProto or HloModuleProto.

    request: "mesh" (a list of [name, size], or null), "devices" (a number, or null), "partitioner" ("auto", "gspmd", "shardy"),
    "shard" (rules for arguments, or null) or "strategy" (a name, or null; rules.py). Raises Refused.
    """
    module = _parse(data)
    operation = module.operation
    if _integer(operation, "mhlo.num_replicas", 1) > 1:
        raise Refused(f"The program has {_integer(operation, 'mhlo.num_replicas', 1)} replicas: it is divided by hand already, as by jax.pmap.")
    text = operation.get_asm(large_elements_limit=16)
    meshes = _meshes(text)
    wanted = [(str(name), int(size)) for name, size in request.get("mesh") or []]
    partitioner = request.get("partitioner") or "auto"
    others = list(request.get("shard") or []), request.get("strategy") or ""
    if any(others) and not meshes and "mhlo.sharding" not in text and wanted:
        meshes = [wanted]
        _declare(module, wanted)
        text += "sdy.sharding"
    shardy = bool(meshes) and ("sdy.sharding" in text or "sdy.manual_computation" in text or "xla.sdy." in text)
    if partitioner == "auto":
        partitioner = "shardy" if shardy else "gspmd"
    if shardy:
        if partitioner == "gspmd" and re.search(r"sdy\.(manual_computation|mesh)\b|xla\.sdy\.(GlobalToLocalShape|LocalToGlobalShape)", text):
            raise Refused("The program's shardings are Shardy's: GSPMD does not read them. Lower it with jax_use_shardy_partitioner=False, or take --partitioner shardy.")
        mesh, devices = _shardy_mesh(module, text, meshes, wanted)
        annotated = True
    else:
        tiles = _tiles(text)
        if partitioner == "shardy" and "mhlo.sharding" in text:
            raise Refused("The program's shardings are GSPMD's: Shardy does not read them. Lower it with jax_use_shardy_partitioner=True, or take --partitioner gspmd.")
        mesh, devices = _gspmd_mesh(tiles, wanted, request.get("devices"), _integer(operation, "mhlo.num_partitions", 0))
        annotated = bool(tiles) or "mhlo.sharding" in text
    asked = request.get("devices")
    if asked and asked != devices:
        raise Refused(f"The program is divided over {devices} devices ({_mesh_text(mesh)}); {asked} are asked for.")
    if any(others):
        _divide(module, mesh, shardy, *others)
        annotated = True
    parameters, results = _open(module)
    return Program(module, partitioner, mesh, devices, annotated, parameters, results)


def _context():
    """Returns a context of MLIR with only the dialects that programs are written in, because loading all dialects takes 0.1 s."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo

    class Context(ir.Context):
        def __init__(self):
            super(ir.Context, self).__init__()

    try:
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext as upstream
    except ImportError:
        from jaxlib.mlir._mlir_libs import register_jax_dialects as upstream
    registry = ir.DialectRegistry()
    upstream.register_dialects(registry)
    context = Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in (sdy, chlo, stablehlo):
        dialect.register_dialect(context)
    try:
        from jaxlib.mlir.dialects import mhlo

        mhlo.register_mhlo_dialect(context)
    except ImportError:
        pass  # Newer versions of jaxlib have no such dialect.
    context.allow_unregistered_dialects = True
    return context


def _parse(data: bytes):
    from jaxlib.mlir import ir

    context = _context()
    donations = None
    data = _exported_module(data)
    try:
        if data[:4] == b"ML\xefR":
            return _from_bytecode(data, context)
        if data.lstrip()[:9] == b"HloModule":
            data = _hlo_text_parser()(data.decode()).as_serialized_hlo_module_proto()
        elif _is_text(data):
            return ir.Module.parse(data.decode(), context)
        proto = protos.module_of(data)
        donations = protos.donations(proto)
        module = ir.Module.parse(_hlo_to_stablehlo(proto), context)
    except Exception as error:
        raise Refused(f"jaxlib cannot read the program: {_first_lines(error)}") from None
    _restore(module, donations)
    return module


def _from_bytecode(data: bytes, context):
    """Reads MLIR's bytecode. The operations of a portable artifact are in another dialect (vhlo), which some contexts parse without converting it."""
    from jaxlib.mlir import ir

    with contextlib.suppress(Exception):
        module = ir.Module.parse(data, context)
        if not any(op.operation.name.startswith("vhlo.") for op in module.body.operations):
            return module
    with context:
        module = _mlir().deserialize_portable_artifact(data)
        return ir.Module.parse(module) if isinstance(module, (bytes, str)) else module  # jaxlib before 0.10 returns the text.


def _exported_module(data: bytes) -> bytes:
    """Returns the artifact in the result of jax.export's Exported.serialize(), which is a FlatBuffer: a vector of bytes after its
    length. Returns other programs as they are."""
    at = data.find(b"ML\xefR", 8)
    size = int.from_bytes(data[at - 4 : at], "little") if at > 0 else 0
    return data[at : at + size] if 8 < size <= len(data) - at and not _is_text(data) else data


def _mlir():
    try:
        from jaxlib import _jax

        return _jax.mlir
    except ImportError:
        from jaxlib import xla_client

        return xla_client._xla.mlir


def _hlo_to_stablehlo(proto: bytes) -> bytes:
    convert = getattr(_mlir(), "hlo_to_stablehlo", None)
    if convert is not None:
        return convert(proto)
    from jaxlib import xla_client

    return _mlir().xla_computation_to_mlir_module(xla_client.XlaComputation(proto))


def _hlo_text_parser():
    try:
        from jaxlib import _hlo

        return _hlo.hlo_module_from_text
    except (ImportError, AttributeError):
        from jaxlib import xla_client

        return xla_client._xla.hlo_module_from_text


def _restore(module, donations: protos.Donations) -> None:
    """Adds attributes for donated parameters, because the conversion from HLO drops these."""
    from jaxlib.mlir import ir

    main = _main(module)
    with module.context:
        attributes = [dict(_items(a)) for a in _argument_attributes(main)]
        for parameter, result in donations.aliases.items():
            attributes[parameter]["tf.aliasing_output"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), result)
        for parameter in donations.donors:
            attributes[parameter]["jax.buffer_donor"] = ir.BoolAttr.get(True)
        main.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(a) for a in attributes])
        if "mhlo.input_output_alias" in module.operation.attributes:
            del module.operation.attributes["mhlo.input_output_alias"]


def _main(module):
    functions = [op for op in module.body.operations if op.operation.name == "func.func"]
    for function in functions:
        if str(function.operation.attributes["sym_name"]) == '"main"':
            return function.operation
    raise Refused("The program has no function `main`.")


def _argument_attributes(main):
    count = len(main.regions[0].blocks[0].arguments)
    return list(main.attributes["arg_attrs"]) if "arg_attrs" in main.attributes else [None] * count


def _items(dictionary):
    return [] if dictionary is None else [(dictionary[i].name, dictionary[i].attr) for i in range(len(dictionary))]


def _open(module) -> tuple[list, list]:
    """Returns two lists, for parameters and for results: True when the sharding is not stated, so that the partitioner chooses it."""
    main = _main(module)
    results = len(main.regions[0].blocks[0].operations[len(main.regions[0].blocks[0].operations) - 1].operands)
    result_attributes = list(main.attributes["res_attrs"]) if "res_attrs" in main.attributes else [None] * results

    def is_open(dictionary):
        return not any(name in ("mhlo.sharding", "sdy.sharding") or "xla.sdy.sharding" in str(attr) for name, attr in _items(dictionary))

    return [is_open(a) for a in _argument_attributes(main)], [is_open(a) for a in result_attributes]


def _declare(module, mesh: list) -> None:
    """Declares a mesh in a program that has none."""
    from jaxlib.mlir import ir

    axes = ", ".join(f'"{name}"={size}' for name, size in mesh)
    with module.context:
        declared = ir.Module.parse(f"module {{ sdy.mesh @mesh = <[{axes}]> }}")
        declared.body.operations[0].operation.move_before(module.body.operations[0].operation)


def _divide(module, mesh: list, shardy: bool, texts: list, strategy: str) -> None:
    """Replaces the shardings of arguments, and of the results that take over their memory."""
    from jaxlib.mlir import ir

    main = _main(module)
    values = main.regions[0].blocks[0].arguments
    attributes = [dict(_items(a)) for a in _argument_attributes(main)]
    if not all(name for name, _ in mesh):
        raise Refused("The program's mesh has no names of axes: --mesh gives them, as in --mesh data=4,model=2.")
    declared = [op.operation for op in module.body.operations if op.operation.name == "sdy.mesh"]
    if shardy and not declared:
        raise Refused("The program is HLO, whose shardings cannot be replaced: give the StableHLO that it was made of.")
    # A module may declare others too, such as one without axes.
    symbol = next((str(op.attributes["sym_name"]).strip('"') for op in declared if _meshes(str(op)) == [[tuple(axis) for axis in mesh]]), None)
    if shardy and symbol is None:
        raise Refused(f"The program declares no mesh with the axes {', '.join(f'{axis}={size}' for axis, size in mesh)}.")
    arguments = []
    for i, value in enumerate(values):
        name = re.match(r'loc\("([^"]*)"', str(value.location))
        try:
            kind = ir.RankedTensorType(value.type)
        except ValueError:
            raise Refused(f"Argument {i} is a {value.type}; rules divide arrays alone.") from None
        donated = "tf.aliasing_output" in attributes[i] or "jax.buffer_donor" in attributes[i]
        arguments.append(argument_rules.Argument(name[1] if name else f"arg{i}", tuple(kind.shape), isinstance(kind.element_type, ir.IntegerType), donated))
    try:
        found = argument_rules.by_strategy(strategy, arguments, mesh) if strategy else {}
        found.update(argument_rules.by_rules(texts, arguments, mesh))
    except argument_rules.Wrong as wrong:
        raise Refused(str(wrong)) from None
    count = len(_open(module)[1])
    results = [dict(_items(a)) for a in main.attributes["res_attrs"]] if "res_attrs" in main.attributes else [{} for _ in range(count)]

    def set_sharding(of: dict, entries: list, rank: int) -> None:
        of.pop("mhlo.sharding", None)
        if shardy:
            dims = ", ".join("{" + ", ".join(f'"{axis}"' for axis in (entries[d] if d < len(entries) else ())) + "}" for d in range(rank))
            of["sdy.sharding"] = ir.Attribute.parse(f"#sdy.sharding<@{symbol}, [{dims}]>")
        else:
            of["mhlo.sharding"] = ir.StringAttr.get(argument_rules.tiles(entries, rank, mesh))

    with module.context:
        for i, entries in found.items():
            rank = len(arguments[i].shape)
            set_sharding(attributes[i], entries, rank)
            if "tf.aliasing_output" in attributes[i]:
                set_sharding(results[attributes[i]["tf.aliasing_output"].value], entries, rank)
        main.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(a) for a in attributes])
        main.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(a) for a in results])


_AXIS = re.compile(r'(?:\\22|\\"|")([^"\\]+)(?:\\22|\\"|")\s*=\s*(\d+)')
_MESH_LIST = re.compile(r'<\[((?:(?:\\22|\\"|")[^"\\]+(?:\\22|\\"|")\s*=\s*\d+(?:,\s*)?)+)\]')


def _meshes(text: str) -> list:
    """Returns the meshes that the program declares, each as a list of (name, size)."""
    meshes = []
    for line in text.splitlines():
        if "sdy.mesh" not in line:
            continue
        for axes in _MESH_LIST.findall(line):
            mesh = [(name, int(size)) for name, size in _AXIS.findall(axes)]
            if mesh and mesh not in meshes:
                meshes.append(mesh)
    return meshes


def _shardy_mesh(module, text, meshes, wanted):
    largest = max(meshes, key=lambda mesh: math.prod(size for _, size in mesh))
    if not wanted or wanted == largest:
        devices = math.prod(size for _, size in largest)
        for mesh in meshes:
            if math.prod(size for _, size in mesh) not in (1, devices):
                raise Refused(f"The program has meshes of different sizes: {_mesh_text(mesh)} and {_mesh_text(largest)}.")
        return largest, devices
    if {name for name, _ in wanted} != {name for name, _ in largest} or len(wanted) != len(largest):
        missing = sorted({name for name, _ in wanted} - {name for name, _ in largest})
        what = f"has no axis {missing[0]!r}" if missing else "has more axes"
        raise Refused(f"The mesh {_mesh_text(wanted)} is not the program's: {_mesh_text(largest)} {what}.")
    sizes = dict(wanted)
    if len(meshes) > 1 and any({name for name, _ in mesh} != set(sizes) for mesh in meshes):
        raise Refused(f"The program has {len(meshes)} meshes; it is partitioned for its own sizes only ({_mesh_text(largest)}).")
    if "sdy.manual_computation" in text or "LocalToGlobalShape" in text:
        raise Refused(f"The program divides arrays by hand (shard_map) over {_mesh_text(largest)}: lower it again for {_mesh_text(wanted)}.")
    _resize(module, sizes)
    resized = [(name, sizes[name]) for name, _ in largest]
    return resized, math.prod(sizes.values())


def _resize(module, sizes: dict) -> None:
    """Declares the program's meshes with other sizes. Shardings name axes only, so they need no change."""
    from jaxlib.mlir import ir

    def axes(match):
        return _AXIS.sub(lambda axis: axis.group(0)[: -len(axis.group(2))] + str(sizes[axis.group(1)]), match.group(0))

    def replaced(attribute):
        text = str(attribute)
        if "device_ids" in text:
            raise Refused("The program's mesh has its devices in an order of its own: it is partitioned for its own sizes only.")
        return ir.Attribute.parse(_MESH_LIST.sub(axes, text))

    with module.context:
        for op in module.body.operations:
            if op.operation.name == "sdy.mesh":
                op.operation.attributes["mesh"] = replaced(op.operation.attributes["mesh"])
                if "stablehlo.mesh" in op.operation.attributes:
                    del op.operation.attributes["stablehlo.mesh"]
        _drop_lists_of_devices(module)
        frontend = "mhlo.frontend_attributes"
        if frontend in module.operation.attributes:
            module.operation.attributes[frontend] = replaced(module.operation.attributes[frontend])


def _drop_lists_of_devices(module) -> None:
    """Removes HLO's shardings, which list devices and so fit the old sizes only, and keeps Shardy's."""
    from jaxlib.mlir import ir

    name = "mhlo.sharding"

    def visit(block):
        for op in block.operations:
            attributes = op.operation.attributes
            if name in attributes:
                del attributes[name]
            for values in ("arg_attrs", "res_attrs"):
                if values in attributes:
                    kept = [{n: a for n, a in _items(d) if n != name} for d in attributes[values]]
                    attributes[values] = ir.ArrayAttr.get([ir.DictAttr.get(d) for d in kept])
            for region in op.operation.regions:
                for inner in region.blocks:
                    visit(inner)

    visit(module.body)


_TILES = re.compile(r"devices=\[([\d,]+)\]")


def _tiles(text: str) -> set:
    """Returns the numbers of devices that the program's GSPMD shardings divide arrays among."""
    return {math.prod(int(tile) for tile in tiles.split(",")) for tiles in _TILES.findall(text)}


def _gspmd_mesh(tiles, wanted, asked, stated):
    if len(tiles) > 1:
        raise Refused(f"The program's shardings contradict one another: they divide arrays among {' and among '.join(map(str, sorted(tiles)))} devices.")
    devices = next(iter(tiles), None)
    product = math.prod(size for _, size in wanted) if wanted else None
    if devices is not None and product not in (None, devices):
        raise Refused(f"The program's shardings divide arrays among {devices} devices; the mesh {_mesh_text(wanted)} has {product}.")
    devices = devices or product or asked or stated
    if not devices:
        raise Refused("The program has no shardings, and neither a mesh nor a number of devices is given.")
    return wanted or [("", devices)], devices


def _mesh_text(mesh) -> str:
    return ",".join(f"{name}={size}" if name else str(size) for name, size in mesh)


def _integer(operation, name: str, default: int) -> int:
    return operation.attributes[name].value if name in operation.attributes else default


def _is_text(data: bytes) -> bool:
    head = data[:4096]
    return not any(byte < 9 or 13 < byte < 32 for byte in head)


def _first_lines(error: Exception) -> str:
    return " ".join(line.strip() for line in str(error).splitlines()[:4])[:600]
