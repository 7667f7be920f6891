"""The day of the rules that judge claims, which pages of results name, follows every change of what they say."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from headway.analysis.claims import RULES
from tests.unit.made_claims import Times, around, judged

KNOWN = {"2026-11-29": "534c3a655a9b66c1"}
"""By day of the rules: a digest of what they say of the made results below."""
PAIR: dict[str, Any] = {"contender": "h3", "against": "h2"}
KINDS: tuple[dict[str, Any], ...] = (
    {"kind": "order", "contenders": ["h3", "h2"]},
    {"kind": "difference", **PAIR, "value": -10},
    {"kind": "difference", **PAIR, "high": -5, "statistic": "mean"},
    {"kind": "equal", **PAIR, "within": 5},
    {"kind": "spread", **PAIR, "high": 0.8},
    {"kind": "value", "contender": "h3", "value": 0.9},
    {"kind": "failures", "contender": "h3", "high": 5},
    {"kind": "monotone", "contender": "h3", "axis": "path.loss", "trend": "rising"},
    {"kind": "correlation", "contender": "h3", "axis": "path.loss", "trend": "rising"},
)


def made() -> Iterator[dict[str, Times]]:
    """Results: by how much h3 is faster, how widely its runs scatter, how many there are, and whether one failed."""
    for effect in (-50, -10, 0, 4):
        for noise in (0.0, 5.0):
            for n in (1, 5, 8):
                failed = [None] if n == 8 else []
                yield {
                    f"{loss} %": {
                        "h2": around(1 + loss / 10, noise)[:n],
                        "h3": [
                            *around((1 + loss / 9) * (1 + effect / 100), noise)[::-1][:n],
                            *failed,
                        ],
                    }
                    for loss in range(3)
                }


def verdicts() -> Iterator[str]:
    for number, results in enumerate(made()):
        for rule in KINDS:
            found = judged(results, rule)
            yield f"{number} {rule} {found.judgement} {found.on_one_path}"


def test_other_verdicts_of_the_same_results_have_another_day() -> None:
    """If it fails and that was meant: set RULES to the day, say in docs/claims.md what changed, and note the digest here."""
    found = hashlib.sha256("\n".join(verdicts()).encode()).hexdigest()[:16]
    assert KNOWN.get(RULES) == found, (
        f"the rules of {RULES} say something else of the same results (digest {found}): if that is meant, set RULES in "
        "analysis/claims.py to the day, say in docs/claims.md what changed, and put both here"
    )
