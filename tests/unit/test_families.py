"""Which comparisons are adjusted for their number together, and what the page says of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from headway.analysis import analyse
from headway.analysis.compare import Comparison
from headway.analysis.result_loading import StudyResults
from headway.analysis.verdict import Verdict
from headway.planning.needed_repetitions import too_few
from headway.planning.runs import plan
from headway.records.manifest import manifest_from
from headway.report import write_report
from headway.study.load import study_from
from tests.unit import made_results as made

METRICS = ("total_s", "ttfb_s")
EXPERIMENTS = ("one", "two", "three")
CELLS = ("near", "far")


def results(adjust: str | None, h3: float, seed: int = 1, runs: int = 10) -> StudyResults:
    """Three experiments of two cells and two metrics; h3 takes so many times as long as h2, but for chance."""
    drawn = random.Random(seed)
    rows = [
        made.run(
            name,
            number,
            drawn.uniform(0.9, 1.1) * (h3 if name == "h3" else 1),
            ttfb_s=drawn.uniform(0.09, 0.11) * (h3 if name == "h3" else 1),
            experiment=experiment,
            cell=cell,
            rtt_ms={"near": 20.0, "far": 100.0}[cell],
        )
        for experiment in EXPERIMENTS
        for cell in CELLS
        for number in range(1, runs + 1)
        for name in ("h2", "h3")
    ]
    return made.results(rows, manifest(adjust))


def manifest(adjust: str | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": "made",
        "experiments": [
            {
                "name": name,
                "baseline": "h2",
                "metrics": list(METRICS),
                "contenders": {"h2": {}, "h3": {}},
            }
            for name in EXPERIMENTS
        ],
    }
    return made.MANIFEST | {"study": told | ({"adjust": adjust} if adjust else {})}


def comparisons(found: StudyResults) -> dict[tuple[str, str], list[Comparison]]:
    return {
        (experiment.name, metric): [
            comparison for _, comparison in analyse(found, experiment, metric).comparisons
        ]
        for experiment in found.experiments
        for metric in METRICS
    }


@pytest.mark.parametrize(
    ("adjust", "groups"),
    [
        (None, [[(name, metric)] for name in EXPERIMENTS for metric in METRICS]),
        ("metric", [[(name, metric)] for name in EXPERIMENTS for metric in METRICS]),
        ("experiment", [[(name, metric) for metric in METRICS] for name in EXPERIMENTS]),
        ("study", [[(name, metric) for name in EXPERIMENTS for metric in METRICS]]),
    ],
)
def test_p_values_are_adjusted_over_the_family_that_the_study_names(
    adjust: str | None, groups: list[list[tuple[str, str]]]
) -> None:
    found = comparisons(results(adjust, h3=1.07))
    for group in groups:
        tests = [comparison.test for key in group for comparison in found[key]]
        ps = [test.p for test in tests if test]
        assert len(ps) == len(group) * len(CELLS)
        expected = stats.false_discovery_control(ps)
        assert [test.adjusted for test in tests if test] == pytest.approx(list(expected))
        assert {test.family for test in tests if test} == {len(ps)}


def test_a_wider_family_has_wider_intervals_and_they_leave_out_zero_where_it_is_significant() -> (
    None
):
    alone, together = (comparisons(results(adjust, h3=1.05)) for adjust in ("metric", "study"))
    levels = set()
    for key, own in together.items():
        for narrow, wide in zip(alone[key], own, strict=True):
            one, other = narrow.relative_interval, wide.relative_interval
            assert one and other and wide.test
            levels.add(round(other.level, 9))
            if other.reaches_level:
                clear = other.low > 0 or other.high < 0
                assert clear == wide.test.significant
    significant = sum(
        comparison.test.significant
        for own in together.values()
        for comparison in own
        if comparison.test
    )
    assert levels == {round(1 - 0.05 * max(1, significant) / 12, 9)}


def false_findings(adjust: str, studies: Sequence[int]) -> float:
    """Share of studies in which nothing differs and something is said to."""
    return sum(
        any(
            comparison.verdict in (Verdict.FASTER, Verdict.SLOWER)
            for own in comparisons(results(adjust, h3=1.0, seed=seed)).values()
            for comparison in own
        )
        for seed in studies
    ) / len(studies)


def test_of_studies_in_which_nothing_differs_few_say_that_something_does() -> None:
    studies = range(1000, 1120)
    apart, together = (false_findings(adjust, studies) for adjust in ("metric", "study"))
    # Six families at 5 % each say something in 1 - 0.95^6 = 26 % of studies; one says it in 5 %.
    assert together <= 0.11 < apart


@pytest.mark.parametrize(
    ("adjust", "sentence"),
    [
        (
            None,
            "adjusted for 2 comparisons together, those of this experiment by this metric; the study has 6 such families "
            "(3 experiments and 2 metrics), which are not adjusted for one another",
        ),
        (
            "experiment",
            "adjusted for 4 comparisons together, those of this experiment by all its metrics; the study has 3 such "
            "families (3 experiments and 2 metrics)",
        ),
        (
            "study",
            "adjusted for 12 comparisons together, those of the study; that is all of the study",
        ),
    ],
)
def test_the_page_says_in_a_sentence_what_is_adjusted_for(
    adjust: str | None, sentence: str, tmp_path: Path
) -> None:
    found = results(adjust, h3=1.07)
    rows = found.runs.to_dicts()
    page = write_report(made.saved(tmp_path / "out", rows, manifest(adjust))).read_text()
    assert sentence in " ".join(page.replace("\u00a0", " ").split())


def test_a_study_of_one_comparison_needs_no_such_sentence(tmp_path: Path) -> None:
    rows = [*made.runs({"h2": [1.0, 1.1, 0.9] * 4, "h3": [2.0, 2.1, 1.9] * 4})]
    page = write_report(made.saved(tmp_path / "out", rows)).read_text()
    assert "Verdicts and intervals are adjusted" not in page


def test_what_is_too_few_is_told_of_the_whole_family() -> None:
    study = {
        "name": "own",
        "repetitions": 7,
        "metrics": ["total_s", "ttfb_s", "connect_s", "tls_s"],
        "axes": {"protocol": ["h2", "h3"]},
    }
    notes = {
        adjust: too_few(made_study, plan(made_study))
        for adjust in ("metric", "study")
        for made_study in [study_from(study | {"adjust": adjust})]
    }
    assert notes["metric"] == ()
    (note,) = notes["study"]
    assert note.startswith("own: 4 comparisons in 1 cell") and "of 8 a single one can" in note


def test_a_manifest_that_says_nothing_is_of_the_usual_families() -> None:
    assert manifest_from(made.MANIFEST).study.adjust == "metric"
