"""When what is compared is known well enough, and that intervals hold although somebody looked and stopped.

Chance has one seed for each test, so results are the same in every run. Bounds are three standard deviations of a
share of so many studies above the level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from headway.analysis import analyse
from headway.analysis.compare import Comparison, compare
from headway.analysis.contest import Contest, Pairing
from headway.analysis.metric import metric_named
from headway.analysis.overall_effect import wholes
from headway.analysis.sample import Measurements, Observation
from headway.analysis.stopping import (
    EndedRun,
    Knowledge,
    ended_rows,
    known,
    standings,
    stopping_sentence,
)
from headway.analysis.verdict import Verdict
from headway.records.manifest import ArchivedExperiment
from headway.report.paragraph import methods_paragraph
from headway.report.tables.repetitions import repetitions_frame, repetitions_table
from headway.statistics.pairs import PAIRED_ALPHA
from headway.study.repetitions import Repetitions
from tests.unit.made_results import experiments, results, runs

TOTAL = metric_named("total_s")
LOOKS = (8, 12, 18, 27, 40)
STUDIES = 200
DECIDED = (Verdict.FASTER, Verdict.SLOWER)
TRUE = 1.1


def told(until: str = "5 %", **more: Any) -> ArchivedExperiment:
    repetitions = Repetitions.model_validate({"until": until, "most": LOOKS[-1]})
    return ArchivedExperiment.model_validate(
        {"contenders": {"a": {}, "b": {}}, "baseline": "b", "looks": LOOKS, **more}
    ).model_copy(update={"repetitions": repetitions})


def ended(
    times: dict[str, Sequence[float | str]], cell: str = "cell", **more: Any
) -> list[EndedRun]:
    """Runs of a cell: for each contender what it took, or how it ended."""
    return [
        EndedRun(
            cell=cell,
            contender=name,
            seed=seed,
            rep=seed,
            status=value if isinstance(value, str) else "ok",
            value=None if isinstance(value, str) else value,
            flows=more.get("flows"),
            first_mbit=more.get("first_mbit", [None] * 99)[seed - 1],
            others_mbit=more.get("others_mbit", [None] * 99)[seed - 1],
        )
        for name, values in times.items()
        for seed, value in enumerate(values, start=1)
    ]


def the_standing(experiment: ArchivedExperiment, found: list[EndedRun]) -> Knowledge:
    (standing,) = standings(experiment, found)
    return standing


WIDE = [1.0, 1.4, 0.9, 1.3, 1.1, 0.8, 1.2, 1.05]
ONES = [1.0] * 8


def test_pairs_whose_ratios_hardly_scatter_are_narrow_however_much_runs_do() -> None:
    both = {"a": [1.1 * one for one in WIDE], "b": WIDE}
    found = the_standing(told(), ended(both))
    assert (found.narrow, found.repetitions, found.widest) == (True, 8, "a against b")
    assert found.reach == pytest.approx(0, abs=1e-9)


def test_the_reach_is_the_factor_from_the_middle_to_an_end_of_the_interval() -> None:
    found = the_standing(told(), ended({"a": WIDE, "b": ONES}))
    # Of eight pairs at 99 %, the interval is their range.
    assert found.reach == pytest.approx(math.sqrt(1.4 / 0.8) - 1)
    assert not found.narrow
    assert the_standing(told("35 %"), ended({"a": WIDE, "b": ONES})).narrow


def test_the_widest_comparison_decides() -> None:
    three = told(contenders={"a": {}, "b": {}, "c": {}})
    found = the_standing(three, ended({"a": ONES, "b": ONES, "c": WIDE}))
    assert (found.narrow, found.widest) == (False, "c against b")


def test_too_few_pairs_for_the_level_are_not_narrow_however_alike() -> None:
    found = the_standing(told(), ended({"a": ONES[:7], "b": ONES[:7]}))
    assert (found.narrow, found.reach) == (False, None)


def test_failed_runs_are_left_out_with_their_pairs() -> None:
    found = the_standing(told(), ended({"a": ["failed", *ONES[1:]], "b": ONES}))
    assert not found.narrow
    nine = the_standing(told(), ended({"a": ["failed", *ONES], "b": [*ONES, 1.0]}))
    assert nine.narrow


def test_who_always_failed_has_nothing_to_wait_for() -> None:
    found = the_standing(told(), ended({"a": ["failed"] * 8, "b": ONES}))
    assert found.narrow
    nothing = the_standing(told(), ended({"a": ["failed"] * 8, "b": ["failed"] * 8}))
    assert (nothing.narrow, nothing.widest) == (True, "")


def test_who_always_timed_out_is_known_to_be_worse_and_who_did_at_times_is_not_known() -> None:
    assert the_standing(told(), ended({"a": ["timeout"] * 8, "b": ONES})).narrow
    some = the_standing(told(), ended({"a": ["timeout", *ONES[1:]], "b": ONES}))
    assert (some.narrow, some.reach) == (False, math.inf)


def test_a_contender_that_is_not_compared_is_told_by_its_median() -> None:
    alone = told(contenders={"a": {}}, baseline="a")
    found = the_standing(alone, ended({"a": WIDE}))
    assert (found.widest, found.narrow) == ("a", False)
    assert found.reach == pytest.approx((1.4 - 0.8) / 2 / 1.075)
    assert the_standing(alone, ended({"a": ONES})).narrow


def test_flows_that_compete_are_told_by_the_share_of_the_first_each_contender_by_itself() -> None:
    got = {"first_mbit": [4.0, 6.0, 5.0, 5.0, 4.5, 5.5, 5.0, 5.0], "others_mbit": [5.0] * 8}
    rows = [
        *ended({"a": ONES}, flows=2, **got),
        *ended({"b": ONES}, flows=2, first_mbit=[5.0] * 8, others_mbit=[5.0] * 8),
    ]
    wide, even = standings(told(), rows)
    assert (wide.contenders, wide.widest, wide.narrow) == (("a",), "a", False)
    assert wide.reach == pytest.approx((6 / 11 - 4 / 9) / 2)
    assert (even.contenders, even.reach, even.narrow) == (("b",), 0, True)


def test_a_flow_alone_is_told_by_what_it_gets_and_one_that_starves_by_its_share() -> None:
    alone = ended({"a": ONES}, flows=1, first_mbit=[9.0, 11.0, *[10.0] * 6])
    assert the_standing(told(), alone).reach == pytest.approx(0.1)
    starved = ended({"a": ONES}, flows=2, first_mbit=[10.0] * 8, others_mbit=[0.0] * 8)
    assert the_standing(told(), starved).narrow


def test_rows_of_the_table_tell_the_same() -> None:
    rows = [*runs({"a": WIDE, "b": ONES}, protocol="h2")]
    table = results(rows).runs
    assert standings(told(), ended_rows(table, "total_s")) == standings(
        told(), ended({"a": WIDE, "b": ONES})
    )


def noise(kind: str, rng: np.random.Generator) -> NDArray[np.float64]:
    shape = STUDIES, LOOKS[-1]
    draw = {
        "normal": lambda: rng.normal(0, 0.08, shape),
        "heavy tails": lambda: 0.04 * rng.standard_t(2, shape),
        "two values": lambda: 0.2 * rng.integers(-1, 2, shape),
    }
    return np.asarray(draw[kind](), dtype=float)


def measured(values: NDArray[np.float64], looks: int) -> Measurements:
    found = (Observation(n, n, value) for n, value in enumerate(values.tolist()))
    return Measurements.of(found, looks=looks)


def judged(ratios: NDArray[np.float64], looks: int = len(LOOKS)) -> Comparison:
    pairing, ones = Pairing("a", "b"), np.ones(len(ratios))
    return compare([Contest(pairing, measured(ratios, looks), measured(ones, looks))], TOTAL)[0]


def at_most(level: float) -> float:
    return level + 3 * math.sqrt(level * (1 - level) / STUDIES)


def at_every_look(logs: NDArray[np.float64], looks: int) -> Iterator[Comparison]:
    return (judged(np.exp(logs[:look]), looks) for look in LOOKS)


def misses(found: Comparison, true: float) -> bool:
    interval = found.relative_interval
    if interval is None or not interval.reaches_level:
        return False
    # Where ratios are tied, an end may be the true one, up to what floating point makes of it.
    return not interval.low - 1e-9 <= true - 1 <= interval.high + 1e-9


def as_the_rule_has_it(ratios: NDArray[np.float64], until: str) -> int:
    """After how many repetitions a study stops."""
    for look in LOOKS:
        both = {"a": ratios[:look].tolist(), "b": [1.0] * look}
        if the_standing(told(until), ended(both)).narrow:
            return look
    return LOOKS[-1]


@pytest.mark.parametrize(
    ("kind", "until"), [("normal", "5 %"), ("heavy tails", "6 %"), ("two values", "10 %")]
)
def test_going_on_until_intervals_are_narrow_does_them_no_harm(kind: str, until: str) -> None:
    logs = noise(kind, np.random.default_rng(7)) + math.log(TRUE)
    ends = [as_the_rule_has_it(np.exp(one), until) for one in logs]
    assert len(set(ends)) >= 3, "studies stop at several looks"
    found = [judged(np.exp(one[:end])) for one, end in zip(logs, ends, strict=True)]
    assert sum(misses(one, TRUE) for one in found) / STUDIES <= at_most(PAIRED_ALPHA)


def test_intervals_hold_whatever_decides_where_to_stop_and_would_not_if_nothing_allowed_for_it() -> (
    None
):
    logs = noise("normal", np.random.default_rng(8)) + math.log(TRUE)
    allowed, naive = (
        sum(any(misses(one, TRUE) for one in at_every_look(study, looks)) for study in logs)
        / STUDIES
        for looks in (len(LOOKS), 1)
    )
    assert allowed <= at_most(PAIRED_ALPHA)
    assert naive > at_most(PAIRED_ALPHA)


def test_a_difference_where_there_is_none_is_rarely_found_at_any_look() -> None:
    logs = noise("normal", np.random.default_rng(9))
    found = [
        any(one.verdict in DECIDED for one in at_every_look(study, len(LOOKS))) for study in logs
    ]
    assert sum(found) / STUDIES <= at_most(PAIRED_ALPHA)


@pytest.mark.parametrize("pairs", LOOKS)
@pytest.mark.parametrize("ratio", [1.0, 1.03, 1.1])
def test_an_interval_leaves_out_equal_exactly_where_the_verdict_does(
    pairs: int, ratio: float
) -> None:
    rng = np.random.default_rng(pairs)
    for _ in range(20):
        one = judged(np.exp(rng.normal(0, 0.05, pairs)) * ratio)
        assert one.relative_interval
        assert one.relative_interval.reaches_level
        assert one.relative_interval.holds(0) == (one.verdict not in DECIDED)


def sequential_study(cells: dict[str, int], looks: Sequence[int] = LOOKS) -> Any:
    """An experiment of two cells that have as many repetitions as each took."""
    rng = np.random.default_rng(3)
    rows = []
    for place, (cell, count) in enumerate(cells.items()):
        times = {"h2": [1.0] * count, "h3": np.exp(rng.normal(0.02, 0.05, count)).tolist()}
        rows += runs(times, cell=cell, rtt_ms=10.0 * (place + 1))
    experiment = {
        "name": "",
        "baseline": "h2",
        "metrics": ["total_s"],
        "looks": looks,
        "contenders": {"h2": {}, "h3": {}},
    }
    return results(rows, experiments(experiment))


def test_all_of_an_analysis_allows_for_the_looks() -> None:
    cells = {"near": 8, "far": 18}
    found, fixed = (analyse(sequential_study(cells, looks)) for looks in (LOOKS, ()))
    for (cell, one), (_, other) in zip(found.comparisons, fixed.comparisons, strict=True):
        assert one.test
        assert other.test
        assert one.test.p == pytest.approx(min(1.0, 5 * other.test.p))
        assert one.relative_interval
        assert one.relative_interval.level == pytest.approx(1 - 0.05 / 2 / 5)
        for side in cell.sides:
            assert side.sample
            assert side.sample.interval
            assert side.sample.interval.level == pytest.approx(0.99)
            assert side.sample.mean_interval
            assert side.sample.mean_interval.level == pytest.approx(0.99)


def test_a_mean_over_cells_is_of_the_repetitions_that_all_of_them_have() -> None:
    (whole,) = wholes(analyse(sequential_study({"near": 8, "far": 18})))
    assert len(whole.difference.logs) == 8
    assert whole.difference.interval
    assert whole.difference.interval.level == pytest.approx(0.99)


def with_failures(cells: dict[str, tuple[int, set[int]]]) -> Any:
    """Two cells of so many repetitions, of which some failed for one contender."""
    rng = np.random.default_rng(3)
    found = sequential_study({cell: count for cell, (count, _) in cells.items()})
    rows = []
    for place, (cell, (count, failed)) in enumerate(cells.items()):
        times = np.exp(rng.normal(0.02, 0.05, count)).tolist()
        h3 = [None if n in failed else one for n, one in enumerate(times, start=1)]
        rows += runs({"h2": [1.0] * count, "h3": h3}, cell=cell, rtt_ms=10.0 * (place + 1))
    return replace(results(rows), manifest=found.manifest)


def test_a_cell_without_a_pair_among_these_repetitions_has_no_part_in_a_mean() -> None:
    late = {"near": (8, set[int]()), "far": (12, set(range(1, 9)))}
    assert wholes(analyse(with_failures(late))) == ()
    # A run that failed is no repetition less.
    last = {"near": (8, {8}), "far": (12, set[int]())}
    (whole,) = wholes(analyse(with_failures(last)))
    assert len(whole.difference.logs) == 8


def told_as_it_went() -> Any:
    """A study of two cells, one of which stopped at the first look, one at the last."""
    rows = [
        *runs({"h2": ONES, "h3": ONES}, cell="calm", rtt_ms=10.0),
        *runs({"h2": [1.0] * 40, "h3": WIDE * 5}, cell="wild", rtt_ms=20.0),
    ]
    experiment = {
        "name": "",
        "baseline": "h2",
        "metrics": ["total_s"],
        "repetitions": {"until": "1 %", "most": 40},
        "looks": LOOKS,
        "contenders": {"h2": {}, "h3": {}},
    }
    return results(rows, experiments(experiment))


def test_the_report_says_of_every_cell_how_many_repetitions_it_has_and_why_no_more() -> None:
    analysis = analyse(told_as_it_went())
    calm, wild = (row for (row,) in repetitions_table(analysis).rows)
    assert calm == ("RTT 10 ms", "all", "h3 against h2", "within 1 %", "8", "0")
    assert wild[:5] == ("RTT 20 ms", "all", "h3 against h2", "at the most", "40")
    frame = repetitions_frame([analysis])
    assert frame["repetitions"].to_list() == [8, 40]
    assert frame["why"].to_list() == ["within 1 %", "at the most"]
    assert stopping_sentence(analysis) == (
        "Repetitions: 8 to 40, until intervals reach at most 1 % to either side or there are 40. "
        "Of 2 cells: 1 within 1 % and 1 at the most."
    )


def test_a_study_that_is_not_finished_says_so() -> None:
    found = told_as_it_went()
    part = replace(found, runs=found.runs.filter(pl.col("rep") <= 12))
    assert [one.why(part.experiments[0]) for one in known(analyse(part))] == [
        "within 1 %",
        "not finished",
    ]
    # No interval has its level yet.
    begun = replace(found, runs=found.runs.filter(pl.col("rep") <= 5))
    assert [one.why(begun.experiments[0]) for one in known(analyse(begun))] == ["not finished"] * 2


def test_the_methods_paragraph_names_the_looks() -> None:
    found = told_as_it_went()
    said = methods_paragraph(found, [analyse(found)])
    assert "up to 40 repetitions" in said
    assert "looked at after 8, 12, 18, 27 and 40, until intervals reached at most 1 %" in said


def test_of_a_number_of_repetitions_nothing_is_said() -> None:
    analysis = analyse(results(runs({"h2": ONES, "h3": WIDE})))
    assert not repetitions_table(analysis).rows
    assert repetitions_frame([analysis]).is_empty()
    assert stopping_sentence(analysis) == ""
