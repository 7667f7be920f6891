"""Sentences, pinned word for word."""

from collections.abc import Sequence
from typing import Any

import pytest

from headway.analysis import analyse, answer, sentences
from headway.analysis.numbers import (
    data_size,
    listed,
    p_value,
    percent,
    signed_percent,
    significant,
)
from tests.unit import made_results as made

Times = Sequence[float | None]


def said(h3: Times, h2: Times, **conditions: Any) -> str:
    (found,) = sentences(analyse(made.results(made.runs({"h2": h2, "h3": h3}, **conditions))))
    return found


SIX_H2 = [1.98, 1.8, 2.2, 1.9, 2.1, 2.0]
SIX_H3 = [1.31, 1.2, 1.45, 1.25, 1.4, 1.33]


def test_significant() -> None:
    assert said(SIX_H3, SIX_H2) == (
        "h3 is faster than h2 by 33.7 % in the typical pair (95 % interval 33.3 to 34.2 %; medians of 6: 1.32 s against 1.99 s; "
        "faster in 6 of 6 pairs)."
    )


def test_a_factor() -> None:
    assert said([3.0, 3.1, 3.2, 3.3, 3.4, 3.5], [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]) == (
        "h3 is slower than h2 by a factor of 2.6 in the typical pair (95 % interval 2.3 to 3.0; medians of 6: 3.25 s against 1.25 s; "
        "slower in 6 of 6 pairs)."
    )


def test_not_significant() -> None:
    assert said([1.0, 1.3, 1.1, 1.6, 1.2, 1.1], [1.1, 1.2, 1.3, 1.5, 1.0, 1.12]) == (
        "No significant difference between h3 and h2 (difference +1 %, 95 % interval −15 to +20 %; "
        "medians of 6: 1.15 s against 1.16 s; faster in 3 of 6 pairs); "
        "one below 27 % would probably not have shown."
    )


def test_within_one_percent() -> None:
    steps = [0.001, -0.002, 0.003, -0.001, 0.002, -0.003]
    near = [value * (1 + step) for value, step in zip(SIX_H2, steps, strict=True)]
    assert said(near, SIX_H2) == (
        "h3 and h2 are within 1 % (difference 0.0 %, 95 % interval −0.3 to +0.3 %; "
        "medians of 6: 1.988 s against 1.990 s; faster in 3 of 6 pairs)."
    )


def test_too_few_for_a_test() -> None:
    assert said([1.0, 1.5, 2.0, 2.5, 3.0], [1.1, 1.6, 2.1, 2.6, 3.1]) == (
        "Too few runs to be sure (5 pairs; it takes 6): h3 was faster than h2 by 5 % in the typical pair (range of "
        "pairs 3 to 9 %; medians of 5: 2.00 s against 2.10 s; faster in 5 of 5 pairs)."
    )


def test_timeouts_count_as_the_slowest() -> None:
    rows = made.runs({"h2": [*SIX_H2[:4], None, 2.0], "h3": SIX_H3})
    for row in rows:
        if row["status"] == "failed":
            row["status"] = "timeout"
    assert sentences(analyse(made.results(rows))) == (
        "h3 is faster than h2 by 34 % in the typical pair (95 % interval 33 to 100 %; medians of these pairs: 1.32 s against 1.99 s; "
        "faster in 6 of 6 pairs). "
        "Failures: h2 in 1 of 6 runs (1 timed out); a run that timed out is slower than any that finished.",
    )
    for row in rows:
        if row["contender"] == "h2":
            row.update(status="timeout", total_s=None)
    assert sentences(analyse(made.results(rows))) == (
        "h3 is faster than h2 (faster in 6 of 6 pairs). "
        "Failures: h2 in 6 of 6 runs (6 timed out); a run that timed out is slower than any that finished.",
    )


def test_every_run() -> None:
    assert said([1.31] * 5, [1.98] * 5) == (
        "h3 is faster than h2 by 34 % in every run "
        "(1.31 s against 1.98 s; all 5 runs of each the same, so n = 1)."
    )
    assert said([9.316] * 3, [9.343] * 5) == (
        "h3 and h2 are within 1 %: h3 is faster than h2 by 0.3 % in every run "
        "(9.32 s against 9.34 s; all 3 and 5 runs of each the same, so n = 1)."
    )
    assert said([0.05] * 2, [0.05] * 2) == (
        "No difference between h3 and h2 (50.0 ms in every run; all 2 runs of each the same, so n = 1)."
    )


def test_intervals_are_as_wide_as_many_comparisons_make_them() -> None:
    rows = [
        row
        for rtt in range(2)
        for row in made.runs(
            {"h2": SIX_H2, "h3": SIX_H3},
            cell=f"rtt_{rtt}",
            rtt_ms=float(rtt),
        )
    ]
    rows += made.runs({"h2": SIX_H2, "h3": SIX_H2[::-1]}, cell="rtt_2", rtt_ms=2.0)
    analysis = analyse(made.results(rows))
    assert "95 % interval" in sentences(analysis)[0]
    # Two of three are significant: each interval may miss with a probability of 2 / 3 times 5 %.
    levels = [
        one.difference.interval and one.difference.interval.level for _, one in analysis.comparisons
    ]
    assert levels == [pytest.approx(1 - 0.05 * 2 / 3)] * 3


def test_less_variable() -> None:
    narrow = [10 + n / 100 for n in range(-20, 20)]
    wide = [10.005 + n / 4 for n in range(-20, 20)]
    assert said(narrow, wide).endswith(
        "; h3 is less variable (interquartile range 0.195 s against 4.88 s)."
    )
    assert "; h3 is more variable (interquartile range" in said(wide, narrow)


def test_of_another_shape() -> None:
    two = [9.0] * 60 + [11.0] * 60
    even = [8 + n / 30 for n in range(121)]
    assert said(two, even).endswith("; their distributions differ in shape.")


def test_enough_digits_to_see_the_difference() -> None:
    assert "(9.31500 s against 9.31501 s;" in said([9.315] * 5, [9.31501] * 5)


def test_single_runs() -> None:
    assert said([1.0], [1.5]) == (
        "One run of each, and without repetition on both sides no test applies: h3 was faster than h2 by 33 % "
        "(1.00 s against 1.50 s)."
    )


def test_failures_are_mentioned() -> None:
    assert said([1.0, 1.0, None], [2.0, 2.0, 2.0]).endswith(
        "; all 2 and 3 runs of each the same, so n = 1). "
        "Failures: h3 in 1 of 3 runs (1 failed); failed runs are left out with their pairs."
    )


def test_runs_that_are_equal_one_by_one_are_identical_and_not_insignificant() -> None:
    rows = made.runs({"h2": [1.0, 1.5, 1.2], "h3": [1.0, 1.5, 1.2]})
    analysis = analyse(made.results(rows))
    assert sentences(analysis) == (
        "h3 and h2 are identical: equal run for run (median 1.20 s; all 3 pairs).",
    )
    shuffled = made.runs({"h2": [1.0, 1.5, 1.2], "h3": [1.5, 1.0, 1.2]})
    assert "identical" not in sentences(analyse(made.results(shuffled)))[0]


def test_why_cells_are_not_comparable_is_told() -> None:
    rows = [
        row
        for place in range(6)
        for row in made.runs(
            {"h2": [1.0, 1.2], "h3": [None, None] if place < 2 else [2.0, 2.2]},
            cell=f"rtt_{place}",
            rtt_ms=float(place),
        )
    ]
    assert answer(analyse(made.results(rows))) == (
        "h3 against h2: up to RTT 1 ms not comparable (h3 finished none of 2 runs: curl exited with 28), and "
        "4 of 4 runs of h3 failed; from RTT 2 ms on too few runs to be sure (it takes 8): 91 % later in 2 of 2 pairs.",
        "h3 failed in 4 of 12 runs, all up to RTT 1 ms, with seeds 1 and 2 (4 of 4 runs there): curl exited with 28.",
        "Failed runs are left out of the comparison together with their counterparts; counted as slower than any "
        "that finished, they would change none of these statements.",
    )


def test_nothing_to_compare() -> None:
    assert said([None, None], [2.0, None]) == (
        "h3 and h2 cannot be compared: h3 finished none of 2 runs (2 failed: curl exited with 28) and "
        "h2 finished 1 of 2 runs (1 failed: curl exited with 28), median 2.00 s."
    )


def test_the_title_comes_first() -> None:
    found = sentences(analyse(made.results(made.grid())))
    assert found[1] == (
        "1 MB, loss 0 %: h3 is slower than h2 by 20 % in every run "
        "(1.20 s against 1.00 s; all 8 runs of each the same, so n = 1)."
    )
    assert found[2].startswith("1 MB, loss 2 %: no significant difference between h1 and h2 (")


def test_the_answer_of_a_larger_study() -> None:
    assert answer(analyse(made.results(made.grid()))) == (
        "h3 against h2: without loss 20 % later; with 2 % loss 60 % sooner, and 1 of 16 runs of h2 failed (2 of 4 paths "
        "are exact: n = 1 in each).",
        "h1 against h2: within 1 % in 3 conditions, not shown to differ in 1 (2 of 4 paths are exact: n = 1 in each).",
        "h2 failed in 1 of 32 runs, for 10 MiB with 2 % loss, with seed 2 (1 of 1 run there): curl exited with 28.",
        "Failed runs are left out of the comparison together with their counterparts; counted as slower than any "
        "that finished, they would change none of these statements.",
        "The difference between h3 and h2 depends most on loss; no sign that it depends on size.",
        "No sign that the difference between h1 and h2 depends on size or loss.",
    )


def test_the_answer_of_single_runs_and_of_one_protocol() -> None:
    rows = [
        row
        for rtt in range(1, 6)
        for row in made.runs({"h2": [2.0], "h3": [1.0]}, cell=f"rtt_{rtt}", rtt_ms=float(rtt))
    ]
    assert answer(analyse(made.results(rows))) == (
        "h3 against h2: too few runs to be sure (it takes 6): 50 % sooner in 1 of 1 pair.",
    )
    assert answer(analyse(made.results(made.runs({"h3": [1.0]})))) == (
        "h3 takes 1.00 s (a single run).",
    )


def test_what_never_met_is_told_and_not_counted() -> None:
    times = [1.0, 1.1, 1.05]
    rows = made.runs({"h1": times}, cell="far", rtt_ms=500.0)
    for place in range(5):
        cell = {"cell": f"near-{place}", "rtt_ms": 10.0 + place}
        rows += made.runs({"h2": times, "h3": [2.0, 2.2, 2.1]}, **cell)
    *told, last = answer(analyse(made.results(rows)))
    assert last == "Never run under the same conditions: h1 against h2."
    assert not any("h1" in one for one in told)
    alone = made.runs({"h1": times}, cell="far", rtt_ms=500.0) + made.runs({"h2": times})
    assert answer(analyse(made.results(alone))) == (last,)


def test_the_answer_by_the_only_factor() -> None:
    rows = [
        row
        for rtt in range(1, 6)
        for row in made.runs(
            {"h2": [2.0] * 2, "h3": [1.0 if rtt < 3 else 3.0] * 2},
            cell=f"rtt_{rtt}",
            rtt_ms=float(rtt),
        )
    ]
    assert answer(analyse(made.results(rows))) == (
        "h3 against h2: up to RTT 2 ms 50 % sooner; from RTT 3 ms on 50 % later (exact paths: n = 1 in each).",
        "The difference between h3 and h2 depends on RTT.",
    )


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (9.999, "10.0"),
        (141.32, "141"),
        (0.1312, "0.131"),
        (1234.5, "1230"),
        (-2.5, "−2.50"),
    ],
)
def test_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


def test_other_numbers() -> None:
    assert [percent(share) for share in (0.34, -0.034, 0.0002, 0, 1.5)] == [
        "34 %",
        "3.4 %",
        "less than 0.1 %",
        "0 %",
        "150 %",
    ]
    assert [signed_percent(share) for share in (-0.34, 0.034, -0.0001, 0, 11)] == [
        "−34",
        "+3.4",
        "0.0",
        "0.0",
        "×12.0",
    ]
    assert [p_value(p) for p in (0.00794, 0.0009, 0.5)] == ["p = 0.0079", "p < 0.001", "p = 0.5"]
    assert [data_size(count) for count in (500, 125_000, 10 << 20, 25_738)] == [
        "500 B",
        "125 kB",
        "10 MiB",
        "25.74 kB",
    ]
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_pairs_that_disagree_are_no_finding_in_too_few_repetitions() -> None:
    rows = made.runs({"h2": [1.0, 1.0, 1.0], "h3": [0.98, 0.97, 1.05]})
    (said,) = sentences(analyse(made.results(rows)))
    assert said == (
        "Too few runs to be sure (3 pairs; it takes 6): h3 was now faster, now slower than h2 (difference −1 %, range "
        "of pairs −3 to +5 %; medians of 3: 0.980 s against 1.00 s; faster in 2 of 3 pairs)."
    )
    rows = made.runs({"h2": [1.0, 1.0, 1.0], "h3": [0.98, 0.97, 0.99]})
    (said,) = sentences(analyse(made.results(rows)))
    assert (
        "h3 was faster than h2 by 2.0 % in the typical pair (range of pairs 1.0 to 3.0 %;" in said
    )
