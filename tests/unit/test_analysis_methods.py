"""docs/methods.md states the numbers that the analysis uses."""

from pathlib import Path

import numpy as np
import pytest

from headway.analysis.intervals import LEVEL, RESAMPLES, median_interval, percentile_interval
from headway.analysis.published import TOLERANCE
from headway.analysis.significance import (
    KOLMOGOROV_SMIRNOV_ALPHA,
    MANN_WHITNEY_ALPHA,
    MOST_EXACT,
    MOST_EXACT_KOLMOGOROV_SMIRNOV,
    MOST_EXACT_TIED,
    WELCH_ALPHA,
    mann_whitney,
)
from headway.analysis.verdict import NEGLIGIBLE, SPREADS_APART

PAGE = (Path(__file__).parents[2] / "docs" / "methods.md").read_text()


def row(name: str) -> str:
    """The table's row of this quantity."""
    (found,) = (line for line in PAGE.splitlines() if line.startswith(f"| {name} |"))
    return found


def paragraph(start: str) -> str:
    """The paragraphs from this start to the next heading, as one line."""
    text = PAGE[PAGE.index(start) :]
    return " ".join(text[: text.find("\n**", 1)].split())


@pytest.mark.parametrize(
    "name, told",
    [
        ("median and its 95 % interval", f"{LEVEL * 100:.0f} %"),
        ("mean and its 95 % interval", f"{LEVEL * 100:.0f} %"),
        ("its 95 % interval", f"{RESAMPLES} resamples"),
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
    assert f"Medians within {NEGLIGIBLE:.0%}".replace("%", " %") in paragraph("**Verdict.**")
    assert f"a factor of {SPREADS_APART} at least" in paragraph("**Spread.**")
    published = " ".join(PAGE[PAGE.index("## Published values") :].split())
    assert f"within {TOLERANCE:.0%} of".replace("%", " %") in published


def test_five_runs() -> None:
    five = [1.0, 2.0, 3.0, 4.0, 5.0]
    interval = median_interval(five)
    (ranks,) = mann_whitney([(five, [value + 10 for value in five])])
    assert interval is not None
    assert ranks is not None
    assert f"({interval.coverage * 100:.2f} % for five)" in row("median and its 95 % interval")
    assert f"p-value is {ranks.smallest_p:.4f}" in paragraph("**Verdict.**")


def test_coverage_of_the_bootstrap() -> None:
    three, five = (percentile_interval(np.array([0.0, 1.0]), n).coverage for n in (3, 5))
    assert f"{three * 100:.0f} % for three runs, {five * 100:.2f} % for five" in row(
        "its 95 % interval"
    )
