"""hlod.placeholders: a JAX program runs with arrays that have no bytes, and a report says what it would have needed."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from . import _hloctl, _html
from ._check import Bracket, Finding, Verdict, _budget_file


class PlaceholderRead(RuntimeError):
    """The program asked for the value of an array that has none. The text has the chain of operations that it comes from, with
    their Python lines, up to the first array that has no bytes."""


@dataclasses.dataclass(frozen=True)
class Program:
    """A program that the run compiled."""

    name: str  # "jit_step".
    line: str  # "train.py:41", or empty.
    instructions: int
    flops: float
    runs: int
    recompiled: str  # The difference from the previous program of this name and line; empty when there was none.


@dataclasses.dataclass(frozen=True)
class Crossing:
    """The transfers of one cause and line that a run with all bytes would make."""

    cause: str  # "upload", "download", ...
    line: str
    bytes: int
    calls: int


@dataclasses.dataclass(frozen=True)
class Held:
    """An array that is alive at the peak."""

    part: str  # "weights", "gradients", "optimizer state", "inputs", "activations", "other".
    name: str  # The name in the step, such as "params['w']", or the instruction that makes it.
    line: str
    shape: str
    bytes: float  # The bytes on one chip of the target.


@dataclasses.dataclass(frozen=True)
class Preflight(Verdict):
    """The needs of a program, from a run without its large arrays. `str(preflight)` is the report as text."""

    program: str
    steps: int  # The number of runs of the program that computes most.
    devices: int  # The number that XLA divided the programs among; the figures are those of one.
    executes: int
    programs: list[Program]
    recompiles: list[Program]  # The part of `programs` that was compiled again, with the reason.
    transfers: list[Crossing]
    upload_bytes: int
    unsent_bytes: int  # The part of upload_bytes that was not sent.
    download_bytes: int
    stopped_at: str  # The line that read a value that does not exist; empty when no line did.
    flops: float  # flops, traffic_bytes and step_seconds are those of the step that takes longest.
    traffic_bytes: Bracket
    step_seconds: Bracket | None  # None without a target.
    peak_bytes: Bracket  # The bytes on one chip of the target.
    peak_parts: dict[str, float]  # By the purpose of the arrays, as in Held.part.
    peak_line: str  # The line that ran the program of the peak.
    largest: list[Held]
    fits: bool | None  # None when it may fit or not, and without a target.
    violations: list[Finding]
    passed: bool
    text: str
    data: dict  # The JSON of `hloctl --json check --preflight`.

    def _repr_html_(self) -> str:
        """The report as a notebook shows it."""
        fields = lambda rows: [dataclasses.astuple(row) for row in rows]
        parts = [(part, size) for part, size in self.peak_parts.items() if size >= 1]
        compiled = [(p.name, p.line, p.instructions, p.flops, p.runs, p.recompiled) for p in self.programs]
        return _html.section(
            f"{self.program}: {self.steps} steps" + (f", stopped at {self.stopped_at}" if self.stopped_at else ""),
            self.passed,
            _html.table((f"peak memory {self.peak_bytes.low:,.0f} to {self.peak_bytes.high:,.0f} bytes at {self.peak_line}", ""), parts),
            _html.table(("", "over the budget"), [(finding.metric, finding.text) for finding in self.violations]) if self.violations else "",
            _html.table(("at the peak", "name", "line", "shape", "bytes"), fields(self.largest[:12])),
            _html.table(("would cross", "line", "bytes", "calls"), fields(self.transfers[:12])),
            _html.table(("program", "line", "instructions", "flops", "runs", "compiled again because"), compiled),
        )


class PreflightFailed(AssertionError):
    """The program does not fit its target or exceeds its budget; `report` says by how much."""

    def __init__(self, report: Preflight) -> None:
        self.report = report
        super().__init__(f"{report.program} did not pass\n{report.text}")


class Placeholders:
    """The object of `with hlod.placeholders() as run`. When the block has ended, `run.report` is a Preflight."""

    report: Preflight | None = None

    def _repr_html_(self) -> str:
        """The report as a notebook shows it."""
        return self.report._repr_html_() if self.report is not None else _html.text("The block has not ended.")


@contextlib.contextmanager
def placeholders(
    *,
    target: str | None = None,
    budget: str | os.PathLike | dict | None = None,
    chips: str | os.PathLike | None = None,
    stand_in: str | None = None,
    real_bytes_max: int = 1 << 20,
    raises: bool = True,
) -> Iterator[Placeholders]:
    """Runs the JAX code of a block with arrays that have no bytes, and then reports what it would have needed.

    Within the block JAX's default platform is a device of hlod in an abstract session, of a private daemon: arrays above
    `real_bytes_max` bytes are neither sent nor computed, nor is what depends on them; smaller ones are real. Functions are
    traced, compiled and called as usual; the program need not be changed. A read of a value that does not exist
    (`float(x)`, `print(x)`, `np.asarray(x)`) raises PlaceholderRead, unless `stand_in` states a value: "0", "1" or "random".
    When the block ends, also by an exception, `report` has the peak memory by purpose and line, the compiled programs, those
    compiled again with the reason, and the transfers that would have happened.

    target, budget, chips: as for hlod.check; the budget also limits compiles, recompiles, upload_bytes, upload_calls,
                           download_bytes, download_calls and executes.
    raises: raise PreflightFailed, an AssertionError, at the end when the program does not fit or a limit is exceeded.

    Arrays of the block cannot be used after it. The platform has $HLOD_DEVICES devices; a program over a mesh of them is judged by
    the part of one. Not thread-safe, because the platform is changed for the whole process.
    """
    if stand_in not in (None, "0", "1", "random"):
        raise ValueError(f'stand_in is {stand_in!r}; it is None, "0", "1" or "random"')
    run = Placeholders()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hlod-"))
        command = ["check", "--preflight", folder]
        if target is not None:
            command += ["--target", target]
        if chips is not None:
            command += ["--chips", os.fspath(chips)]
        if budget is not None:
            command += ["--budget", stack.enter_context(_budget_file(budget))]
        settings = f"log={folder},real_bytes_max={real_bytes_max}" + (f",stand_in={stand_in}" if stand_in else "")
        try:
            with _abstract_platform(settings):
                yield run
        except BaseException as error:
            with contextlib.suppress(_hloctl.Error):
                run.report = _report(_hloctl.call(*command, passes=(0, 4, 5, 6)), error)
            raise
        run.report = _report(_hloctl.call(*command, passes=(0, 4, 5, 6)), None)
    if raises and not run.report.passed:
        raise PreflightFailed(run.report)


@contextlib.contextmanager
def _abstract_platform(settings: str) -> Iterator[None]:
    """Makes the devices of an abstract client JAX's default, and those of the platform hlod, for a while."""
    import jax
    from jax._src import xla_bridge

    from . import _daemon, _plugin
    from . import jax as platform

    if _State.open:
        raise RuntimeError("hlod.placeholders() cannot be used within itself")
    xla_bridge.backends()  # Initializes the process's other platforms first.
    platform.register()
    options = _daemon.options() | {"address": "private", "abstract": settings}
    client = xla_bridge.make_pjrt_c_api_client(platform.NAME, options)
    before, default = xla_bridge._backends.get(platform.NAME), xla_bridge._default_backend
    _State.open = True
    try:
        _forget_platforms()
        xla_bridge._backends[platform.NAME] = xla_bridge._default_backend = client
        # The default device is a part of the keys of JAX's caches, so programs compiled for other devices are not found.
        with jax.default_device(client.local_devices()[0]):
            yield
    finally:
        _State.open = False
        xla_bridge._default_backend = default
        if before is None:
            del xla_bridge._backends[platform.NAME]
        else:
            xla_bridge._backends[platform.NAME] = before
        _forget_platforms()
        _plugin.end_preflight()


def _forget_platforms() -> None:
    """Clears JAX's cache of its platforms' devices, so that JAX looks for them again."""
    from jax._src import xla_bridge

    for function in vars(xla_bridge).values():
        if getattr(function, "__module__", None) == xla_bridge.__name__ and hasattr(function, "cache_clear"):
            function.cache_clear()


class _State:
    open = False


def _report(data: dict, error: BaseException | None) -> Preflight:
    programs = [Program(**{field.name: row[field.name] for field in dataclasses.fields(Program)}) for row in data["programs"]]
    step = data.get("step_seconds")
    return Preflight(
        program=data["program"],
        steps=data["steps"],
        devices=data["devices"],
        executes=data["executes"],
        programs=programs,
        recompiles=[program for program in programs if program.recompiled],
        transfers=[Crossing(**row) for row in data["transfers"]],
        upload_bytes=data["upload_bytes"],
        unsent_bytes=data["unsent_bytes"],
        download_bytes=data["download_bytes"],
        stopped_at=data["refused"][-1]["line"] if isinstance(error, PlaceholderRead) and data["refused"] else data["stopped_at"],
        flops=data["flops"],
        traffic_bytes=Bracket(**data["traffic_bytes"]),
        step_seconds=Bracket(**step) if step else None,
        peak_bytes=Bracket(**data["peak_bytes"]),
        peak_parts=data["peak_parts"],
        peak_line=data["peak_line"],
        largest=[Held(**row) for row in data["largest"]],
        fits={"fits": True, "does not fit": False}.get(data["fit"]),
        violations=[Finding(**finding) for finding in data["findings"] if finding["over"]],
        passed=data["passed"],
        text=data["text"],
        data=data,
    )
