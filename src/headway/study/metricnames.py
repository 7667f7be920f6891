"""Near names of a metric that nobody measures: those that it may have been meant for."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from headway.columns import METRICS
from headway.errors import nearest

MOST = 10
"""As many names as a reader looks through."""

_SCORE = "Headway has no score: state what it is made of: fcp_s, speed_index_s, lcp_s, tbt_ms, cls"
_ELSEWHERE = {
    "fid": "First Input Delay has gone from the browsers' vitals for INP, which is inp_ms",
    "score": _SCORE,
    "performance_score": _SCORE,
    "cumulative_layout_shift": "it is cls here",
    "first_contentful_paint": "it is fcp_s here",
    "first_meaningful_paint": "Lighthouse has given it up for the largest contentful paint, lcp_s",
    "inp": "it is inp_ms here",
    "interaction_to_next_paint": "it is inp_ms here",
    "interactive": "it is interactive_s here",
    "largest_contentful_paint": "it is lcp_s here",
    "tbt": "it is tbt_ms here",
    "si": "it is speed_index_s here",
    "total_blocking_time": "it is tbt_ms here",
    "tti": "it is interactive_s here",
}
"""What browsers' tools call metrics, without a unit, and what there is instead."""
_UNIT = re.compile(r"_(s|ms|seconds|millis)$")


def known_elsewhere(word: str) -> str:
    """What there is instead of a metric that other tools have; empty if they have none of that name."""
    plain = re.sub(r"[^a-z0-9]+", "_", word.lower()).strip("_")
    return _ELSEWHERE.get(_UNIT.sub("", plain), "")


def no_metric(word: str, known: Sequence[str]) -> str:
    """A message about a word that names no metric.

    Args:
        word: as it was written.
        known: the metrics that are measured.
    """
    elsewhere = known_elsewhere(word)
    return f"{word!r} is no metric{f': {elsewhere}' if elsewhere else hint(word, known)}"


def hint(word: str, known: Sequence[str]) -> str:
    """The end of a message about a metric that is not measured: which may have been meant.

    Args:
        word: as it was written.
        known: the metrics that are measured.
    """
    if len(known) <= MOST:
        return nearest(word, known, then=f"known: {', '.join(known)}")
    alike = most_alike(word, known)
    return nearest(word, known, then=f"of {len(known)} known, the nearest: {', '.join(alike)}")


def most_alike(word: str, known: Collection[str]) -> list[str]:
    """The ten names that are most like a word, the most alike first; of equals, those that are known first."""
    # Imported here because only who is wrong has to wait for it.
    from difflib import SequenceMatcher

    small = word.lower()

    def likeness(name: str) -> float:
        ranking = METRICS[name].ranking
        names = [name, *([ranking.heading, ranking.label.replace(" ", "_")] if ranking else [])]
        return max(SequenceMatcher(None, small, text.lower()).ratio() for text in names)

    return sorted(known, key=likeness, reverse=True)[:MOST]
