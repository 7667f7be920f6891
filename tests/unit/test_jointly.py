"""One verdict over several metrics: agreement first, and a trade is called one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from headway.analysis import analyse
from headway.analysis.jointly import JointVerdict, joint_verdicts
from headway.report.glance import joint_glance
from tests.unit import made_results as made

METRICS = ("total_s", "ttfb_s", "goodput_mbit")
STEPS = (0.0, 0.01, -0.01, 0.02, -0.02, 0.015, -0.015, 0.005)


def joint(cells: Sequence[Mapping[str, Sequence[float]]]) -> JointVerdict:
    """The verdict of h3 against h2; each cell has what both measured by each metric."""
    rows = [
        made.run(
            contender,
            seed,
            total * (1 + step),
            cell=f"cell-{number}",
            rtt_ms=10.0 * (number + 1),
            ttfb_s=ttfb * (1 + step),
            goodput_mbit=goodput * (1 - step),
        )
        for number, cell in enumerate(cells)
        for contender, (total, ttfb, goodput) in cell.items()
        for seed, step in enumerate(STEPS, start=1)
    ]
    told = made.experiments({"name": "", "baseline": "h2", "metrics": list(METRICS)})
    results = made.results(rows, told)
    (experiment,) = results.experiments
    analyses = [analyse(results, experiment, metric) for metric in METRICS]
    (verdict,) = joint_verdicts(analyses)
    assert joint_glance(analyses)[0].parts[0][1].text == verdict.clause
    assert joint_verdicts(analyses[:1]) == ()
    return verdict


H2 = (1.0, 0.5, 8.0)


@pytest.mark.parametrize(
    ("cells", "clause", "tone"),
    [
        (
            [{"h2": H2, "h3": (0.8, 0.4, 8.0)}],
            "sooner in time to the last byte and time to the first byte, the same in goodput",
            "better",
        ),
        (
            [{"h2": H2, "h3": (0.8, 0.6, 10.0)}],
            "sooner in time to the last byte, later in time to the first byte, higher in goodput: a trade",
            "mixed",
        ),
        (
            [{"h2": H2, "h3": (0.8, 0.5, 8.0)}, {"h2": H2, "h3": (1.2, 0.5, 8.0)}],
            "now sooner, now later in time to the last byte, the same in time to the first byte and goodput: a trade",
            "mixed",
        ),
        (
            [{"h2": H2, "h3": H2}],
            "the same in all 3 metrics: time to the last byte, time to the first byte and goodput",
            "same",
        ),
    ],
)
def test_metrics_are_judged_together(
    cells: Sequence[Mapping[str, Sequence[float]]], clause: str, tone: str
) -> None:
    verdict = joint(cells)
    assert (verdict.clause, verdict.tone) == (clause, tone)
    assert verdict.sentence == f"h3 against h2, by all metrics: {clause}."


def test_each_metric_has_its_size_and_its_conditions() -> None:
    cells = [{"h2": H2, "h3": (0.8, 0.4, 8.0)}, {"h2": H2, "h3": (1.0, 0.45, 8.0)}]
    said = [one.said for one in joint(cells).outcomes]
    assert said == ["20 % sooner in 1 of 2 conditions", "10 to 20 % sooner", "the same"]
