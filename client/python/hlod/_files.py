"""Finds the programs and libraries of hlod that this package works with."""

from __future__ import annotations

import os
import pathlib
import shutil

PLUGIN = "libpjrt_hlod.so"
_PACKAGE = pathlib.Path(__file__).resolve().parent


def bundled(*parts: str) -> str | None:
    """The path of a file that the wheel carries, None when this package is not that of a wheel."""
    path = _PACKAGE.joinpath("_native", *parts)
    return str(path) if path.exists() else None


def program(name: str, variable: str) -> str | None:
    """The path of a program: what the environment variable says, else the wheel's, else the one on $PATH, else the one of the
    prefix or the tree that this package lies in."""
    return os.environ.get(variable) or bundled("bin", name) or shutil.which(name) or _nearby("bin", name)


def plugin() -> str | None:
    """The path of the PJRT plugin: $HLOD_PJRT_LIBRARY, else the wheel's, else that of the prefix or the tree that this package lies in."""
    name = PLUGIN
    return os.environ.get("HLOD_PJRT_LIBRARY") or bundled("lib", name) or _nearby("lib", name)


def _nearby(folder: str, name: str) -> str | None:
    for parent in _PACKAGE.parents:
        for place in ("", "build/release", "build/dev"):
            path = parent / place / folder / name
            if os.access(path, os.R_OK):
                return str(path)
    return None
