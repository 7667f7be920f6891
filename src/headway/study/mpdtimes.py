"""Times in MPDs: durations of XML Schema, and when a period begins and ends (ISO/IEC 23009-1, 5.3.2.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from headway.foreign.shown import quoted

_N = r"([0-9]{1,15})"
_DURATION = re.compile(
    rf"(-)?P(?=[0-9T])(?:{_N}Y)?(?:{_N}M)?(?:{_N}D)?"
    rf"(?:T(?=[0-9])(?:{_N}H)?(?:{_N}M)?(?:([0-9]{{1,15}}(?:\.[0-9]{{1,15}})?)S)?)?"
)


class UnreadableMpdError(Exception):
    """An MPD has something wrong, or something that cannot be played; in words, without the file's name."""


class PeriodSpan(NamedTuple):
    """When a period begins in the presentation, and how long it is; None if the MPD does not say."""

    start_s: Fraction
    length_s: Fraction | None


def seconds_of(text: str) -> Fraction:
    """The seconds of an XML Schema duration, such as ``PT10M34.6S``.

    Raises:
        UnreadableMpdError: it is none, is below zero, or has years or months, which have no fixed length.
    """
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        raise UnreadableMpdError(f"{quoted(text)} is no duration, such as PT10M34.6S")
    years, months, days, hours, minutes, seconds = (
        Fraction(part or 0) for part in match.groups()[1:]
    )
    if years or months:
        raise UnreadableMpdError(
            f"{quoted(text)} has years or months, which have no fixed length; write days, as P30D"
        )
    length_s = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if match[1] and length_s:
        raise UnreadableMpdError(f"{quoted(text)} is a duration below zero")
    return length_s


def period_spans(
    whole: Mapping[str, str], periods: Sequence[Mapping[str, str]]
) -> tuple[PeriodSpan, ...]:
    """When periods begin and end.

    Args:
        whole: attributes of the MPD.
        periods: attributes of each of its periods.

    Raises:
        UnreadableMpdError: a period ends before it begins, or does not say when it begins.
    """
    starts: list[Fraction] = []
    lengths = [_seconds(period, "duration") for period in periods]
    for place, texts in enumerate(periods):
        start_s = _seconds(texts, "start")
        if start_s is None and not place:
            start_s = Fraction(0)
        elif start_s is None and (before := lengths[place - 1]) is not None:
            start_s = starts[-1] + before
        if start_s is None:
            raise UnreadableMpdError(f"period {place + 1} needs start, or the one before duration")
        starts.append(start_s)
    presentation_s = _seconds(whole, "mediaPresentationDuration")
    ends = [*starts[1:], presentation_s]
    spans = []
    for place, (start_s, length_s, end_s) in enumerate(zip(starts, lengths, ends, strict=True)):
        limits = [
            fraction
            for fraction in (length_s, None if end_s is None else end_s - start_s)
            if fraction is not None
        ]
        if limits and min(limits) < 0:
            raise UnreadableMpdError(
                f"period {place + 1} begins at {float(start_s):g} s, after its end at {float(end_s or 0):g} s"
            )
        spans.append(PeriodSpan(start_s, min(limits, default=None)))
    return tuple(spans)


def _seconds(attributes: Mapping[str, str], name: str) -> Fraction | None:
    text = attributes.get(name)
    return None if text is None else seconds_of(text)
