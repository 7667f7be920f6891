"""Published values beside ours."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from headway.analysis import Analysis, Verdict, analyse
from headway.analysis.published import Agreement, beside, evidence, orders
from headway.errors import WrongInputError
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
        ([2.3, 2.6, 2.9], 2.1, Agreement.AGREES, "agrees, as our interval holds it"),
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


def flowing(*published: dict[str, Any]) -> Analysis:
    """Two bulk flows a contender of 2 s each: h2 has 2 Mbit/s, h3 1 and then 3."""
    got = {"h2": [25_000] * 20, "h3": [*[12_500] * 10, *[37_500] * 10]}
    rows = [
        made.run(name, seed, 2.0, received_bytes=got[name], goodput_mbit=2.0)
        for name in got
        for seed in (1, 2)
    ]
    told = {"baseline": "h2", "metrics": ["goodput_mbit"], "published": published}
    return analyse(made.results(rows, made.experiments(told)))


def goodput(value: float, contender: str, **more: Any) -> dict[str, Any]:
    told = {"metric": "goodput_mbit", "unit": "Mbit/s", "at": "500 ms"}
    return entry(value, contender, **{**told, **more})


def test_goodput_at_a_time_stands_beside_ours_around_it() -> None:
    late = goodput(3.3, "h3", at="1.5 s")
    found = beside(flowing(goodput(2.0, "h2"), goodput(2.0, "h3"), late))
    assert [one.value for one in found] == pytest.approx([2.0, 1.0, 3.0])
    assert [one.published.at_s for one in found] == [0.5, 0.5, 1.5]
    words = ["agrees within 0 %", "differs by a factor of 2.00", "agrees within 9.1 %"]
    assert [one.words for one in found] == words


def test_differences_of_goodput_at_a_time() -> None:
    (found,) = beside(flowing(goodput(-40, "h3", against="h2", unit="%")))
    assert found.value == pytest.approx(-50)
    assert found.agreement is Agreement.DIRECTION


def test_who_is_ahead_at_a_time() -> None:
    early = (goodput(2.0, "h2"), goodput(1.5, "h3"))
    late = (goodput(2.0, "h2", at="1.5 s"), goodput(1.5, "h3", at="1.5 s"))
    found = orders(flowing(*early, *late))
    assert [(one.at_s, one.ours, one.same) for one in found] == [
        (0.5, Verdict.SLOWER, True),
        (1.5, Verdict.FASTER, False),
    ]


def test_runs_without_flows_have_no_goodput_at_a_time() -> None:
    told = {"metrics": ["goodput_mbit"], "published": [goodput(1.0, "h3")]}
    rows = made.runs({"h3": [1.0, 1.0]}, goodput_mbit=8.0)
    (found,) = beside(analyse(made.results(rows, made.experiments(told))))
    assert found.agreement is Agreement.NOT_MEASURED


@pytest.mark.parametrize(
    "published, message",
    [
        (entry(0.2, unit="min"), "has the unit 'min'; total_s is in 's' or 'ms'"),
        (entry(-3.0, against="h2", unit="s"), "total_s against another contender is in '%'"),
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
