"""hlod from Python. `JAX_PLATFORMS=hlod` runs JAX programs on the daemon (hlod.jax); `hlod.ledger` and `hlod.metrics` report what they
did; `hlod.check` reports what a program costs and needs before it runs; `hlod.run` runs a lowered program;
`hlod.placeholders` runs a whole program with arrays that have no bytes, and reports what it would have needed;
`hlod.partition` returns the module that each device of a mesh runs."""

from ._check import (
    Array,
    Bracket,
    CheckFailed,
    Collective,
    Finding,
    Operation,
    Replicated,
    Report,
    Transfer,
    check,
)
from ._hloctl import Error
from ._partition import Partitioned, PartitionError, partition
from ._placeholders import Crossing, Held, PlaceholderRead, Placeholders, Preflight, PreflightFailed, Program, placeholders
from ._plugin import Ledger, Metrics, ledger, metrics
from ._run import run

__all__ = [
    "Array",
    "Bracket",
    "CheckFailed",
    "Collective",
    "Crossing",
    "Error",
    "Finding",
    "Held",
    "Ledger",
    "Metrics",
    "Operation",
    "Partitioned",
    "PartitionError",
    "PlaceholderRead",
    "Placeholders",
    "Preflight",
    "PreflightFailed",
    "Program",
    "Replicated",
    "Report",
    "Transfer",
    "check",
    "ledger",
    "metrics",
    "partition",
    "placeholders",
    "run",
]
