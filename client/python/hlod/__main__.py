"""`python -m hlod`: hloctl, as this package finds it, with Python scripts for programs.

    python -m hlod check [OPTIONS] train.py [ARGUMENTS]     reports what a JAX script would need, from a run without its large arrays
    python -m hlod check [OPTIONS] -m package.train [...]    the same of a module
    python -m hlod COMMAND ...                               any other command of hloctl; `python -m hlod --help` lists them
"""

from __future__ import annotations

import os
import sys

from . import _hloctl

# The options of `hloctl check` that are followed by a value.
_WITH_VALUE = ("--target", "--chips", "--budget", "--junit", "--workspace", "--steps", "--stand-in", "--devices")


def script_after(arguments: list[str]) -> int | None:
    """Returns the index of the script, or of "-m", in the arguments of `check`; None when they name no Python program."""
    i = 0
    while i < len(arguments):
        word = arguments[i]
        if word == "-m" or word.endswith(".py"):
            return i
        if not word.startswith("-") or word == "--":
            return None
        i += 2 if word in _WITH_VALUE else 1
    return None


def command(arguments: list[str]) -> list[str]:
    """Returns the command line of hloctl for the arguments of `python -m hlod`."""
    for i, word in enumerate(arguments):
        if word == "check":
            script = script_after(arguments[i + 1 :])
            if script is not None:
                rest = arguments[i + 1 :]
                options = rest[:script]
                if os.environ.get("HLOD_DEVICES") and not any(word.startswith("--devices") for word in options):
                    options.append(f"--devices={os.environ['HLOD_DEVICES']}")
                return [_hloctl.find(), *arguments[: i + 1], *options, "--", sys.executable, *rest[script:]]
        if not word.startswith("-"):
            break
    return [_hloctl.find(), *arguments]


def main() -> None:
    """Becomes hloctl: its exit codes are those of this command."""
    try:
        words = command(sys.argv[1:])
    except _hloctl.Error as error:
        sys.exit(f"hlod: {error}")
    if "--" in words:
        os.environ["JAX_PLATFORMS"] = os.environ.get("JAX_PLATFORMS") or "hlod"
    sys.stdout.flush()
    os.execv(words[0], words)


if __name__ == "__main__":
    main()
