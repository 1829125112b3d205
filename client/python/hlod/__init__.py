"""hlod from Python. `JAX_PLATFORMS=hlod` runs JAX programs on the daemon (hlod.jax); `hlod.ledger` and `hlod.metrics` say what they
did; `hlod.check` says what a program costs and needs before it runs, `hlod.run` runs a lowered one."""

from ._check import Array, Bracket, CheckFailed, Finding, Operation, Report, check
from ._hloctl import Error
from ._plugin import Ledger, ledger, metrics
from ._run import run

__all__ = [
    "Array",
    "Bracket",
    "CheckFailed",
    "Error",
    "Finding",
    "Ledger",
    "Operation",
    "Report",
    "check",
    "ledger",
    "metrics",
    "run",
]
