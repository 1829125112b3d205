"""hlod as a device of PyTorch/XLA, which finds `HlodPlugin` by the entry point `torch_xla.plugins`: PJRT_DEVICE=HLOD selects it.

The environment selects the daemon, as for JAX (`hlod.jax`): HLOD_ADDRESS, HLOD_DEVICES. Processes that use another device do not load
the plugin.
"""

from __future__ import annotations

from torch_xla.experimental.plugins import DevicePlugin

from . import _daemon, _plugin


class HlodPlugin(DevicePlugin):
    """The plugin for PyTorch/XLA. All devices of the daemon belong to the one process that connects."""

    def library_path(self) -> str:
        """Returns the path of the plugin. PyTorch/XLA calls it just before it loads the plugin."""
        path = _daemon.library()
        _plugin.find_lines()
        return path

    def configure_single_process(self) -> None:
        """Configures one process that runs alone (`xmp.spawn(..., nprocs=1)`). There is nothing to do: every process has its own client."""

    def client_create_options(self) -> dict[str, str | int]:
        return _daemon.options()
