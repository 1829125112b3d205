"""The tables of README.md that follow from the cases: one row for each, and the opcodes they contain."""

import collections
import json
import pathlib

BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"


def tables(cases: pathlib.Path, opcodes: dict[str, int]) -> str:
    about: dict[str, list[str]] = collections.defaultdict(list)
    for path in sorted(cases.glob("*/case.json")):
        record = json.loads(path.read_text())
        about[record["about"]].append(record["name"])
    rows = "".join(f"| {', '.join(f'`{n}`' for n in names)} | {text} |\n" for text, names in about.items())
    listed = ", ".join(f"{opcode} {count}" for opcode, count in opcodes.items())
    return (
        f"{BEGIN}\n## The cases\n\n| case | what it is |\n|---|---|\n{rows}\n## Opcodes\n\n"
        f"{len(opcodes)} opcodes occur (with the number of cases; also in `opcodes.txt`):\n{listed}.\n{END}\n"
    )


def update(readme: pathlib.Path, cases: pathlib.Path, opcodes: dict[str, int]) -> None:
    text = readme.read_text()
    head, rest = text.split(BEGIN, 1)
    readme.write_text(head + tables(cases, opcodes) + rest.split(END, 1)[1].lstrip("\n"))
