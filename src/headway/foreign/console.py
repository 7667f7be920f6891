"""Consoles that show texts of others and obey nothing in them."""

from __future__ import annotations

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
    from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
    from rich.measure import Measurement
    from rich.segment import Segment

    class Escaped:
        """What is shown, with its control characters written out."""

        def __init__(self, content: ConsoleRenderable) -> None:
            self._content = content

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for one in console.render(self._content, options):
                yield one if one.control else Segment(printable(one.text), one.style)

        def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
            return Measurement.get(console, options, self._content)

    class Escaping(RenderHook):
        """Has everything that is printed escaped."""

        @override
        def process_renderables(
            self, renderables: list[ConsoleRenderable]
        ) -> list[ConsoleRenderable]:
            return [Escaped(one) for one in renderables]

    class EscapingConsole(Console):
        """Escapes after all other hooks: bars of progress are put in by one."""

        @override
        def push_render_hook(self, hook: RenderHook) -> None:
            super().pop_render_hook()
            super().push_render_hook(hook)
            super().push_render_hook(escaping)

        @override
        def pop_render_hook(self) -> None:
            super().pop_render_hook()
            super().pop_render_hook()
            super().push_render_hook(escaping)

    escaping = Escaping()
    console = EscapingConsole(**options)
    Console.push_render_hook(console, escaping)
    return console
