"""Finds the programs and libraries of hlod that this package works with."""

from __future__ import annotations

import os
import pathlib
import shutil

PLUGIN = "libpjrt_hlod.so"
_PACKAGE = pathlib.Path(__file__).resolve().parent


def bundled(*parts: str) -> str | None:
    """Returns the path of a file that the wheel carries; None when this package was not installed from a wheel."""
    path = _PACKAGE.joinpath("_native", *parts)
    return str(path) if path.exists() else None


def program(name: str, variable: str) -> str | None:
    """Returns the path of a program: the value of the environment variable, else the wheel's program, else the one on $PATH, else the
    one in the prefix or the source tree that contains this package."""
    return os.environ.get(variable) or bundled("bin", name) or shutil.which(name) or _nearby("bin", name)


def plugin() -> str | None:
    """Returns the path of the PJRT plugin: $HLOD_PJRT_LIBRARY, else the wheel's, else the one in the prefix or the source tree that
    contains this package."""
    name = PLUGIN
    return os.environ.get("HLOD_PJRT_LIBRARY") or bundled("lib", name) or _nearby("lib", name)


def _nearby(folder: str, name: str) -> str | None:
    for parent in _PACKAGE.parents:
        for place in ("", "build/release", "build/dev"):
            path = parent / place / folder / name
            if os.access(path, os.R_OK):
                return str(path)
    return None
