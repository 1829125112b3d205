"""hlod from Python. `JAX_PLATFORMS=hlod` runs JAX programs on the daemon (hlod.jax); `hlod.ledger` and `hlod.metrics` say what they
did; `hlod.check` says what a program costs and needs before it runs, `hlod.run` runs a lowered one;
`hlod.partition` gives what each device of a mesh runs."""

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
from ._plugin import Ledger, Metrics, ledger, metrics
from ._run import run

__all__ = [
    "Array",
    "Bracket",
    "CheckFailed",
    "Collective",
    "Error",
    "Finding",
    "Ledger",
    "Metrics",
    "Operation",
    "Partitioned",
    "PartitionError",
    "Replicated",
    "Report",
    "Transfer",
    "check",
    "ledger",
    "metrics",
    "partition",
    "run",
]
