"""A console of rich that writes out the control characters of all it is given."""

from __future__ import annotations

from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.measure import Measurement
from rich.segment import Segment

from headway.foreign.shown import printable
from headway.overriding import override


class EscapingConsole(Console):
    """Escapes after all other hooks: bars of progress are put in by one."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._escaping = _Escaping()
        super().push_render_hook(self._escaping)

    @override
    def push_render_hook(self, hook: RenderHook) -> None:
        super().pop_render_hook()
        super().push_render_hook(hook)
        super().push_render_hook(self._escaping)

    @override
    def pop_render_hook(self) -> None:
        super().pop_render_hook()
        super().pop_render_hook()
        super().push_render_hook(self._escaping)


class _Escaping(RenderHook):
    """Has everything that is printed escaped."""

    @override
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Escaped(content) for content in renderables]


class _Escaped:
    """What is shown, with its control characters written out."""

    def __init__(self, content: ConsoleRenderable) -> None:
        self._content = content

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._content, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._content)
