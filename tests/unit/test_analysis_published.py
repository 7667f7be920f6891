"""Published values beside ours."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from headway.analysis import Analysis, Verdict, analyse
from headway.analysis.published import Agreement, beside, evidence
from headway.analysis.publishedorder import orders
from headway.errors import WrongInputError
from headway.study.published import RunInterval, TimeOrigin
from tests.unit import made_results as made

Times = Sequence[float | None]


def entry(value: float, contender: str = "h3", **more: Any) -> dict[str, Any]:
    told = {"cell": "cell", "contender": contender, "metric": "total_s", "value": value}
    return {**told, "unit": "%" if more.get("against") else "s", "source": "Table 1", **more}


def analysed(times: Mapping[str, Times], *published: dict[str, Any], **columns: Any) -> Analysis:
    told = made.experiments({"baseline": "h2", "published": published})
    return analyse(made.results(made.runs(times, **columns), told))


@pytest.mark.parametrize(
    "times, published, agreement, words",
    [
        ([9.0, 9.2, 9.4], 9.0, Agreement.AGREES, "agrees within 2.2 %"),
        ([2.0] * 3, 2.0, Agreement.AGREES, "agrees within 0 %"),
        ([2.3] * 3, 2.0, Agreement.AGREES, "agrees within 15 %"),
        ([2.31] * 3, 2.0, Agreement.DIFFERS, "differs by a factor of 1.16"),
        ([1.0] * 3, 2.0, Agreement.DIFFERS, "differs by a factor of 2.00"),
        ([2.3, 2.6, 2.9], 2.1, Agreement.AGREES, "agrees, because our interval holds it"),
        ([1.0, 2.0, 3.0], 3.5, Agreement.UNDECIDED, "undecided"),  # from -0.5 to 4.5
        ([3.0], 2.0, Agreement.DIFFERS, "differs by a factor of 1.50"),
        ([1.0], 0.0, Agreement.DIFFERS, "differs in size"),
        ([None, None], 2.0, Agreement.NOT_MEASURED, "not measured"),
    ],
)
def test_a_contenders_own_value(
    times: Times, published: float, agreement: Agreement, words: str
) -> None:
    (found,) = beside(analysed({"h3": times}, entry(published)))
    assert (found.agreement, found.words) == (agreement, words)


def test_our_mean_stands_beside_it_with_everything_that_explains_it() -> None:
    columns = {"retransmits": 41, "server_cc": "reno", "limited_by": "loss"}
    times = [1.0, 2.0, 6.0, None]
    (found,) = beside(analysed({"h2": times}, entry(6.0, "h2", why="Reno then"), **columns))
    assert (found.value, found.ratio) == (3.0, 0.5)
    assert found.interval is not None
    assert found.interval.low < 3.0 < found.interval.high
    assert (found.published.source, found.published.why) == ("Table 1", "Reno then")
    assert found.side is not None
    assert found.side.sample is not None
    assert (found.side.sample.median, found.side.sample.n, found.side.failures) == (2.0, 3, 1)
    assert evidence(found.side) == (
        "limited by loss in 3 of 4 runs; 41 packets lost or sent again (median); server reno"
    )


def test_a_median_stands_beside_our_median() -> None:
    mean, median = beside(
        analysed({"h2": [1.0, 2.0, 6.0]}, entry(3.0, "h2"), entry(3.0, "h2", statistic="median"))
    )
    assert (mean.value, median.value) == (3.0, 2.0)
    assert median.interval is not None
    assert (median.interval.low, median.interval.high) == (1.0, 6.0)


def test_a_difference_of_means_and_one_of_medians() -> None:
    times = {"h2": [1.0, 2.0, 9.0], "h3": [1.0, 1.0, 1.0]}
    mean, median = beside(
        analysed(times, *(entry(-50, against="h2", statistic=one) for one in ("mean", "median")))
    )
    assert (mean.value, median.value) == (pytest.approx(-75), pytest.approx(-50))
    assert mean.interval is not None
    # All of a resample may be 9 s, or 1 s.
    assert -89 < mean.interval.low < mean.interval.high == 0


def test_evidence_without_samples_of_the_transfer() -> None:
    (found,) = beside(analysed({"h3": [1.0]}, entry(1.0), limited_by=None, proxy_cc="bbr"))
    assert found.side is not None
    assert evidence(found.side) == "proxy bbr, server nginx's own"


STEADY = [10.0, 10.1, 10.2, 9.9, 9.8]


@pytest.mark.parametrize(
    "share, published, agreement",
    [
        (0.7, -30, Agreement.AGREES),
        (0.7, -27, Agreement.AGREES),  # off by 11 %
        (0.7, -25, Agreement.DIRECTION),  # off by 20 %
        (0.7, -80, Agreement.DIRECTION),
        (0.7, 30, Agreement.DISAGREES),
        (1.4, -30, Agreement.DISAGREES),
        (0.995, -30, Agreement.DISAGREES),  # ours is practically equal
        (1.0, 0, Agreement.AGREES),
        (1.0, -30, Agreement.DISAGREES),
    ],
)
def test_a_relative_difference(share: float, published: float, agreement: Agreement) -> None:
    times = {"h2": STEADY, "h3": [share * value for value in STEADY]}
    (found,) = beside(analysed(times, entry(published, against="h2")))
    assert found.value == pytest.approx(100 * (share - 1))
    assert (found.agreement, found.words) == (agreement, agreement.value)
    assert found.comparison is not None
    assert found.against is not None
    assert found.against.contender == "h2"
    assert found.interval is not None
    assert found.interval.low == pytest.approx(100 * (share - 1))


def test_a_difference_with_a_wide_interval_decides_nothing_that_it_holds() -> None:
    times = {"h2": [1.0, 1.3, 1.1, 1.6, 1.2], "h3": [1.1, 1.2, 1.3, 1.5, 1.0]}
    held, not_held = beside(analysed(times, entry(-5, against="h2"), entry(300, against="h2")))
    assert held.agreement is Agreement.UNDECIDED
    assert not_held.agreement is Agreement.DISAGREES


def test_a_single_run_can_agree_in_direction() -> None:
    (found,) = beside(analysed({"h2": [2.0], "h3": [1.0]}, entry(-20, against="h2")))
    assert found.agreement is Agreement.DIRECTION
    assert found.ratio == pytest.approx(2.5)


def test_a_pair_that_the_experiment_does_not_compare() -> None:
    times = {"h1": [1.0, 1.0], "h2": [5.0, 5.0], "h3": [2.0, 2.0]}
    (found,) = beside(analysed(times, entry(100, "h3", against="h1")))
    assert (found.value, found.agreement) == (100, Agreement.AGREES)


def test_what_we_did_not_run_is_not_measured() -> None:
    published = (
        entry(1.0, cell="elsewhere"),
        entry(1.0, "h9"),
        entry(1.0, cell=""),
        entry(-5.0, against="h9"),
        entry(-5.0, against="h2"),
    )
    found = beside(analysed({"h3": [1.0], "h2": [None]}, *published))
    assert {one.agreement for one in found} == {Agreement.NOT_MEASURED}
    assert [one.title for one in found[:2]] == ["elsewhere", ""]
    assert found[4].comparison is not None


def test_values_of_other_metrics_are_left_to_them() -> None:
    told = made.experiments({"published": [entry(1.0), entry(0.5, metric="ttfb_s")]})
    results = made.results(made.runs({"h3": [1.0]}, ttfb_s=0.5), told)
    assert len(beside(analyse(results))) == 1
    (found,) = beside(analyse(results, metric="ttfb_s"))
    assert (found.value, found.agreement) == (0.5, Agreement.AGREES)


def test_milliseconds_stand_beside_milliseconds() -> None:
    times = {"h2": [1.0, 1.1, 1.2], "h3": [2.0, 2.2, 2.4]}
    analysis = analysed(times, entry(1100.0, "h2", unit="ms"), entry(2.0, "h3"))
    ours, _ = beside(analysis)
    assert ours.value == pytest.approx(1100)
    assert ours.interval is not None
    assert ours.interval.low < 1100 < ours.interval.high < 2000
    (order,) = orders(analysis)
    assert order.published == pytest.approx((2.0, 1.1))
    assert order.same


FIRST_BYTE_S = 0.25
"""Of each flow below: in the middle of an interval, all of whose bytes come after it."""


def flowing(*published: dict[str, Any], first_byte_s: float | None = FIRST_BYTE_S) -> Analysis:
    """Two bulk flows a contender, 0.25 to 2.35 s: h2 has 2 Mbit/s; h3 1, and 3 from 1.3 s on."""
    got = {
        "h2": [0, 0, 12_500, *[25_000] * 20, 12_500],
        "h3": [0, 0, 6_250, *[12_500] * 10, *[37_500] * 10, 18_750],
    }
    rows = [
        made.run(name, seed, 2.35, received_bytes=got[name], ttfb_s=first_byte_s, goodput_mbit=2.0)
        for name in got
        for seed in (1, 2)
    ]
    told = {"baseline": "h2", "metrics": ["goodput_mbit"], "published": published}
    return analyse(made.results(rows, made.experiments(told)))


def goodput(value: float, contender: str, **more: Any) -> dict[str, Any]:
    told = {"metric": "goodput_mbit", "unit": "Mbit/s", "from": "50 ms", "to": "1.05 s"}
    return entry(value, contender, **{**told, "origin": "first byte", **more})


LATE = {"from": "1.05 s", "to": "2.05 s"}


def test_goodput_of_an_interval_stands_beside_ours_from_the_same_origin() -> None:
    whole = {"from": "0 ms", "to": "2.35 s", "origin": "start"}
    first = {"from": "0 ms", "to": "50 ms"}
    found = beside(
        flowing(
            goodput(2.0, "h2"),
            goodput(2.0, "h3"),
            goodput(3.3, "h3", **LATE),
            goodput(2.0, "h2", **first),
            goodput(2.0, "h2", **whole),
        )
    )
    assert [one.value for one in found] == pytest.approx([2.0, 1.0, 3.0, 2.0, 2.0 * 2.1 / 2.35])
    assert found[0].published.span == RunInterval(0.05, 1.05, TimeOrigin.FIRST_BYTE)
    words = ["agrees within 0 %", "differs by a factor of 2.00", "agrees within 9.1 %"]
    assert [one.words for one in found[:3]] == words
    assert [str(one.published.span) for one in found[3:]] == [
        "0 to 0.05 s after the first byte",
        "0 to 2.35 s",
    ]


@pytest.mark.parametrize(
    ("first_byte_s", "span"),
    [
        (FIRST_BYTE_S, {"from": "1.5 s", "to": "2.2 s"}),  # 2.45 s after the start, 2.35 were run
        (FIRST_BYTE_S, {"from": "2 s", "to": "2.4 s", "origin": "start"}),
        (None, LATE),
    ],
)
def test_what_the_runs_did_not_last_for_is_not_measured(
    first_byte_s: float | None, span: dict[str, str]
) -> None:
    (found,) = beside(flowing(goodput(2.0, "h2", **span), first_byte_s=first_byte_s))
    assert found.agreement is Agreement.NOT_MEASURED


def test_differences_of_goodput_in_an_interval() -> None:
    (found,) = beside(flowing(goodput(-40, "h3", against="h2", unit="%")))
    assert found.value == pytest.approx(-50)
    assert found.agreement is Agreement.DIRECTION


def test_who_is_ahead_in_an_interval() -> None:
    early = (goodput(2.0, "h2"), goodput(1.5, "h3"))
    late = (goodput(2.0, "h2", **LATE), goodput(1.5, "h3", **LATE))
    found = orders(flowing(*early, *late))
    assert [(one.span and one.span.to_s, one.ours, one.same) for one in found] == [
        (1.05, Verdict.SLOWER, True),
        (2.05, Verdict.FASTER, False),
    ]


def test_values_at_a_single_time_of_older_results_are_refused() -> None:
    with pytest.raises(WrongInputError, match="`at` is now `from`, `to` and `origin`"):
        flowing(goodput(2.0, "h2", at="5 s"))


def test_runs_without_flows_have_no_goodput_at_a_time() -> None:
    told = {"metrics": ["goodput_mbit"], "published": [goodput(1.0, "h3")]}
    rows = made.runs({"h3": [1.0, 1.0]}, goodput_mbit=8.0)
    (found,) = beside(analyse(made.results(rows, made.experiments(told))))
    assert found.agreement is Agreement.NOT_MEASURED


@pytest.mark.parametrize(
    "published, message",
    [
        (entry(0.2, unit="min"), "the unit must be 's' or 'ms', not 'min'"),
        (entry(-3.0, against="h2", unit="s"), "the unit must be '%', not 's'"),
    ],
)
def test_a_wrong_unit_is_said(published: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongInputError, match=message):
        beside(analysed({"h3": [1.0]}, published))


@pytest.mark.parametrize(
    "h3, published, theirs, ours, same",
    [
        ([1.0] * 3, (15, 106), Verdict.FASTER, Verdict.FASTER, True),
        ([3.0] * 3, (15, 106), Verdict.FASTER, Verdict.SLOWER, False),
        ([2.0] * 3, (15, 106), Verdict.FASTER, Verdict.EQUAL, False),
        ([2.005] * 3, (15, 106), Verdict.FASTER, Verdict.EQUAL, False),
        ([1.0, 2.0, 3.3], (15, 106), Verdict.FASTER, Verdict.UNDECIDED, False),
        ([1.0], (15, 106), Verdict.FASTER, Verdict.FASTER, True),
        ([1.0, 1.1, 1.9], (15, 106), Verdict.FASTER, Verdict.FASTER, True),  # by the interval
        ([2.2] * 3, (9, 9), Verdict.EQUAL, Verdict.SLOWER, True),  # within 15 %
        ([2.4] * 3, (9, 9), Verdict.EQUAL, Verdict.SLOWER, False),
        ([None], (15, 106), Verdict.FASTER, Verdict.INCOMPARABLE, None),
    ],
)
def test_two_own_values_have_an_order(
    h3: Times, published: tuple[float, float], theirs: Verdict, ours: Verdict, same: bool | None
) -> None:
    entries = (entry(published[1], "h2"), entry(published[0], "h3"), entry(1.0, "h1"))
    (found,) = orders(analysed({"h2": [2.0] * 3, "h3": h3}, *entries))
    assert (found.theirs, found.ours, found.same) == (theirs, ours, same)
    assert found.published == published


def test_no_order_of_one_value() -> None:
    assert orders(analysed({"h2": [2.0], "h3": [1.0]}, entry(1.0), entry(-3, against="h2"))) == ()
