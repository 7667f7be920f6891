"""The columns of words beside a waterfall: what each resource is, what it came over, when it was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headway.instruments.waterfalls.drawing import Row, size_text
from headway.report.sheet import Anchor, Sheet, shortened, text_width
from headway.report.theme import INK, MUTED, RED

TEXT = 11.0
"""Size of all words of a waterfall."""
_GAP = 8.0


@dataclass(frozen=True)
class WordColumns:
    """Where the columns end, of which a narrow drawing has the name only.

    Attributes:
        name: right edge of the resource's name.
        others: right edges of version of HTTP, connection, time of the request, and content; none without room.
    """

    name: float
    others: tuple[float, ...] = ()

    @property
    def plot(self) -> float:
        """Where the plot begins; a mark of what blocks rendering may stand before it."""
        return (self.others[-1] if self.others else self.name) + 12


WIDE_COLUMNS, NARROW_COLUMNS = WordColumns(168, (200, 240, 296, 354)), WordColumns(104)
_HEADS = ("HTTP", "conn.", "request", "content")


def heads(sheet: Sheet, columns: WordColumns, y: float) -> None:
    """Name the columns; nothing where there is no room for them."""
    if columns.others:
        sheet.text(0, y, "resource", MUTED, size=TEXT)
        for text, x, anchor in _placed(columns, _HEADS):
            sheet.text(x, y, text, MUTED, size=TEXT, anchor=anchor)


def row_words(sheet: Sheet, row: Row, columns: WordColumns, y: float, critical: bool) -> None:
    """Write what a row is, in bold if it is on the critical path."""
    ink = RED if row.failed else MUTED if row.folded else INK
    bold = critical and not row.folded
    sheet.text(0, y, _fitting(row.name, columns.name - _GAP, bold), ink, size=TEXT, bold=bold)
    asked = f"{max(0.0, row.started_ms) / 1e3:.3f} s"
    words = (row.versions, row.connections, asked, size_text(row.body_bytes))
    for text, x, anchor in _placed(columns, words):
        sheet.text(x, y, text, MUTED, size=TEXT, anchor=anchor)


def _placed(columns: WordColumns, texts: tuple[str, ...]) -> Iterator[tuple[str, float, Anchor]]:
    """Texts of the columns, numbers at their right edges."""
    left = columns.name
    for place, (text, right) in enumerate(zip(texts, columns.others, strict=False)):
        room = right - left - (_GAP if place else 2)
        fitting = shortened(text, room, TEXT)
        yield (fitting, left, "start") if place == 0 else (fitting, right, "end")
        left = right


def _fitting(name: str, room: float, bold: bool) -> str:
    """The name, of one with a host that has no room the end, which tells more."""
    if "/" in name and text_width(name, TEXT, bold) > room:
        name = f"…/{name.partition('/')[2]}"
    return shortened(name, room, TEXT, bold)
