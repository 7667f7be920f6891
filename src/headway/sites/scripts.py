"""Script elements that browsers fetch (HTML Standard, section 4.12.1.1)."""

from __future__ import annotations

from collections.abc import Mapping

from headway.sites.mediaquery import Matching

_JAVASCRIPT = frozenset(
    (
        *("application/ecmascript", "application/javascript", "application/x-ecmascript"),
        *("application/x-javascript", "text/ecmascript", "text/javascript", "text/jscript"),
        *("text/livescript", "text/x-ecmascript", "text/x-javascript"),
        *(f"text/javascript1.{minor}" for minor in range(6)),
    )
)
"""Types of JavaScript (MIME Sniffing Standard, section 4.6)."""
_MODULE = "module"


def fetching(attributes: Mapping[str, str]) -> Matching:
    """How many browsers fetch the source of a script: none that of data, or what is for those without modules.

    Args:
        attributes: of the element, with names in lower case.
    """
    if "type" in attributes:
        kind = attributes["type"]
    elif language := attributes.get("language", ""):
        kind = f"text/{language}"
    else:
        kind = ""
    if kind.strip().lower() == _MODULE:
        return Matching.ALWAYS
    is_javascript = not kind or kind.strip().lower() in _JAVASCRIPT
    if not is_javascript or "nomodule" in attributes:
        return Matching.NEVER
    # Chromium fetches ahead what is for an event, and does not execute it.
    return Matching.SOMETIMES if _is_of_an_event(attributes) else Matching.ALWAYS


def _is_of_an_event(attributes: Mapping[str, str]) -> bool:
    """Whether it is written for an event that old browsers had."""
    if not {"event", "for"} <= attributes.keys():
        return False
    event = attributes["event"].strip().lower()
    is_loading = attributes["for"].strip().lower() == "window" and event in ("onload", "onload()")
    return not is_loading
