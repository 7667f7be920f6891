"""Announcements of a response by Alt-Svc (RFC 7838), from the values of all its header fields of that name."""

from __future__ import annotations

import ibis
import ibis.expr.types as ir

_BEGIN = r"(^|,)\s*"
"""Where an alternative begins: alternatives are separated by commas, also those of several fields."""
_CLEAR = rf"(?i){_BEGIN}clear\s*(,|$)"
"""All alternatives of the origin are invalid, those of the same response, too (section 3)."""
_STALE = r'[^,]+;\s*ma="?0+"?\s*(;[^,]*)?(,|$)'
"""An alternative that is fresh for no time (section 3.1)."""
_NEWEST_DRAFT, _OLDEST_DRAFT = 34, 18
"""Of HTTP/3, as far as they were called h3-NN."""
GQUIC = "gquic"
"""Google's QUIC of before the IETF's, with its own framing or with that of HTTP/3 (h3-Q050)."""
FINAL = "h3"


def announced(values: ir.StringValue) -> ir.StringValue:
    """What is announced at best: h3, else the newest draft (h3-29), else gquic; null if none of them is.

    Args:
        values: of the fields, joined by commas; null if there is none.
    """
    fresh = values.re_replace(_STALE, "")
    drafts = [
        (fresh.re_search(rf"{_BEGIN}h3-{number}="), f"h3-{number}")
        for number in range(_NEWEST_DRAFT, _OLDEST_DRAFT - 1, -1)
    ]
    return ibis.cases(
        (values.isnull(), ibis.null(str)),
        (fresh.re_search(_CLEAR), ibis.null(str)),
        (fresh.re_search(rf"{_BEGIN}h3="), FINAL),
        (~fresh.re_search(rf"{_BEGIN}(h3-|quic=)"), ibis.null(str)),
        *drafts,
        (fresh.re_search(rf"{_BEGIN}(quic|h3-[A-Z][0-9]+)="), GQUIC),
    )
