"""hlod.check: a program's operations, traffic and memory against a chip and a budget, without running it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile

from . import _hloctl


@dataclasses.dataclass(frozen=True)
class Bracket:
    """An estimate between two ends: all that can be fused is, or nothing is."""

    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Array:
    """One of the largest arrays that are alive at the peak."""

    kind: str  # "argument", "result", "temporary"
    name: str  # Of the HLO instruction that makes it.
    op_name: str  # Of the program's operation, as JAX writes it.
    source: str  # "model.py:41", or empty.
    last_use: str  # The instruction that it is kept for; empty: it is a result.
    shape: str
    bytes: int


@dataclasses.dataclass(frozen=True)
class Operation:
    """One of the instructions that compute most."""

    name: str
    op_name: str
    source: str
    shape: str
    flops: float  # All turns of the loops that it is in.


@dataclasses.dataclass(frozen=True)
class Finding:
    """A value that is over its limit, or (over is False) below half of it."""

    metric: str
    value: float
    limit: float
    over: bool
    text: str  # "peak_bytes 384 MiB is over 10 MiB".


@dataclasses.dataclass(frozen=True)
class Report:
    module: str
    flops: float
    transcendentals: float
    traffic_bytes: Bracket
    peak_bytes: Bracket  # On one chip of the target.
    largest: list[Array]
    costliest: list[Operation]
    fits: bool | None  # None: it may, or there is no target.
    step_seconds: Bracket | None  # With a target.
    violations: list[Finding]
    loose: list[Finding]
    passed: bool
    text: str  # The whole report for people; str(report) is that.
    data: dict  # All that hloctl said.

    def __str__(self) -> str:
        return self.text


class CheckFailed(AssertionError):
    """The program does not fit its target or exceeds its budget; `report` says by how much."""

    def __init__(self, report: Report):
        self.report = report
        reasons = [finding.text for finding in report.violations]
        if report.fits is False:
            reasons.insert(0, f"it does not fit {report.data['target']['chip']}:{report.data['target']['count']}")
        super().__init__(f"{report.module}: {'; '.join(reasons)}\n{report.text}")


def check(program, *, target=None, budget=None, chips=None, update_budget=None, junit=None, raises=True) -> Report:
    """Analyses a program without running it and without a daemon.

    program: `jax.jit(f).lower(*args)`, what `jax.export` gives, HLO or StableHLO text, the bytes of an HloModuleProto, or the
             path of a file with any of them.
    target:  "v5p:128": a chip of hlod's table, or of the TOML file `chips`, and how many.
    budget:  the path of a TOML file of limits, or a dict of them: {"peak_bytes": "2GiB", "flops": 1e12}. Of estimates
             that are brackets the low end is compared.
    update_budget: write what was measured into the budget's file instead; unless said, whether $HLOD_UPDATE_BUDGET is 1.
    junit:   the path of a JUnit XML file to write.
    raises:  raise CheckFailed, an AssertionError, when the program does not fit or a limit is exceeded.

    Under GitHub Actions ($GITHUB_ACTIONS) what fails is annotated at the line of the program that is most to blame.
    """
    __tracebackhide__ = True  # pytest shows the caller's line.
    if update_budget is None:
        update_budget = os.environ.get("HLOD_UPDATE_BUDGET") == "1" and budget is not None and not isinstance(budget, dict)
    with contextlib.ExitStack() as stack:
        arguments = ["check", stack.enter_context(_hloctl.as_file(program))]
        if target is not None:
            arguments += ["--target", target]
        if chips is not None:
            arguments += ["--chips", os.fspath(chips)]
        if budget is not None:
            arguments += ["--budget", stack.enter_context(_budget_file(budget))]
        if update_budget:
            arguments.append("--update-budget")
        if junit is not None:
            arguments += ["--junit", os.fspath(junit)]
        if os.environ.get("GITHUB_ACTIONS") == "true":
            arguments.append("--github")
        report = _report(_hloctl.call(*arguments, passes=(0, 4)))
    if raises and not report.passed:
        raise CheckFailed(report)
    return report


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
    )


@contextlib.contextmanager
def _budget_file(budget):
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
