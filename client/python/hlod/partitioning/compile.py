"""Compiles one program in a process of its own, up to its partitioned module.

XLA's compiler is asked for a dump of the passes around its partitioner. When the dump of the partitioned module is complete, the
process is killed: code generation, which takes most of a compile, is not needed. The program is compiled for one CPU device
that stands for all of the mesh, which XLA refuses only after it has partitioned; so a mesh may have any number of devices.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import json
import os
import select
import signal
import sys
import tempfile
import time

from . import program as programs
from . import protos

# The names of XLA's dumps in jaxlib 0.6 to 0.10. partition_test.py fails when they change.
_AFTER = "*after_spmd-partitioning*.hlo.pb"
_BEFORE = "*before_spmd-partitioning*.hlo.pb"
_POLL_MS = 4


class Failed(RuntimeError):
    """The reason, as a sentence, why there is no partitioned module. `kind` is "refused" when the program or the mesh is at fault,
    "failed" when jaxlib is, and "late" when the time limit was exceeded."""

    def __init__(self, message: str, kind: str = "failed"):
        super().__init__(message)
        self.kind = kind


class Gone(Exception):
    """The process that sent the request has ended."""


def partition(data: bytes, request: dict, watched: tuple[int, ...]) -> tuple[dict, bytes]:
    """Returns the answer to a request: its header, and the partitioned HloModuleProto (with "explain", followed by the module of
    whole arrays with their shardings). `watched` are descriptors that become readable or hang up when the asking process is gone.

    Raises Failed, and Gone.
    """
    seconds = float(request.get("seconds") or 300)
    with tempfile.TemporaryDirectory(prefix="hlod-partition-") as folder:
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _run_child(data, request, folder)
        try:
            dump = _await(pid, folder, time.monotonic() + seconds, seconds, watched)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
        with open(os.path.join(folder, "plan.json"), encoding="utf-8") as file:
            header = json.load(file)
        module = protos.module_of(dump)
        header["parameter_shardings"], header["result_shardings"] = _shardings(module, header.pop("results"))
        module = protos.with_partitions(module, header["devices"])
        header["module_bytes"] = len(module)
        before = _dumps(folder, _BEFORE) if request.get("explain") else []
        return header, module + (protos.module_of(before[0]) if before else b"")


def _await(pid: int, folder: str, deadline: float, seconds: float, watched: tuple[int, ...]) -> bytes:
    """Waits for the dump of the partitioned module, and returns it."""
    poller = select.poll()
    for descriptor in watched:
        poller.register(descriptor, select.POLLIN if descriptor != 0 else 0)
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        dumps = _dumps(folder, _AFTER)
        if dumps:
            return dumps[0]
        if ended:
            raise _failure(folder, status)
        if time.monotonic() > deadline:
            raise Failed(f"The program was not partitioned within {seconds:g} s.", "late")
        if poller.poll(_POLL_MS):
            raise Gone


def _dumps(folder: str, pattern: str) -> list[bytes]:
    found = []
    for path in glob.glob(os.path.join(folder, "dump", pattern)):
        with open(path, "rb") as file:
            content = file.read()
        if protos.is_whole_dump(content):
            found.append(content)
    return found


def _failure(folder: str, status: int) -> Failed:
    with contextlib.suppress(OSError), open(os.path.join(folder, "error.json"), encoding="utf-8") as file:
        return Failed(*json.load(file))
    with open(os.path.join(folder, "stderr.txt"), encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    fatal = [line for line in lines if line.startswith("F") and "]" in line]
    last = fatal[0].split("]", 1)[1].strip() if fatal else lines[-1] if lines else ""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        how = f"jaxlib crashed ({signal.Signals(number).name}) while it partitioned the program"
    else:
        how = f"jaxlib ended with {os.WEXITSTATUS(status)} while it partitioned the program"
    return Failed(f"{how}: {last[:600]}" if last else f"{how}.")


def _shardings(module: bytes, results: int) -> tuple[list[str], list[str]]:
    parameters, result = protos.partition_shardings(module)
    of_result = _texts(result) if result is not None else []
    if len(of_result) != results:
        of_result = ["{replicated}"] * results
    return [text for p in parameters for text in _texts(p)], of_result


def _texts(op_sharding: bytes) -> list[str]:
    from jaxlib import xla_client

    def text(sharding):
        return repr(xla_client.HloSharding.from_proto(sharding))

    proto = xla_client.OpSharding()
    proto.ParseFromString(op_sharding)
    elements = list(proto.tuple_shardings)
    return [text(element) for element in elements] if elements else [text(proto)]


def _run_child(data: bytes, request: dict, folder: str) -> None:
    """Runs in the forked process, and never returns."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG ends this process when the worker ends.
    with open(os.path.join(folder, "stderr.txt"), "wb") as log, open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _compile(programs.read(data, request), folder)
        error = ("XLA compiled the program and did not partition it.", "failed")
    except programs.Refused as refused:
        error = (str(refused), "refused")
    except MemoryError:
        error = ("There is not enough memory to partition the program.", "failed")
    except BaseException as failure:  # jaxlib's errors have no common base class.
        error = (f"XLA's partitioner refused the program: {' '.join(str(failure).split())[:1000]}", "refused")
    with open(os.path.join(folder, "error.new"), "w", encoding="utf-8") as file:
        json.dump(error, file)
    os.rename(os.path.join(folder, "error.new"), os.path.join(folder, "error.json"))
    os._exit(1)


def _compile(program: programs.Program, folder: str) -> None:
    import numpy as np
    from jaxlib import xla_client

    with open(os.path.join(folder, "plan.json"), "w", encoding="utf-8") as file:
        json.dump(
            {
                "partitioner": program.partitioner,
                "mesh": program.mesh,
                "devices": program.devices,
                "annotated": program.annotated,
                "results": len(program.open_results),
            },
            file,
        )
    options = xla_client.CompileOptions()
    options.num_replicas = 1
    options.num_partitions = program.devices
    build = options.executable_build_options
    build.num_replicas = 1
    build.num_partitions = program.devices
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = program.partitioner == "shardy"
    build.allow_spmd_sharding_propagation_to_parameters = program.open_parameters
    build.allow_spmd_sharding_propagation_to_output = program.open_results
    build.device_assignment = xla_client.DeviceAssignment.create(np.zeros((1, program.devices), np.int32))
    options.env_option_overrides = [
        ("xla_dump_to", os.path.join(folder, "dump")),
        ("xla_dump_hlo_pass_re", "spmd-partitioning"),
        ("xla_dump_hlo_as_proto", True),
    ]
    client = xla_client.make_cpu_client()
    devices = client.devices()[:1]
    text = program.module.operation.get_asm(enable_debug_info=True)
    load = getattr(client, "compile_and_load", None) or client.compile
    load(text, xla_client.DeviceList(tuple(devices)), options)
