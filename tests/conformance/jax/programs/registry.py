"""Every case, in the order in which it is written."""

from programs import (
    contractions,
    control_flow,
    conversions,
    data_movement,
    elementwise,
    fourier,
    hlo_dynamic,
    hlo_text,
    linear_algebra,
    models,
    random_bits,
    reductions,
    sorting,
)
from programs.harness import Case

_MODULES = (
    models,
    elementwise,
    fourier,
    conversions,
    data_movement,
    contractions,
    linear_algebra,
    reductions,
    sorting,
    random_bits,
    control_flow,
    hlo_text,
    hlo_dynamic,
)


def all_cases() -> list[Case]:
    cases = [case for module in _MODULES for case in module.CASES]
    names = [case.name for case in cases]
    repeated = {name for name in names if names.count(name) > 1}
    assert not repeated, f"case names must be unique: {sorted(repeated)}"
    return cases
