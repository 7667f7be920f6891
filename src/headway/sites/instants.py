"""Instants as recordings write them: ISO 8601 with any precision, 14 digits, and numbers."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

_DIGITS = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?")
_PARTIAL = re.compile(r"\d{4}(-\d\d)?")
_MILLISECONDS_FROM = 1e11
"""A number of seconds since 1970 is smaller for 3,000 years to come; one of milliseconds was larger in 1974."""


def instant_s(value: Any) -> float | None:
    """Seconds since 1970; None if it is no instant. One without a time zone is of UTC.

    Args:
        value: text, such as ``2026-03-02T10:00:00.5Z`` (RFC 3339, or less of it as in WARC 1.1, section 5.4) or
            ``20260302100000`` (ARC), or a number of seconds or milliseconds since 1970.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value / 1000 if abs(value) >= _MILLISECONDS_FROM else float(value)
    return _of_text(value.strip()) if isinstance(value, str) else None


def _of_text(text: str) -> float | None:
    if digits := _DIGITS.fullmatch(text):
        year, month, day, hour, minute, second = (int(group or 0) for group in digits.groups())
        return _instant(year, month, day, hour, minute, min(second, 59))
    if _PARTIAL.fullmatch(text):
        return _instant(int(text[:4]), int(text[5:7] or 1), 1)
    try:
        instant = datetime.fromisoformat(text)
        return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _instant(*parts: int) -> float | None:
    try:
        return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]
    except (ValueError, OverflowError):
        return None
