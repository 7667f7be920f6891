"""Consoles that show texts of others and obey nothing in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# It takes as long to load as all else that a short command needs.
if TYPE_CHECKING:
    from rich.console import Console


def escaping_console(**options: Any) -> Console:
    """A console whose own colours and movements work, and in whose texts control characters are written out.

    Args:
        options: of the console.
    """
    from headway.foreign.escaping import EscapingConsole

    return EscapingConsole(**options)
