"""A program that uses the public names of the package, for a type checker. It is not run."""

from __future__ import annotations

from typing import assert_type

import hlod


def reports(program: object) -> None:
    report = hlod.check(program, target="h100:8", mesh={"data": 8}, budget={"peak_bytes": "1GiB"}, raises=False)
    assert_type(report, hlod.Report)
    assert_type(report.peak_bytes, hlod.Bracket)
    assert_type(report.peak_bytes.low, float)
    assert_type(report.fits, bool | None)
    assert_type([array.bytes for array in report.largest], list[int])
    assert_type([transfer.source for transfer in report.transfers], list[str])
    assert_type(report.exit_code, int)
    partitioned = hlod.partition(program, mesh="data=8")
    assert_type(partitioned, hlod.Partitioned)


def runs() -> None:
    with hlod.placeholders(target="h100", stand_in="0") as run:
        assert_type(run, hlod.Placeholders)
    assert_type(run.report, hlod.Preflight | None)
    if run.report is not None:
        assert_type(run.report.steps, int)
        assert_type(run.report.devices, int)
        assert_type([row.line for row in run.report.recompiles], list[str])
    assert_type(hlod.metrics(), hlod.Metrics)
    assert_type(hlod.ledger(), hlod.Ledger)


def wrong() -> None:
    hlod.check("x", target=7)  # type: ignore[arg-type]
    hlod.placeholders(step=1)  # type: ignore[call-arg]
