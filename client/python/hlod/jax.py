"""hlod as a platform of JAX. JAX calls `initialize` by the entry point `jax_plugins` when it looks for its backends.

The plugin is used only by processes that ask for it, by JAX_PLATFORMS=hlod (or "hlod,cpu", ...) or HLOD_JAX=1; in every other process
JAX is unchanged. Environment: HLOD_ADDRESS names a running daemon ("unix:/run/hlod/hlod.sock", "HOST:PORT"); without it the
user's running daemon is used, else a private one is started that ends with the process. HLOD_DEVICES=8 gives a private daemon eight
devices. The lowerings are those of JAX for its CPU, with the exceptions in `_lowerings`.
"""

from __future__ import annotations

import collections.abc
import functools
import os
import sys

from . import _daemon, _environment, _hloctl

NAME = "hlod"
OLDEST = (0, 6, 0)  # The oldest JAX whose tables and callbacks `_lowerings` fits.


def wanted(platforms: str | None) -> bool:
    """Returns True when this process asked for hlod, by JAX's list of platforms or by HLOD_JAX."""
    return _environment.switch("HLOD_JAX") or NAME in (platforms or "").split(",")


def initialize() -> None:
    """Registers the platform "hlod" with JAX. Does nothing in a process that did not ask for it (see the module's text).

    If the platform cannot be used, JAX raises an error with the reason at its first use.
    """
    from jax._src import config, xla_bridge

    platforms = config.jax_platforms.value
    try:
        if not wanted(platforms) or NAME in xla_bridge._backend_factories:
            return
    except ValueError as error:
        return _refuse_later(str(error))
    if os.environ.get("HLOD_ABSTRACT"):
        # The run may end at a read, without Python's shutdown, which would flush what was printed.
        sys.stdout.reconfigure(line_buffering=True, write_through=True)
    if platforms == NAME:
        # Host callbacks, DLPack and jax.device_put of NumPy scalars also need a CPU device.
        config.update("jax_platforms", f"{NAME},cpu")
    try:
        register()
    except _hloctl.Error as error:
        _refuse_later(str(error))


def _refuse_later(reason: str) -> None:
    """Registers a platform that JAX cannot use, for the reason that JAX then gives."""
    from jax._src import xla_bridge

    xla_bridge.register_backend_factory(NAME, functools.partial(_refuse, reason), priority=500, fail_quietly=False)


def _refuse(reason: str) -> None:
    raise RuntimeError(reason)


class _Options(collections.abc.Mapping):
    """The options of the plugin's client, read when JAX asks for them. JAX before 0.7 accepts a mapping only, not a function."""

    def __getitem__(self, name: str):
        return _options()[name]

    def __iter__(self):
        return iter(_options())

    def __len__(self) -> int:
        return len(_options())


def _options() -> dict[str, str | int]:
    # As on JAX's CPU, what a callback prints, and its error, come with the call.
    return _daemon.options() | {"callbacks_in_calls": True}


def register() -> None:
    """Registers the plugin, and the changes to JAX that it needs, unless this was done before. Raises hlod.Error with the reason when
    this is not possible."""
    import jax
    from jax._src import xla_bridge

    if NAME in xla_bridge._backend_factories:
        return

    if jax.__version_info__ < OLDEST:
        raise _hloctl.Error(
            f"hlod runs programs of JAX {'.'.join(map(str, OLDEST))} and later, and this is JAX {jax.__version__}: "
            "install a newer one (pip install -U jax)"
        )
    from . import _arrays, _compilation, _foreign, _fork, _lowerings, _plugin

    xla_bridge.register_plugin(NAME, priority=500, library_path=_daemon.library(), options=_Options())
    _lowerings.register()
    _foreign.register()
    _arrays.register()
    _compilation.register()
    _fork.register()
    _plugin.name_lines_of_transfers()
    _plugin.leave_groups_at_exit()
    if os.environ.get("HLOD_PROFILE"):
        _plugin.note_waits()
    _name_lines_of_programs()


def _name_lines_of_programs() -> None:
    """Has jaxlib tell the plugin, at each execution, the line of the user's program that asked for it, instead of one of JAX's own."""
    from jax._src import config

    from . import _plugin

    try:
        config.update("jax_send_traceback_to_runtime", "on")
        from jax._src.lib import _jax

        for folder in _plugin.frameworks():
            _jax.add_exclude_path(folder.rstrip(os.sep))
    except (AttributeError, ImportError):
        pass  # JAX before 0.7 has no such option: its executions are counted without lines.
