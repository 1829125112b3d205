#!/usr/bin/env python3
"""Writes names.csv: the public names of PyTorch, JAX and Optax beside hlod's.

generate.py [--check]. Of the libraries that this Python has (torch; jax; optax) the rows are made anew, those of the others stay.
A name is hlod's by the rule of the public headers (log_softmax is LogSoftmax), or by a row of aliases.csv; where neither is so,
a row of reasons.csv says why it is not there, and without one the state is "missing". With --check nothing is imported or
written: it fails when a row says something else than the headers do.
"""

import csv
import importlib
import inspect
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
HEADERS = HERE.parents[4] / "client/include/hlod"
# The modules to look in, with a predicate for the names that count.
LIBRARIES = {
    "torch.nn": inspect.isclass,
    "torch.nn.functional": callable,
    "torch.nn.init": callable,
    "torch.nn.utils": callable,
    "torch.nn.utils.rnn": callable,
    "torch.optim": inspect.isclass,
    "torch.optim.lr_scheduler": inspect.isclass,
    "torch.cuda.amp": inspect.isclass,
    "optax": callable,
    "jax.lax": callable,
    "jax.numpy": callable,
    "jax.nn": callable,
}


def our_names():
    """Every function, class and constant that a public header declares."""
    names = set()
    for header in HEADERS.rglob("*.h"):
        text = re.sub(r"//[^\n]*", "", header.read_text(encoding="utf-8"))
        names.update(re.findall(r"\b([A-Z]\w*)\s*\(", text))
        names.update(re.findall(r"\b(?:class|struct)\s+([A-Z]\w*)", text))
        names.update(re.findall(r"\busing\s+([A-Z]\w*)\s*=", text))
        names.update(re.findall(r"\bconstexpr[^=;]*\b(k[A-Z]\w*)\s*=", text))
    return names


def by_rule(name):
    """The name by the headers' rule: words in CamelCase, an underscore at the end stays."""
    tail = "_" if name.endswith("_") else ""
    return "".join(word[:1].upper() + word[1:] for word in name.strip("_").split("_")) + tail


def rows_of(path):
    with open(HERE / path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def find(library, name, ours, aliases):
    if (library, name) in aliases:
        return aliases[library, name]
    wanted = by_rule(name).lower()
    return next((found for found in sorted(ours) if found.lower() == wanted), "")


def row(library, name, ours, aliases, reasons):
    found = find(library, name, ours, aliases)
    reason = "" if found else next((why for where, pattern, why in reasons if where == library and re.fullmatch(pattern, name)), "")
    return {"library": library, "name": name, "state": "have" if found else "not" if reason else "missing", "ours": found, "why": reason}


def public_names(library, counts):
    module = importlib.import_module(library)
    names = getattr(module, "__all__", None) or dir(module)
    return sorted({name for name in names if not name.startswith("_") and counts(getattr(module, name, None)) and not inspect.ismodule(getattr(module, name))})


def main(check):
    ours = our_names()
    aliases = {(line["library"], line["name"]): line["ours"] for line in rows_of("aliases.csv")}
    reasons = [(line["library"], line["pattern"], line["why"]) for line in rows_of("reasons.csv")]
    unknown = [f"{library} {name}: {alias}" for (library, name), alias in aliases.items() if not set(re.findall(r"\w+", alias)) & ours]
    if unknown:
        sys.exit("aliases.csv names what no header declares: " + "; ".join(unknown))
    kept = rows_of("names.csv") if (HERE / "names.csv").exists() else []
    rows = []
    for library, counts in LIBRARIES.items():
        names = [line["name"] for line in kept if line["library"] == library]
        if not check:
            try:
                names = public_names(library, counts)
            except ImportError:
                print(f"{library} is not here: its rows stay", file=sys.stderr)
        rows += [row(library, name, ours, aliases, reasons) for name in names]
    if check:
        wrong = [f"{old['library']} {old['name']} is {new['state']} {new['ours']}" for old, new in zip(kept, rows, strict=True) if old != new]
        if wrong:
            sys.exit("names.csv is not what the headers say (run tests/unit/client/tensor/names/generate.py): " + "; ".join(wrong[:20]))
        return
    with open(HERE / "names.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["library", "name", "state", "ours", "why"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for library in LIBRARIES:
        states = [line["state"] for line in rows if line["library"] == library]
        print(f"{library}: {len(states)}, have {states.count('have')}, not {states.count('not')}, missing {states.count('missing')}")


if __name__ == "__main__":
    main("--check" in sys.argv[1:])
