#!/usr/bin/env python3
"""Writes the C++ fragments of a guide page as one program, and runs pages: extract.py PAGE PROGRAM.cc."""

import re
import sys


def blocks(page, language):
    """Returns the fenced blocks of a language, in order."""
    with open(page) as file:
        return re.findall(rf"^```{language}\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)


def head_of(fragment):
    """Splits a fragment into what stands before main() and what stands in it.

    Includes, usings, namespace aliases and structs without a capture are what a reader puts at the head of the file.
    """
    head, body, in_struct = [], [], False
    for line in fragment.splitlines():
        in_struct = in_struct or line.startswith("struct ")
        (head if in_struct or re.match(r"#include|using |namespace ", line) else body).append(line)
        in_struct = in_struct and line != "};"
    return head, body


def main():
    page, program = sys.argv[1:]
    heads, bodies = [], []
    for fragment in blocks(page, "cpp"):
        head, body = head_of(fragment)
        heads += head
        bodies += body
    includes = [line for line in heads if line.startswith("#include")]
    others = [line for line in heads if not line.startswith("#include")]
    with open(program, "w") as file:
        file.write("\n".join([*includes, *others, "int main() {", *bodies, "}", ""]))


if __name__ == "__main__":
    main()
