"""Which claims planned runs can decide: of short forms, and of each rule what the rule itself then says."""

from __future__ import annotations

from typing import Any

import pytest

from headway.analysis.intervals import median_interval
from headway.errors import WrongInputError
from headway.planning import decidable
from headway.planning.decidable import outlook, prospects
from headway.planning.region import Region
from headway.statistics.interval import LEVEL, share_interval
from headway.study.experiment import Experiment, Study
from headway.study.library import builtin_names, reproduces
from tests.builtin_studies import builtin_study


def short_forms() -> list[str]:
    names = [name for name in builtin_names() if reproduces(name)]
    assert {"liu2024", "kosek2022", "kakhki2017", "sander2022", "perna2022"} <= {*names}
    return names


@pytest.mark.parametrize("name", short_forms())
def test_a_short_form_decides_every_claim_that_it_measures(name: str) -> None:
    try:
        study = builtin_study(name, quick=True)
    except WrongInputError:
        assert name not in {"liu2024", "kosek2022", "kakhki2017", "sander2022", "perna2022"}
        return
    every = [one for experiment in study.experiments for one in prospects(experiment)]
    measured = [one for one in every if one.measured]
    assert len(measured) > len(every) / 2
    assert not [one.claim.says for one in measured if not one.can_break]
    # Published shares of sites are met, within 15 %, by hundreds of sites only.
    open_ended = [one for one in measured if not one.can_hold]
    assert all(one.claim.rule.kind == "sites" for one in open_ended)


def experiment(rule: dict[str, Any], repetitions: int = 6, **more: Any) -> Experiment:
    claim = {"says": "so", "rule": rule, **more.pop("claim", {})}
    table = {
        "repetitions": repetitions,
        "contenders": {"h2": {}, "h3": {}},
        "axes": {"path.rtt": ["20 ms", "40 ms", "60 ms"]},
        "claims": [claim],
        **more,
    }
    study = Study.model_validate({"name": "s", "experiments": [table]})
    return study.experiments[0]


ORDER = {"kind": "order", "contenders": ["h3", "h2"]}
GAP = {"kind": "difference", "contender": "h3", "against": "h2", "low": 0}
MONOTONE = {"kind": "monotone", "contender": "h2", "axis": "path.rtt", "trend": "rising"}
CORRELATION = {"kind": "correlation", "contender": "h2", "axis": "path.rtt", "trend": "rising"}
FAILURES = {"kind": "failures", "contender": "h2", "high": 20}
MEDIAN = {"kind": "value", "contender": "h2", "low": 1, "statistic": "median"}
MEAN = {"kind": "value", "contender": "h2", "low": 1}


@pytest.mark.parametrize(
    "region",
    [
        Region(30, 50),
        Region(30, 50, has_edges=True),
        Region(low=60),
        Region(high=10),
        Region(-1, 20),
        Region(80, 101),
        Region(0, 100, has_edges=True),
        Region(49, 51),
    ],
)
def test_the_fewest_observations_are_those_of_all_shares(
    region: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decidable, "MOST_NEEDED", 120)
    every = {
        n: [share_interval(count, n).scaled(100) for count in range(n + 1)] for n in range(1, 121)
    }
    fewest = tuple(
        next((n for n, intervals in every.items() if any(map(test, intervals))), None)
        for test in (region.holds, region.excludes)
    )
    assert decidable._fewest_of_share.__wrapped__(region) == fewest


@pytest.mark.parametrize(
    ("rule", "enough"), [(ORDER, 6), (GAP, 6), (MONOTONE, 6), (MEDIAN, 6), (MEAN, 2), (FAILURES, 6)]
)
def test_repetitions_that_are_enough_and_one_less_are_not(
    rule: dict[str, Any], enough: int
) -> None:
    for repetitions, decides in ((enough, True), (enough - 1, False)):
        (found,) = prospects(experiment(rule, repetitions))
        assert (found.can_hold and found.can_break) is decides


def test_six_repetitions_are_the_fewest_of_which_an_interval_has_its_level() -> None:
    for n in (5, 6):
        interval = median_interval([*map(float, range(n))])
        assert interval
        (found,) = prospects(experiment(ORDER, n))
        assert found.can_hold is interval.reaches_level is (interval.coverage >= LEVEL)


def test_a_share_takes_as_many_runs_as_its_interval_needs() -> None:
    """No failure of 17 is shown to be at most 20 %, of 16 it is not; and three that fail are more."""
    assert share_interval(0, 17).high <= 0.2 < share_interval(0, 16).high
    (found,) = prospects(experiment(FAILURES, 5, axes={"path.rtt": ["20 ms"]}))
    assert (found.to_hold, found.planned) == (17, 5)
    assert not found.can_hold
    assert "17" in found.lack


def test_a_correlation_takes_six_cells() -> None:
    for cells, decides in ((5, False), (6, True)):
        axes = {"path.rtt": [f"{20 * place} ms" for place in range(1, cells + 1)]}
        (found,) = prospects(experiment(CORRELATION, axes=axes))
        assert (found.planned, found.can_hold) == (cells, decides)


def test_what_is_left_out_is_not_measured() -> None:
    elsewhere = {"where": {"path.rtt": "80 ms"}}
    (found,) = prospects(experiment(ORDER, claim=elsewhere))
    assert not found.measured
    (found,) = prospects(experiment(ORDER, exclude=[{"contender": "h3"}]))
    assert not found.measured
    one_step = experiment(MONOTONE, axes={"path.rtt": ["20 ms"]})
    assert not prospects(one_step)[0].measured


def test_looks_at_the_results_take_more_repetitions() -> None:
    looked_at = experiment(ORDER, 6)
    until = experiment(ORDER, {"until": "5 %", "most": 40})  # type: ignore[arg-type]
    (once,), (often,) = prospects(looked_at), prospects(until)
    assert once.to_hold and often.to_hold and once.to_hold < often.to_hold <= often.planned


def test_a_plan_says_how_many_claims_can_be_decided_and_what_the_others_take() -> None:
    assert [*outlook([experiment(ORDER)])] == [
        "1 claim of 1 can be decided by runs that scatter little."
    ]
    first, second = outlook([experiment(ORDER, 3)])
    assert first.startswith("0 claims of 1")
    assert "takes 6, and has 3 repetitions" in second
    assert not [*outlook([experiment(ORDER).model_copy(update={"claims": ()})])]
