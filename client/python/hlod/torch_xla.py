"""hlod as a device of PyTorch/XLA, which finds `HlodPlugin` by the entry point `torch_xla.plugins`: PJRT_DEVICE=HLOD selects it.

The environment selects the daemon, as for JAX (`hlod.jax`): HLOD_ADDRESS, HLOD_DEVICES. Processes that use another device do not load
the plugin.
"""

from __future__ import annotations

import os

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
