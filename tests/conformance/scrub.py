#!/usr/bin/env python3
"""Removes the folders of the machine that generated cases from their metadata.

    tests/conformance/scrub.py FILE...    modules (.pb, .mlirbc) and packed cases (.tar), changed in place

JAX writes the path of the program that it traces into a module. FOLDER/tests/conformance/manual/generate.py becomes
./././tests/conformance/manual/generate.py: the same name from the repository's root, of the same length, so that the lengths
in protobuf, bytecode and archives stay right.
"""

import pathlib
import re
import sys

ABSOLUTE = re.compile(rb"/[\w.+/-]*/(?=tests/conformance/\w+/\w+\.py)")


def relative(length: int) -> bytes:
    """Returns a spelling of "./" with that many characters, at least two."""
    return b"./" * (length // 2) if length % 2 == 0 else b".//" + b"./" * ((length - 3) // 2)


def scrub(data: bytes) -> bytes:
    """Returns the bytes with relative paths."""
    return ABSOLUTE.sub(lambda match: relative(len(match[0])), data)


for name in sys.argv[1:]:
    path = pathlib.Path(name)
    before = path.read_bytes()
    after = scrub(before)
    assert len(before) == len(after)
    if before != after:
        path.write_bytes(after)
