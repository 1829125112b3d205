"""The plugin's library, and the options of its client that the environment states."""

from __future__ import annotations

import os
import sys

from . import _files, _hloctl, _plugin


def library() -> str:
    """Returns the path of the plugin, and has the plugin find the daemon that belongs to it, and this interpreter's
    jaxlib as the partitioner.

    Raises hlod.Error when the plugin is not found, or when the file is another library.
    """
    path = _files.plugin()
    if path is None:
        raise _hloctl.Error(
            f"{_files.PLUGIN} is neither at $HLOD_PJRT_LIBRARY nor in this package: install hlod's wheel, or build the target pjrt_hlod"
        )
    _plugin.check(path)
    daemon = _files.program("hlod", "HLOD_DAEMON")
    if daemon is not None:
        os.environ.setdefault("HLOD_DAEMON", daemon)
    os.environ.setdefault("HLOD_PYTHON", sys.executable)
    return path


def options() -> dict[str, str | int]:
    """Returns the options of the plugin's client, from the environment. The library itself reads $HLOD_ADDRESS and its credentials."""
    result: dict[str, str | int] = {"name": program_name()}
    if os.environ.get("HLOD_DEVICES"):
        result["devices"] = _devices(os.environ["HLOD_DEVICES"])
    return result


def program_name() -> str:
    """Returns the program's name in the daemon's listings and in reports: "train.py pid 17"."""
    script = os.path.basename(sys.argv[0]) if getattr(sys, "argv", None) else ""
    return f"{script if script not in ('', '-c') else 'python'} pid {os.getpid()}"


def _devices(text: str) -> int:
    """Reads HLOD_DEVICES. Refuses only numbers that an option cannot carry; the daemon checks the rest."""
    if not (text.isascii() and text.isdecimal()) or int(text[:20]) >= 1 << 63:
        raise ValueError(f'HLOD_DEVICES ("{text}") is not a number of devices, such as 8')
    return int(text)
