"""hlod.check: a program's operations, traffic and memory against a chip and a budget, without running it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import tempfile
from collections.abc import Iterator
from typing import Any

from . import _crossings, _environment, _hloctl, _html, _partition
from ._crossings import Transfer


@dataclasses.dataclass(frozen=True)
class Bracket:
    """An estimate between two ends: `low` if a compiler fuses all that it can, `high` if it fuses nothing."""

    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Array:
    """One of the largest arrays that are alive at the peak."""

    kind: str  # "argument", "result", "temporary"
    name: str  # The HLO instruction that makes it.
    op_name: str  # The program's operation, as JAX writes it.
    source: str  # "model.py:41", or empty.
    last_use: str  # The instruction that it is kept for; empty for a result.
    shape: str
    bytes: int


@dataclasses.dataclass(frozen=True)
class Operation:
    """One of the instructions that compute most."""

    name: str
    op_name: str
    source: str
    shape: str
    flops: float  # Summed over all iterations of the loops that it is in.


@dataclasses.dataclass(frozen=True)
class Collective:
    """An exchange of a chip with the others of its mesh."""

    kind: str  # "all-gather"
    name: str
    op_name: str
    source: str
    axes: list  # The mesh's axes along which its groups run; empty when they are not whole axes.
    group_size: int
    groups: int
    bytes: float  # The size of the whole array, per run.
    times: float


@dataclasses.dataclass(frozen=True)
class Replicated:
    """An array at the peak that other chips hold, too."""

    kind: str
    name: str
    op_name: str
    source: str
    shape: str  # The shape of one chip's part.
    sharding: str  # The mesh axes that divide each dimension.
    axis: str  # The mesh axis along which all chips hold the same part.
    saved_bytes: float  # The bytes that each chip would save if the array were divided along this axis.


@dataclasses.dataclass(frozen=True)
class Finding:
    """A value that is over its limit, or (over is False) below half of it."""

    metric: str
    value: float
    limit: float
    over: bool
    text: str  # "peak_bytes 384 MiB is over 10 MiB".


class Verdict:
    """The text, the JSON and the exit code of a report."""

    text: str
    data: dict
    passed: bool
    violations: list[Finding]

    def __str__(self) -> str:
        return self.text

    @property
    def json(self) -> str:
        """The report as JSON: `data` as text."""
        return json.dumps(self.data, indent=2)

    @property
    def exit_code(self) -> int:
        """The exit code of `hloctl check` for this verdict: 0 when it passed, 6 when nobody knows whether it fits, else 4."""
        return 0 if self.passed else 6 if self.data["fit"] == "unknown" and not self.violations else 4


@dataclasses.dataclass(frozen=True)
class Report(Verdict):
    """The costs and needs of a program, and the verdict about them. `str(report)` is the whole report as text."""

    module: str
    flops: float
    transcendentals: float
    traffic_bytes: Bracket
    # On one chip of the target. Both ends are the same number, unless a program for several chips could not be partitioned.
    peak_bytes: Bracket
    largest: list[Array]
    costliest: list[Operation]
    fits: bool | None  # None when the limit is within the error bar, when the peak is unknown, and without a target.
    step_seconds: Bracket | None  # None without a target.
    violations: list[Finding]
    loose: list[Finding]
    passed: bool
    text: str
    data: dict  # The JSON of `hloctl --json check`, and "transfers".
    transfers: list[Transfer] = dataclasses.field(default_factory=list)  # The transfers of every call; empty for a program without arguments.
    # The mesh that the program was divided over, axis name to size; all figures are then one chip's. None when it was not divided.
    mesh: dict | None = None
    collectives: list[Collective] = dataclasses.field(default_factory=list)
    replicated: list[Replicated] = dataclasses.field(default_factory=list)

    def _repr_html_(self) -> str:
        """The report as a notebook shows it."""
        rows = [
            ("operations", self.flops),
            ("traffic, bytes", _range(self.traffic_bytes)),
            ("peak memory, bytes", _range(self.peak_bytes)),
        ]
        if self.step_seconds is not None:
            rows.append(("step, seconds", _range(self.step_seconds)))
        if "target" in self.data:
            rows.append((f"{self.data['target']['chip']}:{self.data['target']['count']}", self.data["fit"]))
        rows += [("over the budget", finding.text) for finding in self.violations]
        rows += [("a loose limit", finding.text) for finding in self.loose]
        transfers = [(t.direction, t.cause, t.source, t.bytes, t.calls) for t in self.transfers]
        arrays = [(a.bytes, a.shape, a.kind, a.op_name or a.name, a.source) for a in self.largest]
        return _html.section(
            self.module,
            self.passed,
            _html.table(("", ""), rows),
            _html.table(("transfers of a call", "cause", "line", "bytes", "calls"), transfers) if transfers else "",
            _html.table(("largest at the peak, bytes", "shape", "kind", "made by", "line"), arrays),
        )


def _range(bracket: Bracket) -> str:
    low, high = f"{bracket.low:,.4g}", f"{bracket.high:,.4g}"
    return low if low == high else f"{low} to {high}"


class CheckFailed(AssertionError):
    """The program does not fit its target or exceeds its budget; `report` says by how much."""

    def __init__(self, report: Report) -> None:
        self.report = report
        reasons = [finding.text for finding in report.violations]
        if report.fits is False:
            reasons.insert(0, f"it does not fit {report.data['target']['chip']}:{report.data['target']['count']}")
        if report.data["fit"] == "may not fit":
            reasons.insert(0, "the limit of the target is within the error bar of its peak")
        if report.data["fit"] == "unknown":
            reasons.insert(0, f"nobody knows whether it fits: {report.data['undivided_because'] or 'it was not divided'}")
        super().__init__(f"{report.module}: {'; '.join(reasons)}\n{report.text}")


def check(
    program: Any,
    *arguments: Any,
    target: str | None = None,
    mesh: Any = None,
    shard: dict[str, Any] | None = None,
    budget: str | os.PathLike | dict | None = None,
    chips: str | os.PathLike | None = None,
    update_budget: bool | None = None,
    junit: str | os.PathLike | None = None,
    raises: bool = True,
    **keywords: Any,
) -> Report:
    """Analyses a program without running it and without a daemon.

    program: `jax.jit(f)` or `f` itself, with the arguments of a call, arrays or jax.ShapeDtypeStructs, in `arguments` and
             `keywords`; or, without arguments, `jax.jit(f).lower(*args)`, the result of `jax.export`, HLO or StableHLO text, the
             bytes of an HloModuleProto, or the path of a file with any of them.
    target:  "v5p:128": the kind of chip, from hlod's table or from the TOML file `chips`, and the number of chips.
    mesh:    the arrangement of the target's chips: {"data": 16, "model": 8}, "data=16,model=8" or a jax.sharding.Mesh. The default
             for a program with shardings is its own mesh. The program is partitioned for it (hlod.partition), and one chip is judged.
    shard:   shardings of arguments that replace the program's own, by regular expressions that match their names: {"wq|wo": PartitionSpec(None,
             "data"), "embedding": "model,None"}; a result that takes over an argument's memory is divided like it.
    budget:  the path of a TOML file of limits, or a dict of them: {"peak_bytes": "2GiB", "flops": 1e12}. The low end
             of an estimate that is a bracket is compared. With arguments, it also limits upload_bytes, upload_calls,
             download_bytes and download_calls: the NumPy arguments and the host callbacks of a call.
    update_budget: write the measured values into the budget's file instead; the default is True when $HLOD_UPDATE_BUDGET is 1.
    junit:   the path of a JUnit XML file to write.
    raises:  raise CheckFailed, an AssertionError, when the program does not fit or a limit is exceeded. A script can ask for
             the report instead and end by `sys.exit(report.exit_code)`.

    A function that needs the value of a traced array (`if x > 0`, `float(x)`) has no program: JAX's own error names the line.
    Under GitHub Actions ($GITHUB_ACTIONS) what fails is annotated at the line of the program that is most to blame.
    """
    __tracebackhide__ = True  # pytest shows the caller's line.
    if update_budget is None:
        update_budget = _environment.switch("HLOD_UPDATE_BUDGET") and budget is not None and not isinstance(budget, dict)
    transfers, limits = None, {}
    if callable(program) or arguments or keywords:
        program, transfers = _lowered(program, arguments, keywords)
        if isinstance(budget, dict):
            limits = {metric: limit for metric, limit in budget.items() if metric in _TRANSFER_METRICS}
            budget = {metric: limit for metric, limit in budget.items() if metric not in limits} or None
    with contextlib.ExitStack() as stack:
        own = None
        if transfers is not None and budget is not None and not isinstance(budget, dict):
            own = stack.enter_context(_FileOfTransfers(budget))
            budget, limits = own.rest, own.limits
        if shard and hasattr(program, "compiler_ir"):  # HLO has shardings in a form that cannot be edited.
            program = program.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True).encode()
        command = ["check", stack.enter_context(_hloctl.as_file(program))]
        if target is not None:
            command += ["--target", target]
        if mesh is not None:
            command += ["--mesh", ",".join(f"{name}={size}" for name, size in _partition.parse_mesh(mesh) or [])]
        for expression, spec in (shard or {}).items():
            command += ["--shard", f"{expression}={_spec_text(spec)}"]
        if chips is not None:
            command += ["--chips", os.fspath(chips)]
        if budget is not None:
            command += ["--budget", stack.enter_context(_budget_file(budget))]
        if update_budget:
            command.append("--update-budget")
        if junit is not None:
            command += ["--junit", os.fspath(junit)]
        if os.environ.get("GITHUB_ACTIONS") == "true":
            command.append("--github")
        report = _report(_hloctl.call(*command, passes=(0, 4, 6)))
        if own is not None and transfers is not None and update_budget:
            limits = own.update(transfers)
    if transfers is not None:
        report = _with_transfers(report, transfers, limits)
    if raises and not report.passed:
        raise CheckFailed(report)
    return report


def _spec_text(spec: Any) -> str:
    """Returns a PartitionSpec, a tuple or a text as the text that --shard reads."""
    if isinstance(spec, str):
        return spec
    return ",".join("None" if not axes else axes if isinstance(axes, str) else "+".join(axes) for axes in tuple(spec))


def _lowered(function: Any, arguments: tuple, keywords: dict) -> tuple[Any, list[Transfer] | None]:
    """Returns the program of a call, and the transfers that each call makes; None when these are not known."""
    if not callable(function):
        raise TypeError(f"{type(function).__name__} takes no arguments: pass a function, jitted or not, and the arguments of a call")
    if not hasattr(function, "lower"):
        import jax

        function = jax.jit(function)
    if not hasattr(function, "trace"):  # A function of another library, such as equinox.filter_jit or flax.nnx.jit.
        return _unwrapped(function.lower(*arguments, **keywords)), None
    traced = function.trace(*arguments, **keywords)
    return traced.lower(), _crossings.of_call(traced, arguments, keywords) if hasattr(traced, "args_info") else None


def _unwrapped(lowered: Any) -> Any:
    return lowered if hasattr(lowered, "compiler_ir") else getattr(lowered, "lowered", lowered)


_TRANSFER_METRICS = {
    "upload_bytes": ("host_to_device", "bytes"),
    "upload_calls": ("host_to_device", "calls"),
    "download_bytes": ("device_to_host", "bytes"),
    "download_calls": ("device_to_host", "calls"),
}


_TRANSFER_LINE = re.compile(rf"""\s*["']?({"|".join(_TRANSFER_METRICS)})["']?\s*=\s*([^#]*?)(\s*#.*)?""")


class _FileOfTransfers:
    """A budget's file in two parts: the limits of transfers, and a copy for hloctl without them. In the copy their lines are empty, so
    that hloctl's errors have the right line numbers. A context manager, which removes the copy at its end."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.rest = self._path = os.fspath(path)
        self._folder: tempfile.TemporaryDirectory | None = None
        self.limits: dict = {}

    def __enter__(self) -> _FileOfTransfers:
        try:
            with open(self._path, encoding="utf-8") as file:
                self._lines = [(line, _TRANSFER_LINE.fullmatch(line)) for line in file.read().split("\n")]
        except (OSError, UnicodeDecodeError):
            return self  # hloctl reports the error, or makes the file.
        self.limits = {read[1]: read[2].strip("\"'").replace("_", "") for _, read in self._lines if read}
        if self.limits:
            self._folder = tempfile.TemporaryDirectory(prefix="hlod-")
            self.rest = os.path.join(self._folder.name, os.path.basename(self._path))
            with open(self.rest, "w", encoding="utf-8") as file:
                file.write("\n".join("" if read else line for line, read in self._lines))
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def update(self, transfers: list[Transfer]) -> dict:
        """Writes the measured transfers, and the limits that hloctl wrote into the copy, into the file. Returns the new limits."""
        if not self.limits:
            return {}
        with open(self.rest, encoding="utf-8") as file:
            rest = file.read().split("\n")
        for i, (_, read) in enumerate(self._lines):
            if read:
                rest[i] = f"{read[1]} = {_measured(read[1], transfers)}{read[3] or ''}"
        with open(self._path, "w", encoding="utf-8") as file:
            file.write("\n".join(rest))
        return {metric: _measured(metric, transfers) for metric in self.limits}


def _measured(metric: str, transfers: list[Transfer]) -> int:
    direction, field = _TRANSFER_METRICS[metric]
    return sum(getattr(t, field) for t in transfers if t.direction == direction)


def _with_transfers(report: Report, transfers: list[Transfer], limits: dict) -> Report:
    """Returns the report with the transfers of a call, and with a violation per limit that they exceed."""
    over = []
    for metric, limit in limits.items():
        value, most = _measured(metric, transfers), _number(metric, limit)
        if value > most:
            over.append(Finding(metric, value, most, True, f"{metric} {value} is over {limit}"))
    text = report.text + "".join(
        f"each call         {t.direction.replace('_', ' ')}: {t.bytes} bytes in {t.calls}, {t.cause}{f' at {t.source}' * bool(t.source)}\n"
        for t in transfers
    )
    text += "".join(f"budget           FAILED: {finding.text}\n" for finding in over)
    data = {
        **report.data,
        "transfers": [dataclasses.asdict(transfer) for transfer in transfers],
        "findings": report.data["findings"] + [dataclasses.asdict(finding) for finding in over],
        "passed": report.passed and not over,
        "text": text,
    }
    return dataclasses.replace(
        report, transfers=transfers, violations=report.violations + over, passed=data["passed"], text=text, data=data
    )


def _number(metric: str, limit: float | str) -> float:
    """Reads a limit: a number, or a text such as "2GiB"."""
    units = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
    read = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([KMGT]?i?B?)\s*", str(limit))
    if read is None or read[2] not in units:
        raise _hloctl.Error(f'the limit of {metric} ("{limit}") is not a number of bytes or calls, such as 1000 or "2GiB"')
    return float(read[1]) * units[read[2]]


def _report(data: dict) -> Report:
    findings = [Finding(**finding) for finding in data["findings"]]
    step = data.get("step_seconds")
    return Report(
        module=data["module"],
        flops=data["cost"]["flops"],
        transcendentals=data["cost"]["transcendentals"],
        traffic_bytes=Bracket(**data["traffic_bytes"]),
        peak_bytes=Bracket(**data["peak_bytes"]),
        largest=[Array(**array) for array in data["fused"]["largest"]],
        costliest=[Operation(**row) for row in data["costliest"]],
        fits={"fits": True, "does not fit": False}.get(data["fit"]),
        step_seconds=Bracket(**step) if step else None,
        violations=[finding for finding in findings if finding.over],
        loose=[finding for finding in findings if not finding.over],
        passed=data["passed"],
        text=data["text"],
        data=data,
        mesh={axis["name"]: axis["size"] for axis in data["mesh"]} if "mesh" in data else None,
        collectives=[Collective(**row) for row in data.get("collectives", [])],
        replicated=[Replicated(**row) for row in data.get("replicated", [])],
    )


@contextlib.contextmanager
def _budget_file(budget: str | os.PathLike | dict) -> Iterator[str]:
    if not isinstance(budget, dict):
        yield os.fspath(budget)
        return
    with tempfile.TemporaryDirectory(prefix="hlod-") as folder:
        path = os.path.join(folder, "budget.toml")
        with open(path, "w", encoding="utf-8") as file:
            for metric, limit in budget.items():
                text = str(limit).replace("\\", "\\\\").replace('"', '\\"')
                file.write(f'"{metric}" = "{text}"\n' if isinstance(limit, str) else f'"{metric}" = {limit}\n')
        yield path
