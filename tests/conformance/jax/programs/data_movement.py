"""."""
from programs.harness import Registry
CASES = Registry()
