"""What a JAX program costs and needs, before it runs: `hlod.check` for tests, `hlod.run` on the daemon."""

from ._check import Array, Bracket, CheckFailed, Finding, Operation, Report, check
from ._hloctl import Error
from ._run import run

__all__ = ["Array", "Bracket", "CheckFailed", "Error", "Finding", "Operation", "Report", "check", "run"]
