"""Variables of the environment that turn something on or off."""

from __future__ import annotations

import os


def switch(variable: str) -> bool:
    """Returns True when the variable is 1, and False when it is 0, empty or not set. Raises ValueError, which names it, otherwise."""
    text = os.environ.get(variable) or "0"
    if text not in ("0", "1"):
        raise ValueError(f'${variable} is "{text}"; it is 0 (off) or 1 (on)')
    return text == "1"
