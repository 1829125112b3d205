"""hlod as a device of PyTorch/XLA, which finds `HlodPlugin` by the entry point `torch_xla.plugins`: PJRT_DEVICE=HLOD selects it.

The environment selects the daemon, as for JAX (`hlod.jax`): HLOD_ADDRESS, HLOD_DEVICES. Processes that use another device do not load
the plugin.
"""

from __future__ import annotations

import atexit
import datetime
import os
import socket
import sys
import time

from torch_xla.experimental.plugins import DevicePlugin

from . import _daemon, _plugin


class HlodPlugin(DevicePlugin):
    """The plugin for PyTorch/XLA. All devices of a daemon belong to the one process that connects, which uses them by threads
    (`torch_xla.launch`) or by SPMD. Each process that torchrun starts has a daemon of its own, and uses the devices of all."""

    def library_path(self) -> str:
        """Returns the path of the plugin. PyTorch/XLA calls it just before it loads the plugin."""
        path = _daemon.library()
        _plugin.find_lines()
        return path

    def configure_single_process(self) -> None:
        """Configures one process that runs alone (`xmp.spawn(..., nprocs=1)`). There is nothing to do: every process has its own client."""

    def requires_xla_coordinator(self) -> bool:
        """Returns True for one of several processes: they find each other by the store of PyTorch/XLA's coordinator."""
        return _number("WORLD_SIZE", 1) > 1

    def client_create_options(self) -> dict[str, str | int]:
        result = _daemon.options()
        if self.requires_xla_coordinator():
            _gather_alike()
            _end_together()
            result |= {"node_id": _number("RANK", 0), "num_nodes": _number("WORLD_SIZE", 1)}
        return result


def _number(name: str, otherwise: int) -> int:
    """Reads a number that torchrun sets."""
    text = os.environ.get(name) or str(otherwise)
    if not (text.isascii() and text.isdecimal()) or int(text[:20]) >= 1 << 31:
        raise ValueError(f'{name} ("{text}") is not a number of processes, as torchrun sets it')
    return int(text)


def _gather_alike() -> None:
    """Makes `xm.all_gather`, and with it `xm.rendezvous`, the same program in all processes, as hlod requires. PyTorch/XLA's own one
    without `pin_layout=False` pads by the rank, and adds up what is padded."""
    from torch_xla.core import xla_model

    def gather(value, dim=0, groups=None, pin_layout=True):
        return xla_model.all_gather(value, dim=dim, groups=groups, pin_layout=False)

    if hasattr(xla_model, "_all_gather_using_all_reduce"):
        xla_model._all_gather_using_all_reduce = gather


# The seconds that process 0 waits at its end: for the others to come to theirs (as long as JAX does), for their processes on this
# machine to be gone, and for those on other machines.
_OTHERS_S, _GONE_S, _ELSEWHERE_S = 300, 10, 2


def _end_together() -> None:
    """Makes process 0, where PyTorch/XLA's coordinator is, end after the others: a process whose coordinator is gone ends with an
    error, also one that has done its work. They meet at torchrun's own store."""
    import torch_xla

    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True" or not hasattr(torch_xla, "_prepare_to_exit"):
        return
    # Registers its end last, so that it is called first: PyTorch/XLA runs its last programs before the processes meet.
    atexit.unregister(torch_xla._prepare_to_exit)
    atexit.register(_meet_at_the_end)
    atexit.register(torch_xla._prepare_to_exit)


def _meet_at_the_end() -> None:
    if getattr(sys, "last_type", None) is not None:
        return  # This process has failed, and torchrun ends the others.
    from torch.distributed import TCPStore

    rank, key = _number("RANK", 0), f"hlod/ended/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}"
    try:
        address, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        store = TCPStore(address, port, is_master=False, timeout=datetime.timedelta(seconds=_OTHERS_S))
        if rank > 0:
            store.set(f"{key}/{rank}", f"{socket.gethostname()} {os.getpid()}")
            return
        others = [store.get(f"{key}/{i}").decode().split() for i in range(1, _number("WORLD_SIZE", 1))]
    except Exception:  # Torchrun ends, too, or its store is elsewhere.
        return
    limit = time.monotonic() + _GONE_S
    while any(host == socket.gethostname() and _lives(pid) for host, pid in others) and time.monotonic() < limit:
        time.sleep(0.02)
    if any(host != socket.gethostname() for host, _ in others):
        time.sleep(_ELSEWHERE_S)


def _lives(pid: str) -> bool:
    """Returns False for a process that has ended, also if torchrun does not know it yet."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
