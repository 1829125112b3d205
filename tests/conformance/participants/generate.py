"""Writes cases.json: programs of several participants and what XLA computes for them on a CPU with 8 devices.

    XLA_FLAGS=--xla_force_host_platform_device_count=8 python generate.py

Packages: ../jax/requirements.txt. Each case is HLO text for `replicas` x `partitions` participants; arguments and
results are lists by participant (replica * partitions + partition), then by parameter or leaf of the result; an
array is {"dims", "type", "values"}. XLA's CPU does not run collective-broadcast, nor collective-reduce: those are
worked by hand (tests/unit/common/evaluator).
"""

import json
import pathlib

import jax
import numpy as np
from jaxlib import _hlo, _jax

HERE = pathlib.Path(__file__).parent
ADD = "add {\n p = f32[] parameter(0)\n q = f32[] parameter(1)\n ROOT r = f32[] add(p, q)\n}\n"
TYPES = {"f32": np.float32, "s32": np.int32, "u32": np.uint32, "pred": np.bool_}
NAMES = {np.dtype(t): n for n, t in TYPES.items()}


def scalar(opcode, dtype="f32"):
    return ADD.replace("f32", dtype).replace("add(", opcode + "(")


# name, replicas, partitions, shapes of the parameters, body of the entry (the last line its root), reducer
CASES = []


def case(name, replicas, partitions, parameters, body, before=ADD):
    CASES.append((name, replicas, partitions, parameters, body, before))


for r, p in [(4, 1), (1, 4), (2, 2), (8, 1), (2, 4)]:
    at = f"{r}x{p}"
    case(f"ids_{at}", r, p, ["u32[]"],
         "a = u32[] replica-id()\n b = u32[] partition-id()\n ROOT t = (u32[], u32[], u32[]) tuple(a, b, x0)")
    case(f"all_reduce_{at}", r, p, ["f32[3,5]"], "ROOT y = f32[3,5] all-reduce(x0), replica_groups={}, to_apply=add")
    case(f"all_reduce_channel_{at}", r, p, ["f32[6]"],
         "ROOT y = f32[6] all-reduce(x0), channel_id=1, replica_groups={}, to_apply=add")
    ids = ",".join(str(i) for i in range(r * p))
    case(f"all_reduce_global_{at}", r, p, ["s32[4]"],
         "ROOT y = s32[4] all-reduce(x0), channel_id=1, replica_groups={{%s}}, use_global_device_ids=true, to_apply=add" % ids,
         scalar("add", "s32"))
    halves = "{%s},{%s}" % (",".join(str(i) for i in range(r * p) if i % 2), ",".join(str(i) for i in range(r * p) if i % 2 == 0))
    case(f"all_reduce_halves_{at}", r, p, ["f32[2,2]"],
         "ROOT y = f32[2,2] all-reduce(x0), channel_id=1, replica_groups={%s}, use_global_device_ids=true, to_apply=add" % halves,
         scalar("maximum"))
    case(f"all_gather_global_{at}", r, p, ["f32[2,3]"],
         f"ROOT y = f32[2,{3 * r * p}] all-gather(x0), channel_id=1, replica_groups={{{{{ids}}}}}, use_global_device_ids=true, dimensions={{1}}")
    back = ",".join(str(i) for i in reversed(range(r * p)))
    case(f"all_gather_backwards_{at}", r, p, ["s32[2]"],
         f"ROOT y = s32[{2 * r * p}] all-gather(x0), channel_id=1, replica_groups={{{{{back}}}}}, use_global_device_ids=true, dimensions={{0}}")
    case(f"reduce_scatter_global_{at}", r, p, [f"f32[2,{r * p * 2}]"],
         f"ROOT y = f32[2,2] reduce-scatter(x0), channel_id=1, replica_groups={{{{{ids}}}}}, use_global_device_ids=true, dimensions={{1}}, to_apply=add")
    case(f"reduce_scatter_backwards_{at}", r, p, [f"f32[{r * p}]"],
         f"ROOT y = f32[1] reduce-scatter(x0), channel_id=1, replica_groups={{{{{back}}}}}, use_global_device_ids=true, dimensions={{0}}, to_apply=add")
    case(f"loop_{at}", r, p, ["f32[4]"],
         "z = s32[] constant(0)\n i = (s32[], f32[4]) tuple(z, x0)\n"
         " w = (s32[], f32[4]) while(i), condition=cond, body=body\n ROOT y = f32[4] get-tuple-element(w), index=1",
         ADD + "body {\n s = (s32[], f32[4]) parameter(0)\n n = s32[] get-tuple-element(s), index=0\n"
         " v = f32[4] get-tuple-element(s), index=1\n one = s32[] constant(1)\n m = s32[] add(n, one)\n"
         " h = f32[] constant(0.25)\n hb = f32[4] broadcast(h), dimensions={}\n"
         f" g = f32[4] all-reduce(v), channel_id=1, replica_groups={{{{{ids}}}}}, use_global_device_ids=true, to_apply=add\n"
         " k = f32[4] multiply(g, hb)\n ROOT t = (s32[], f32[4]) tuple(m, k)\n}\n"
         "cond {\n s = (s32[], f32[4]) parameter(0)\n n = s32[] get-tuple-element(s), index=0\n"
         " e = s32[] constant(3)\n ROOT c = pred[] compare(n, e), direction=LT\n}\n")

for r, p, n, channel in [(4, 1, 4, ""), (1, 4, 4, "channel_id=3, "), (2, 4, 4, "channel_id=3, "), (4, 2, 4, "")]:
    at = f"{r}x{p}{'_channel' if channel else ''}"
    case(f"all_to_all_{at}", r, p, [f"f32[3,{n * 2}]"],
         f"ROOT y = f32[3,{n * 2}] all-to-all(x0), {channel}replica_groups={{{{0,1,2,3}}}}, dimensions={{1}}")
    case(f"all_to_all_pairs_{at}", r, p, ["s32[4]"],
         f"ROOT y = s32[4] all-to-all(x0), {channel}replica_groups={{{{0,2}},{{3,1}}}}, dimensions={{0}}")
    case(f"all_to_all_tuple_{at}", r, p, ["f32[2]"] * 4,
         f"ROOT y = (f32[2], f32[2], f32[2], f32[2]) all-to-all(x0, x1, x2, x3), {channel}replica_groups={{{{1,0,3,2}}}}")
    case(f"permute_ring_{at}", r, p, ["f32[2,2]"],
         f"ROOT y = f32[2,2] collective-permute(x0), {channel}source_target_pairs={{{{0,1}},{{1,2}},{{2,3}},{{3,0}}}}")
    case(f"permute_some_{at}", r, p, ["s32[3]"],
         f"ROOT y = s32[3] collective-permute(x0), {channel}source_target_pairs={{{{0,2}},{{3,1}}}}")
    case(f"all_gather_{at}", r, p, ["f32[2]"],
         f"ROOT y = f32[4] all-gather(x0), {channel}replica_groups={{{{0,2}},{{1,3}}}}, dimensions={{0}}"
         if not channel else
         "ROOT y = f32[4] all-gather(x0), channel_id=3, replica_groups={{0,2},{1,3}}, use_global_device_ids=true, dimensions={0}"
         if r == 1 else
         "ROOT y = f32[4] all-gather(x0), channel_id=3, replica_groups={{0,2},{1,3},{4,7},{5,6}}, use_global_device_ids=true, dimensions={0}")

case("all_reduce_two_operands", 4, 1, ["f32[3]", "f32[2,2]"],
     "ROOT y = (f32[3], f32[2,2]) all-reduce(x0, x1), replica_groups={{0,1},{2,3}}, to_apply=add")
case("all_reduce_pred", 4, 1, ["pred[5]"], "ROOT y = pred[5] all-reduce(x0), replica_groups={}, to_apply=add",
     scalar("or", "pred"))
case("all_reduce_scalar", 2, 2, ["f32[]"],
     "ROOT y = f32[] all-reduce(x0), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add")
case("all_reduce_empty", 2, 1, ["f32[0,3]"], "ROOT y = f32[0,3] all-reduce(x0), replica_groups={}, to_apply=add")
case("all_reduce_iota", 2, 4, ["f32[2]"],
     "ROOT y = f32[2] all-reduce(x0), channel_id=1, replica_groups=[4,2]<=[2,4]T(1,0), use_global_device_ids=true, to_apply=add")
case("all_reduce_replicas_and_partitions", 4, 2, ["f32[2]"],
     "ROOT y = f32[2] all-reduce(x0), channel_id=1, replica_groups={{0,2},{3,1}}, to_apply=add")
case("mean_of_matmuls", 4, 1, ["f32[4,8]", "f32[8,3]"],
     "d = f32[4,3] dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
     " s = f32[4,3] all-reduce(d), replica_groups={}, to_apply=add\n c = f32[] constant(0.25)\n"
     " b = f32[4,3] broadcast(c), dimensions={}\n ROOT y = f32[4,3] multiply(s, b)")
case("one_after_the_other", 1, 4, ["f32[4]"],
     "a = f32[4] all-reduce(x0), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add\n"
     " b = f32[4] subtract(x0, a)\n"
     " c = f32[16] all-gather(b), channel_id=2, replica_groups={{0,1,2,3}}, use_global_device_ids=true, dimensions={0}\n"
     " d = f32[16] negate(c)\n"
     " e = f32[4] reduce-scatter(d), channel_id=3, replica_groups={{3,2,1,0}}, use_global_device_ids=true, dimensions={0}, to_apply=add\n"
     " f = f32[4] collective-permute(e), channel_id=4, source_target_pairs={{0,1},{1,3},{2,0}}\n"
     " ROOT y = (f32[4], f32[4], f32[4]) tuple(a, e, f)")


def parse(shape):
    name, dims = shape[:-1].split("[")
    return TYPES[name], [int(d) for d in dims.split(",") if d]


def sample(rng, shape):
    dtype, dims = parse(shape)
    if dtype == np.bool_:
        return rng.integers(0, 2, dims).astype(dtype)
    low = 0 if dtype == np.uint32 else -16
    values = rng.integers(low, 17, dims)  # Sums of eighths are exact in any order.
    return (values / 8 if dtype == np.float32 else values).astype(dtype)


def to_json(array):
    array = np.asarray(array)
    values = array.reshape(-1).astype(float if array.dtype == np.float32 else int).tolist()
    return {"type": NAMES[array.dtype], "dims": list(array.shape), "values": values}


def manual(text):
    """Each instruction marked as one that the partitioner leaves alone."""
    lines = []
    reducer = False
    for line in text.split("\n"):
        reducer = line.startswith("add {") or (reducer and not line.startswith("}"))
        shape = line.strip().removeprefix("ROOT ").split(" = ")[-1]
        if " = " in line and not reducer:
            count = shape[: shape.index(")")].count("[") if shape.startswith("(") else 0
            line += ", sharding={%s}" % (",".join(["{manual}"] * count) or "manual")
        lines.append(line)
    return "\n".join(lines)


def run(text, replicas, partitions, arguments):
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    devices = jax.devices()[: replicas * partitions]
    assignment = np.array([d.id for d in devices], np.int32).reshape(replicas, partitions)
    options = _jax.CompileOptions()
    build = options.executable_build_options
    options.num_replicas = build.num_replicas = replicas
    options.num_partitions = build.num_partitions = partitions
    build.use_spmd_partitioning = partitions > 1
    options.device_assignment = build.device_assignment = _jax.DeviceAssignment.create(assignment)
    executable = devices[0].client.compile_and_load(
        _jax.mlir.hlo_to_stablehlo(proto), _jax.DeviceList(tuple(devices)), options
    )
    # Nobody compares the copies of a replicated array: each participant gets its own.
    everywhere = jax.sharding.NamedSharding(jax.sharding.Mesh(devices, "m"), jax.sharding.PartitionSpec())
    given = []
    for k in range(len(arguments[0])):
        shards = [jax.device_put(arguments[m][k], device) for m, device in enumerate(devices)]
        given.append(jax.make_array_from_single_device_arrays(shards[0].shape, everywhere, shards))
    leaves = executable.execute_sharded(given).disassemble_into_single_device_arrays()
    return [[np.asarray(leaf[m]) for leaf in leaves] for m in range(len(devices))]


def main():
    written = []
    for number, (name, replicas, partitions, parameters, body, before) in enumerate(CASES):
        rng = np.random.default_rng(number)
        lines = [f"x{i} = {shape} parameter({i})" for i, shape in enumerate(parameters)]
        header = f"HloModule {name}, replica_count={replicas}, num_partitions={partitions}\n\n"
        text = before + "ENTRY e {\n " + "\n ".join(lines) + "\n " + body + "\n}\n"
        arguments = [[sample(rng, shape) for shape in parameters] for _ in range(replicas * partitions)]
        try:
            results = run(f"HloModule {name}\n\n" + (manual(text) if partitions > 1 else text), replicas, partitions, arguments)
        except Exception as error:  # pylint: disable=broad-except
            print(f"{name}: XLA refuses it: {str(error)[:300]}")
            continue
        written.append({
            "name": name,
            "text": (header + text).split("\n"),
            "arguments": [[to_json(a) for a in participant] for participant in arguments],
            "results": [[to_json(a) for a in participant] for participant in results],
        })
    rows = ",\n".join(json.dumps(row) for row in written)
    (HERE / "cases.json").write_text("[\n" + rows + "\n]\n")
    print(f"{len(written)} of {len(CASES)} cases")


if __name__ == "__main__":
    main()
