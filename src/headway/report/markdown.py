"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.report.tables.table import Table


def markdown_table(table: Table) -> list[str]:
    """A table's lines, its remark below it; none of a table without rows."""
    if not table.rows:
        return []
    rows = [row for group in table.rows for row in group]
    lines = [_line(table.headings), "|" + "---|" * len(table.headings), *map(_line, rows)]
    return [*lines, "", table.remark] if table.remark else lines


def joined(blocks: Sequence[Sequence[str]]) -> str:
    """Blocks of lines as a document, an empty line between them; empty ones are left out."""
    return "\n".join(_lines(blocks)).rstrip() + "\n"


def _lines(blocks: Sequence[Sequence[str]]) -> Iterator[str]:
    for block in blocks:
        if any(block):
            yield from block
            yield ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
