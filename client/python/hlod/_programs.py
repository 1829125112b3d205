"""The commands `hlod` and `hloctl` that the wheel installs."""

from __future__ import annotations

import os
import sys

from . import _files


def hlod() -> None:
    """Becomes the daemon."""
    _become("hlod")


def hloctl() -> None:
    """Becomes hloctl. The partitioner that it starts has this interpreter's packages."""
    os.environ.setdefault("HLOD_PYTHON", sys.executable)
    _become("hloctl")


def _become(name: str) -> None:
    path = _files.bundled("bin", name)
    if path is None:
        sys.exit(f"{name}: this package of hlod has no programs; deploy/wheel builds one that has")
    os.execv(path, [name, *sys.argv[1:]])
