"""Claims over an axis: the typical one of many cells, as of a paper's sites, each cell one observation."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from headway.analysis.analysis import Analysis, analyse
from headway.analysis.claim_estimate import Judgement
from headway.analysis.claims import Judged, judge
from headway.analysis.claimwords import in_words, would_decide
from headway.study.claim import Claim
from tests.unit.made_claims import around
from tests.unit.made_results import experiments, results, runs

HOLDS, BROKEN, OPEN = Judgement.HOLDS, Judgement.BROKEN, Judgement.UNDECIDED
PAIR = {"contender": "h3", "against": "h2"}
ORDER = {"kind": "order", "contenders": ["h3", "h2"]}
SITE, LOSS = "workload.site", "path.loss"
LOSSES = ("0 %", "1 %", "2 %")

Gains = Mapping[str, Sequence[float]]
"""By loss, for each site what h3 takes of h2's time."""


def judged(gains: Gains, rule: Mapping[str, Any], noise: float = 0.5, **more: Any) -> Judged:
    """A claim over sites, which differ in their times by a factor of two from one to the next."""
    grid, rows = [], []
    for loss, by_site in gains.items():
        for site, gain in enumerate(by_site):
            name = f"cell-{site}-{loss}"
            grid.append({"name": name, "at": {SITE: f"site-{site}", LOSS: loss}})
            own = around(2.0**site, noise)
            times = {"h2": own, "h3": [gain * one for one in reversed(own)]}
            where = {"cell": name, "workload": f"page site-{site}"}
            rows += runs(times, loss_pct=float(loss.split()[0]), **where)
    told = {"name": "", "baseline": "h2", "metrics": ["total_s"], "grid": grid}
    told["axes"] = {SITE: [f"site-{n}" for n in range(len(by_site))], LOSS: [*gains]}
    claim = {"says": "so", "place": "here", "rule": rule, "over": SITE, **more}
    return judge(analyse(results(rows, experiments(told))), Claim.model_validate(claim))


MOST_GAIN = (0.7, 0.9, 0.8, 0.85, 0.75, 1.05, 0.88)


def test_an_estimate_is_that_of_the_cells_ratios() -> None:
    """Hodges and Lehmann's by hand: the median of the averages of every two logarithms."""
    logs = [math.log(gain) for gain in MOST_GAIN]
    averages = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(logs, 2)]
    (finding,) = judged({"0 %": MOST_GAIN}, ORDER).findings
    assert finding.value == pytest.approx(100 * math.expm1(statistics.median(averages)))
    assert finding.interval is not None
    # Of seven the interval is from the third smallest average to the third largest.
    low, high = sorted(averages)[2], sorted(averages)[-3]
    assert finding.interval.low == pytest.approx(100 * math.expm1(low))
    assert finding.interval.high == pytest.approx(100 * math.expm1(high))
    assert in_words(finding).endswith(" %, 7 sites)")
    assert finding.what == "7 sites: h3 against h2"


@pytest.mark.parametrize(
    ("gains", "rule", "expected"),
    [
        (MOST_GAIN, ORDER, HOLDS),
        ([1 / gain for gain in MOST_GAIN], ORDER, BROKEN),
        ((0.7, 1.3, 0.8, 1.25, 0.75, 1.2, 0.9), ORDER, OPEN),
        (MOST_GAIN, {"kind": "difference", **PAIR, "low": -30, "high": -1}, HOLDS),
        (MOST_GAIN, {"kind": "difference", **PAIR, "high": -30}, BROKEN),
        ((0.99, 1.01, 1.0, 0.98, 1.02, 1.0, 1.0), {"kind": "equal", **PAIR, "within": 5}, HOLDS),
        (MOST_GAIN, {"kind": "equal", **PAIR, "within": 2}, BROKEN),
    ],
)
def test_a_rule_over_sites(
    gains: Sequence[float], rule: Mapping[str, Any], expected: Judgement
) -> None:
    assert judged({"0 %": gains}, rule).judgement is expected


def test_sites_decide_what_no_site_decides_by_itself() -> None:
    """A difference of 3 % within scatter of 40 %, the same at ten sites."""
    gains = {"0 %": [0.97] * 10}
    alone = judged(gains, ORDER, noise=15, over=None, share=50)
    assert alone.judgement is OPEN
    assert judged(gains, ORDER, noise=15).judgement is HOLDS


SHRINKING = {loss: [gain**power for gain in MOST_GAIN] for power, loss in enumerate(LOSSES)}


@pytest.mark.parametrize(("trend", "expected"), [("falling", HOLDS), ("rising", BROKEN)])
def test_a_difference_goes_along_an_axis_from_site_to_the_same_site(
    trend: str, expected: Judgement
) -> None:
    rule = {"kind": "monotone", **PAIR, "axis": LOSS, "trend": trend}
    found = judged(SHRINKING, rule)
    assert found.judgement is expected
    assert [one.n for one in found.findings] == [7, 7]
    assert found.findings[0].what == "7 sites, loss 1 % after 7 sites, loss 0 %: h3 against h2"


def test_each_network_has_a_typical_site_of_its_own() -> None:
    networks = {"0 %": MOST_GAIN, "1 %": [1 / gain for gain in MOST_GAIN]}
    found = judged(networks, ORDER)
    assert [one.judgement for one in found.findings] == [HOLDS, BROKEN]
    assert judged(networks, ORDER, share=50).judgement is HOLDS
    only = judged(networks, ORDER, where={LOSS: "0 %"})
    assert [one.what for one in only.findings] == ["7 sites, loss 0 %: h3 against h2"]


def test_what_typically_was_nothing_is_infinitely_less() -> None:
    """Where the other has nothing at most sites there is no ratio that is finite, but an order there is."""
    found = judged({"0 %": [0.0] * 6 + [0.5]}, ORDER)
    assert (found.judgement, found.findings[0].value) == (HOLDS, -100)
    turned = judged({"0 %": [0.0] * 7}, {"kind": "order", "contenders": ["h2", "h3"]})
    assert (turned.judgement, turned.findings[0].value) == (BROKEN, math.inf)


def test_what_is_wanted_is_sites_and_not_repetitions() -> None:
    open_one = judged({"0 %": (0.7, 1.3, 0.8, 1.25, 0.75, 1.1, 0.9)}, ORDER)
    assert open_one.judgement is OPEN
    assert would_decide(open_one).endswith(" sites would decide")


def test_few_sites_decide_nothing() -> None:
    """Nor do two that are alike: other sites need not be."""
    assert judged({"0 %": [0.5] * 4 + [0.6]}, ORDER).judgement is OPEN
    assert judged({"0 %": [0.5, 0.5]}, ORDER).judgement is OPEN


def given_up(site: int, of: int = 10) -> list[dict[str, Any]]:
    """Runs at a site of which h3's first ones timed out."""
    own = around(1.0)
    rows = runs({"h2": own, "h3": [0.9 * one for one in own]}, cell=f"cell-{site}")
    for row in rows:
        if row["contender"] == "h3" and row["seed"] <= of:
            row |= {"status": "timeout", "total_s": None, "error": "given up"}
    return rows


@pytest.mark.parametrize(("timing_out", "expected"), [(10, BROKEN), (6, BROKEN), (4, HOLDS)])
def test_a_site_where_most_runs_timed_out_is_the_worst(
    timing_out: int, expected: Judgement
) -> None:
    """Of ten runs at each of six sites so many, at two others none; those that finished are a tenth faster."""
    rows = [row for site in range(8) for row in given_up(site, timing_out if site < 6 else 0)]
    assert judge(_plain(range(8), rows), CLAIM).judgement is expected


def test_sites_whose_visits_all_timed_out_count_as_the_worst_of_a_value() -> None:
    """Left out, the typical site would be one of those that are fast enough to be loaded."""
    rows = [row for site in range(8) for row in given_up(site, 10 if site < 3 else 0)]
    rule = {"kind": "value", "contender": "h3", "value": 0.9, "statistic": "median"}
    claim = Claim.model_validate({"says": "so", "place": "here", "rule": rule, "over": SITE})
    (finding,) = judge(_plain(range(8), rows), claim).findings
    assert finding.what == "8 sites: h3, 3 sites of which timed out"
    assert (finding.n, finding.interval and finding.interval.high) == (8, math.inf)
    rows = [row for site in range(8) for row in given_up(site, 10 if site < 6 else 0)]
    (finding,) = judge(_plain(range(8), rows), claim).findings
    assert (finding.value, finding.judgement) == (math.inf, OPEN)
    assert in_words(finding).endswith("∞ s (0.902 to ∞ s, 8 sites)")


def test_sites_of_one_contender_alone_are_not_held_against_others() -> None:
    rows = [row for site in range(12) for row in given_up(site, 0)]
    apart = [row for row in rows if (int(row["cell"][5:]) < 6) is (row["contender"] == "h3")]
    assert judge(_plain(range(12), apart), CLAIM).judgement is Judgement.NOT_MEASURED


CLAIM = Claim.model_validate({"says": "so", "place": "here", "rule": ORDER, "over": SITE})


def _plain(sites: range, rows: list[dict[str, Any]]) -> Analysis:
    told = {"name": "", "baseline": "h2", "metrics": ["total_s"]}
    grid = [{"name": f"cell-{n}", "at": {SITE: f"site-{n}"}} for n in sites]
    axes = {SITE: [f"site-{n}" for n in sites]}
    return analyse(results(rows, experiments(told | {"grid": grid, "axes": axes})))
