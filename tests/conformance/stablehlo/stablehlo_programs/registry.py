"""Every case, in the order in which it is written."""

from stablehlo_programs import contractions, elementwise, movement, parallel, reductions, structure

_MODULES = (elementwise, movement, reductions, contractions, structure, parallel)


def all_cases():
    cases = [case for module in _MODULES for case in module.CASES]
    names = [case.name for case in cases]
    repeated = {name for name in names if names.count(name) > 1}
    assert not repeated, f"case names must be unique: {sorted(repeated)}"
    return cases
