"""hlod as a device of PyTorch/XLA, which finds `HlodPlugin` by the entry point `torch_xla.plugins`: PJRT_DEVICE=HLOD selects it.

The environment says which daemon, as it does for JAX (`hlod.jax`): HLOD_ADDRESS, HLOD_DEVICES. Processes that use another device load
neither the plugin nor anything of it.
"""

from __future__ import annotations

from torch_xla.experimental.plugins import DevicePlugin

from . import _daemon, _plugin


class HlodPlugin(DevicePlugin):
    """The plugin as PyTorch/XLA wants to see it: all devices of the daemon belong to the one process that connects."""

    def library_path(self) -> str:
        """The path of the plugin. PyTorch/XLA asks when it is about to load it."""
        path = _daemon.library()
        _plugin.find_lines()
        return path

    def configure_single_process(self) -> None:
        """Has one process run alone (`xmp.spawn(..., nprocs=1)`). Every process has a client of its own anyway."""

    def client_create_options(self) -> dict[str, str | int]:
        return _daemon.options()
