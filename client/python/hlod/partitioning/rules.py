"""Replaces the shardings of a program's arguments: by rules over their names, or by a strategy for all of them.

A rule is REGEX=SPEC. The regular expression is searched in the name of an argument, as JAX writes it: "params['layers']['wq']". The SPEC is
that of JAX's PartitionSpec, with or without `P(...)`: the axes that divide each dimension, as in `data,None`, `P('data', ('model', 'pipe'))`
or `None,data+model`. The last rule that matches an argument counts. A result that takes over an argument's memory is divided like that argument.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re
import signal
import threading

STRATEGIES = ("data", "fsdp", "tensor", "fsdp+tensor", "fsdp+sequence", "fsdp+tensor+sequence")


_MATCH_SECONDS = 1.0  # Processor time per rule. An expression that needs more repeats a repetition.


class Wrong(ValueError):
    """A rule does not fit the program; the message is a sentence."""


@dataclasses.dataclass(frozen=True)
class Argument:
    name: str
    shape: tuple[int, ...]
    whole_numbers: bool
    donated: bool


def parse(text: str) -> tuple[re.Pattern, list[tuple[str, ...]]]:
    """Returns a rule's expression, and the axes that divide each dimension. Raises Wrong."""
    expression, separator, spec = text.rpartition("=")
    if not expression:  # An empty expression would match every name.
        raise Wrong(f"The rule {text!r} is not of the form REGEX=SPEC, as in \"wq=None,data\".")
    try:
        pattern = re.compile(expression)
    except re.error as error:
        raise Wrong(f"The expression {expression!r} of a rule is not a regular expression: {error}.") from None
    inner = re.fullmatch(r"\s*(?:P|PartitionSpec)\((.*)\)\s*", spec)
    entries = [] if not (inner[1] if inner else spec).strip() else _entries(inner[1] if inner else spec, text)
    axes = [axis for entry in entries for axis in entry]
    twice = next((axis for axis in axes if axes.count(axis) > 1), None)
    if twice is not None:
        raise Wrong(f"The rule {text!r} divides two dimensions over the axis {twice!r}; an axis divides one.")
    return pattern, entries


@contextlib.contextmanager
def _bounded(expression: str):
    """Ends a match by Wrong when it takes too much time: Python's matcher tries all ways through repetitions of repetitions, as in (a+)+."""
    if threading.current_thread() is not threading.main_thread():  # Only the main thread gets signals.
        yield
        return

    def stop(*_):
        raise Wrong(
            f"The expression {expression!r} of a rule was not matched within {_MATCH_SECONDS:g} s: it repeats what contains a repetition, as (a+)+ does."
        )

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MATCH_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _entries(spec: str, rule: str) -> list[tuple[str, ...]]:
    if re.search(r"(^|,)\s*,", re.sub(r"\([^()]*\)", "()", spec)):
        raise Wrong(f"The rule {rule!r} has an empty dimension; None is for one that stays whole.")
    entries = []
    for entry in re.findall(r"\([^()]*\)|[^,()]+", spec):
        names = [name.strip(" '\"") for name in re.split(r"[,+]", entry.strip().strip("()"))]
        names = [name for name in names if name]
        if names and names != ["None"] and not all(re.fullmatch(r"[A-Za-z_][\w.-]*", name) and name != "None" for name in names):
            raise Wrong(f"The rule {rule!r} has {entry.strip()!r} where an axis, several as a+b, or None should be.")
        if names or entry.startswith("("):
            entries.append(() if names == ["None"] else tuple(names))
    return entries


def by_rules(rules: list[str], arguments: list[Argument], mesh: list) -> dict[int, list[tuple[str, ...]]]:
    """Returns the division of each argument that a rule matches. Raises Wrong."""
    axes = {name for name, _ in mesh}
    found: dict[int, list[tuple[str, ...]]] = {}
    for text in rules:
        pattern, entries = parse(text)
        missing = next((axis for entry in entries for axis in entry if axis not in axes), None)
        if missing is not None:
            raise Wrong(f"The rule {text!r} names the axis {missing!r}; the mesh has {_list(sorted(axes))}.")
        with _bounded(pattern.pattern):
            matched = [i for i, argument in enumerate(arguments) if pattern.search(argument.name)]
        if not matched:
            raise Wrong(f"The rule {text!r} matches no argument; there are {_list([a.name for a in arguments])}.")
        for i in matched:
            if len(entries) > len(arguments[i].shape):
                shape = "x".join(map(str, arguments[i].shape)) or "no dimensions"
                raise Wrong(f"The rule {text!r} divides {len(entries)} dimensions; {arguments[i].name} has {shape}.")
            found[i] = entries
    return found


def by_strategy(strategy: str, arguments: list[Argument], mesh: list) -> dict[int, list[tuple[str, ...]]]:
    """Returns the divisions of all arguments by a strategy of STRATEGIES. The mesh's first axis is for data, its last for the model.

    Inputs are the arguments that are not donated. If the program donates none, they are the arguments of integers, or else the last
    argument. Raises Wrong when an input cannot be divided.
    """
    sizes = dict(mesh)
    first, last = mesh[0][0], mesh[-1][0]
    every = tuple(dict.fromkeys((first, last)))
    parts = strategy.split("+")
    batch = (first,) if "tensor" in parts or "sequence" in parts else every
    inputs = _inputs(arguments)
    found = {}
    for i, argument in enumerate(arguments):
        if i in inputs:
            found[i] = _input(argument, batch, (last,) if "sequence" in parts and last != first else (), sizes)
        else:
            found[i] = _weight(argument, parts, every, sizes)
    return found


def _inputs(arguments: list[Argument]) -> set[int]:
    if any(argument.donated for argument in arguments):
        return {i for i, argument in enumerate(arguments) if not argument.donated}
    whole = {i for i, argument in enumerate(arguments) if argument.whole_numbers}
    return whole or {len(arguments) - 1}


def _input(argument: Argument, batch: tuple[str, ...], sequence: tuple[str, ...], sizes: dict) -> list[tuple[str, ...]]:
    if not argument.shape:
        return []
    for axes, size in zip((batch, sequence), argument.shape):
        ways = math.prod(sizes[axis] for axis in axes)
        if size % ways:
            raise Wrong(f"{argument.name} has {size} rows, which cannot be divided among {ways}.")
    return [batch, sequence][: len(argument.shape)]


def _weight(argument: Argument, parts: list[str], every: tuple[str, ...], sizes: dict) -> list[tuple[str, ...]]:
    entries: list[tuple[str, ...]] = [()] * len(argument.shape)
    if len(argument.shape) < 2:
        return entries
    wanted = []
    if "tensor" in parts:
        wanted.append(every[-1:])
    if "fsdp" in parts:
        wanted.append(every[:1] if "tensor" in parts else every)
    by_size = sorted(range(len(argument.shape)), key=lambda dim: -argument.shape[dim])
    for axes in wanted:
        ways = math.prod(sizes[axis] for axis in axes)
        dim = next((d for d in by_size if not entries[d] and argument.shape[d] % ways == 0), None)
        if dim is not None:
            entries[dim] = axes
    return entries


def _list(names: list[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def tiles(entries: list[tuple[str, ...]], rank: int, mesh: list) -> str:
    """Returns a division as GSPMD's sharding: "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"."""
    used = [axis for entry in entries for axis in entry]
    order = used + [name for name, _ in mesh if name not in used]
    names = [name for name, _ in mesh]
    counts = [math.prod(size for name, size in mesh if name in entry) for entry in entries] + [1] * (rank - len(entries))
    rest = math.prod(size for name, size in mesh if name not in used)
    if all(count == 1 for count in counts):
        return "{replicated}"
    turn = [names.index(name) for name in order]
    source = ",".join(str(size) for _, size in mesh)
    transposed = "" if turn == sorted(turn) else f"T({','.join(map(str, turn))})"
    if not transposed:
        source = str(math.prod(size for _, size in mesh))
    dims = ",".join(map(str, counts + ([rest] if rest > 1 else [])))
    return f"{{devices=[{dims}]<=[{source}]{transposed}{' last_tile_dim_replicate' if rest > 1 else ''}}}"
