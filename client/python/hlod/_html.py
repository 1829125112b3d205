"""Tables and texts as a notebook shows them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns an HTML table; numbers are aligned right."""
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    return f"<table><tr>{head}</tr>{''.join('<tr>' + ''.join(map(_cell, row)) + '</tr>' for row in rows)}</table>"


def section(title: str, passed: bool | None, *parts: str) -> str:
    """Returns a heading with a verdict, unless that is None, and what belongs to it."""
    verdict = {True: ' <span style="color:green">passed</span>', False: ' <span style="color:red">FAILED</span>', None: ""}[passed]
    return f"<div><b>{html.escape(title)}</b>{verdict}{''.join(parts)}</div>"


def text(lines: str) -> str:
    """Returns a text with its line breaks."""
    return f"<pre>{html.escape(lines)}</pre>"


def _cell(value: object) -> str:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    shown = f"{value:,}" if isinstance(value, int) and number else f"{value:,.4g}" if number else html.escape(str(value))
    return f'<td style="text-align:{"right" if number else "left"}">{shown}</td>'
