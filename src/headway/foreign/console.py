"""Consoles that show texts of others and obey nothing in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headway.foreign.shown import printable
from headway.overriding import override

# It takes as long to load as all else that a short command needs.
if TYPE_CHECKING:
    from rich.console import Console


def escaping_console(**options: Any) -> Console:
    """A console whose own colours and movements work, and in whose texts control characters are written out.

    Args:
        options: of the console.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class EscapingConsole(Console):
        """Writes out control characters of all that it renders, bars of progress included."""

        @override
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                yield (
                    segment if segment.control else Segment(printable(segment.text), segment.style)
                )

    return EscapingConsole(**options)
