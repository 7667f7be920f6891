"""docs/comparisons.md and docs/claims.md state the numbers that the analysis uses."""

from pathlib import Path

import pytest

from headway.analysis.difference import NEGLIGIBLE, POWER
from headway.analysis.intervals import RESAMPLES, median_interval
from headway.analysis.paired import MOST_EXACT_PAIRS, typical_interval
from headway.analysis.published import TOLERANCE
from headway.analysis.significance import (
    KOLMOGOROV_SMIRNOV_ALPHA,
    MANN_WHITNEY_ALPHA,
    MOST_EXACT,
    MOST_EXACT_KOLMOGOROV_SMIRNOV,
    MOST_EXACT_TIED,
    WELCH_ALPHA,
)
from headway.analysis.verdict import SPREADS_APART
from headway.statistics.interval import LEVEL
from headway.statistics.pairs import PAIRED_ALPHA, fewest_pairs, smallest_p

DOCS = Path(__file__).parents[2] / "docs"
PAGE, CLAIMS = (DOCS / "comparisons.md").read_text(), (DOCS / "claims.md").read_text()


def row(name: str) -> str:
    """The table's row of this quantity."""
    (found,) = (line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
    return found


def paragraph(start: str) -> str:
    """The paragraphs from this start to the next heading, as one line."""
    text = PAGE[PAGE.index(start) :]
    return " ".join(text[: text.find("\n#", 1)].split())


@pytest.mark.parametrize(
    "name, told",
    [
        ("median and its 95 % interval", f"{LEVEL * 100:.0f} %"),
        ("mean and its 95 % interval", f"{LEVEL * 100:.0f} %"),
        ("test of pairs", f"exact up to {MOST_EXACT_PAIRS} pairs"),
        ("test of pairs", f"p < {PAIRED_ALPHA}"),
        ("test without pairs", f"p < {PAIRED_ALPHA}"),
        ("equivalence", f"the interval above lies within {NEGLIGIBLE * 100:.0f} %"),
        ("detectable difference", f"with probability {POWER}"),
        ("Welch's t-test", f"p < {WELCH_ALPHA}"),
        ("Mann-Whitney U test", f"p < {MANN_WHITNEY_ALPHA}"),
        ("Mann-Whitney U test", f"exact up to n m = {MOST_EXACT}, "),
        ("Mann-Whitney U test", f"with ties up to n m = {MOST_EXACT_TIED}, "),
        ("Kolmogorov-Smirnov test", f"p < {KOLMOGOROV_SMIRNOV_ALPHA}"),
        ("Kolmogorov-Smirnov test", f"exact up to n m = {MOST_EXACT_KOLMOGOROV_SMIRNOV};"),
    ],
)
def test_tables(name: str, told: str) -> None:
    assert told in row(name)


def test_rules() -> None:
    bootstrap = " ".join(CLAIMS[CLAIMS.index("- Differences of means have") :].split())
    assert f"{RESAMPLES} resamples" in bootstrap[:200]
    assert f"is below {PAIRED_ALPHA}." in paragraph("### Verdict")
    assert f"a factor of at least {SPREADS_APART}" in paragraph("### Spread")
    published = " ".join(CLAIMS[CLAIMS.index("## Published values") :].split())
    assert f"within {TOLERANCE:.0%} of".replace("%", " %") in published


def test_few_pairs() -> None:
    told = paragraph("### What is not shown as a difference")
    assert f"five pairs that all point the same way have p = {smallest_p(5)}," in told
    assert f"It takes {fewest_pairs()} pairs for one comparison" in told


def test_coverage() -> None:
    five = [1.0, 2.0, 3.0, 4.0, 5.0]
    of_runs, of_pairs = median_interval(five), typical_interval(five)
    assert of_runs is not None
    assert of_pairs is not None
    assert f"({of_runs.coverage * 100:.2f} % for five)" in row("median and its 95 % interval")
    assert f"(five have {of_pairs.coverage * 100:.2f} %)" in row("its 95 % interval")
