"""Budgets: claims of metrics' limits, percentiles with exact intervals, and what is told of wrong ones."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from scipy import stats

from headway.analysis.claim_estimate import Finding, Judgement
from headway.planning.region import Region
from headway.statistics.quantiles import fewest_below, quantile
from headway.study.claim import Gap, Quantile, Value
from headway.study.experiment import Experiment
from headway.study.load import Source, parse_study
from headway.study.published import Statistic

BASE = """name = "s"
metrics = ["lcp_s"]
client.program = "chromium"
server.program = "headway-server"
[contenders]
before.protocol = "h2"
after.protocol = "h3"
[axes]
path.rtt = ["10 ms", "50 ms"]
[workload]
kind = "page"
site = "kepler"
"""


def parse(budget: str) -> Experiment:
    text = f"{BASE}{budget}"
    return parse_study(Source("s.toml", text, Path())).experiments[0]


def test_a_budget_is_a_claim_for_each_contender() -> None:
    experiment = parse(
        '[budget]\nlcp_s = { most = "1.8 s", at = "p75" }\ntbt_ms = { most = "200 ms", of = "after" }\n'
        'fcp_s = [{ most = "5 %", against = "before" }, { most = "3 s", at = "mean", where = { path.rtt = "10 ms" } }]\n'
        "cls = { most = 0.1, of = ['before'] }\n"
    )
    assert experiment.metrics == ("lcp_s", "tbt_ms", "fcp_s", "cls")
    assert [(claim.metric, claim.rule) for claim in experiment.claims] == [
        ("lcp_s", Quantile(kind="quantile", contender="before", at=75, high=1.8)),
        ("lcp_s", Quantile(kind="quantile", contender="after", at=75, high=1.8)),
        ("tbt_ms", Value(kind="value", contender="after", high=200, statistic=Statistic.MEDIAN)),
        ("fcp_s", Gap(kind="difference", contender="after", against="before", high=5)),
        ("fcp_s", Value(kind="value", contender="before", high=3, statistic=Statistic.MEAN)),
        ("fcp_s", Value(kind="value", contender="after", high=3, statistic=Statistic.MEAN)),
        ("cls", Value(kind="value", contender="before", high=0.1, statistic=Statistic.MEDIAN)),
    ]
    assert experiment.claims[0].says == "budget: LCP of before, p75, at most 1.8 s"
    assert experiment.claims[3].says == "budget: FCP of after at most 5 % more than that of before"
    assert experiment.claims[4].where == {"path.rtt": "10 ms"}


@pytest.mark.parametrize(("n", "share"), [(5, 0.5), (8, 0.75), (13, 0.75), (20, 0.9), (100, 0.75)])
def test_intervals_of_percentiles_cover_as_they_say(n: int, share: float) -> None:
    """Of values 1, 2, ... n, whose quantile is below the k-th with a binomial probability."""
    value, interval = quantile(range(1, n + 1), share)
    assert value == math.ceil(share * n)
    low, high = interval.low, interval.high
    missed = (stats.binom.cdf(low - 1, n, share) if low > 0 else 0) + (
        stats.binom.sf(high - 1, n, share) if high <= n else 0
    )
    assert interval.coverage == pytest.approx(1 - missed)
    assert interval.coverage >= 0.95
    # One value nearer on either side would not do.
    if low < n and low > 0:
        assert stats.binom.cdf(low, n, share) > 0.025


def test_the_upper_end_of_a_75th_percentile_takes_13_runs() -> None:
    """0.75 ** 13 is below 2.5 %, 0.75 ** 12 is not; and this is said of what fewer leave open."""
    assert (fewest_below(0.75), fewest_below(0.9)) == (13, 36)
    value, interval = quantile(range(8), 0.75)
    finding = Finding("p75", value, interval, Region(high=100), 8, "s", fewest=13)
    assert finding.judgement is Judgement.UNDECIDED
    assert finding.needed == 13
    assert math.isinf(quantile(range(12), 0.75)[1].high)
    assert not math.isinf(quantile(range(13), 0.75)[1].high)
