"""How many repetitions it takes: what plans note, and what sentences and verdicts then say."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from headway.analysis.alone import alone_sentences, own_values
from headway.analysis.analysis import Analysis, analyse
from headway.analysis.contest import Pairing
from headway.analysis.headline import headline
from headway.analysis.partition import Leaning, leaning
from headway.analysis.sentences import sentences
from headway.analysis.summary import answer
from headway.analysis.verdict import Basis
from headway.planning.needed_repetitions import too_few
from headway.planning.runs import plan
from headway.report.glance import glance
from headway.statistics.pairs import PAIRED_ALPHA, fewest_pairs, smallest_p
from headway.study.experiment import Study
from tests.unit import made_results as made

H3_H2 = Pairing("h3", "h2")


def study(repetitions: int, *contenders: str, cells: int = 1, **more: Any) -> Study:
    experiment = {
        "repetitions": repetitions,
        "contenders": {name: {} for name in contenders},
        "axes": {"path.rtt": [f"{20 * (place + 1)} ms" for place in range(cells)]},
        **more,
    }
    return Study.model_validate({"name": "s", "experiments": [experiment]})


def notes(made: Study) -> tuple[str, ...]:
    return too_few(made, plan(made))


@pytest.mark.parametrize(
    ("contenders", "cells", "enough"),
    [(("h2", "h3"), 1, 6), (("h2", "h3"), 4, 8), (("h1", "h2", "h3"), 4, 9), (("h2",), 4, 1)],
)
def test_a_plan_notes_repetitions_of_which_no_single_comparison_can_be_significant(
    contenders: Sequence[str], cells: int, enough: int
) -> None:
    assert not notes(study(enough, *contenders, cells=cells))
    if enough > 1:
        (note,) = notes(study(enough - 1, *contenders, cells=cells))
        assert str(enough) in re.findall(r"\d+", note)


def test_a_note_says_how_many_comparisons_would_have_to_show_it() -> None:
    (note,) = notes(study(6, "h2", "h3", cells=4))
    # Of four comparisons three with p = 1/32 have an adjusted p of 4/96, two one of 4/64.
    assert "at least 3 of them" in note
    assert smallest_p(6) * 4 / 3 < PAIRED_ALPHA < smallest_p(6) * 4 / 2


def test_contenders_that_are_left_out_of_cells_are_not_compared_there() -> None:
    left_out = {"path.rtt": ["40 ms", "60 ms", "80 ms"], "contender": "h3"}
    assert notes(study(6, "h2", "h3", cells=4))
    assert not notes(study(6, "h2", "h3", cells=4, exclude=[left_out]))


def test_each_name_of_flows_that_compete_is_compared() -> None:
    flows = {"a": {"protocol": "tcp"}, "b": {"protocol": "tcp"}}
    shared = {
        "client": {"program": "headway-perf"},
        "server": {"program": "headway-perf"},
        "workload": {"kind": "bulk", "duration": "5 s"},
        "flows": {**flows, "other": {"protocol": "tcp", "background": True}},
    }
    two = {"x": {}, "y": {"path": {"queue": "20 kB"}}}
    (note,) = notes(study(6, conditions=shared, contenders=two))
    assert "2 comparisons" in note and f"of {fewest_pairs(2)}" in note


def analysis_of(by_cell: Mapping[str, Mapping[str, Sequence[float]]]) -> Analysis:
    rows = [
        row
        for place, (cell, values) in enumerate(by_cell.items())
        for row in made.runs(values, cell=cell, rtt_ms=10.0 * (place + 1))
    ]
    return analyse(made.results(rows))


BASE = [1.0, 1.01, 0.99, 1.02, 0.98, 1.03]
SLOWER = [
    value * factor for value, factor in zip(BASE, [1.19, 1.2, 1.17, 1.18, 1.2, 1.19], strict=True)
]
CHANCE = [1.02, 0.99, 1.0, 0.98, 1.03, 1.01]


def test_six_of_six_pairs_in_one_of_four_cells_are_too_few() -> None:
    cells = {name: {"h2": BASE, "h3": CHANCE} for name in "bcd"}
    found = analysis_of({"a": {"h2": BASE, "h3": SLOWER}, **cells})
    slower, *others = (one for _, one in found.comparisons)
    assert (slower.basis, slower.needed) == (Basis.TOO_FEW, 8)
    assert leaning(slower) is Leaning.WORSE_UNTESTED
    assert {one.basis for one in others} == {Basis.TOO_FEW}
    said = headline(found, H3_H2)
    assert "not shown to differ" not in said
    assert re.search(r"too few runs to be sure \(it takes 8\): .*19 % later in 6 of 6 pairs", said)
    assert sentences(found)[0].removeprefix("RTT 10 ms: ").startswith("too few runs")


def test_six_of_six_pairs_in_all_four_cells_are_a_finding() -> None:
    found = analysis_of({name: {"h2": BASE, "h3": SLOWER} for name in "abcd"})
    assert {one.basis for _, one in found.comparisons} == {Basis.TEST}


def test_what_could_have_been_significant_beside_the_others_is_not_shown_to_differ() -> None:
    cells = {name: {"h2": BASE, "h3": SLOWER} for name in "abc"}
    found = analysis_of({**cells, "d": {"h2": BASE, "h3": CHANCE}})
    *_, chance = (one for _, one in found.comparisons)
    assert (chance.basis, leaning(chance)) == (Basis.TEST, Leaning.SAME)


def test_medians_beside_a_difference_are_of_the_same_repetitions() -> None:
    """Where a run fails, its partner is no part of the difference, and none of the medians either."""
    h2 = [7.0, 7.1, 7.2, 7.3, 7.4, 7.5, 30.0]
    h3 = [6.3, 6.4, 6.5, 6.6, 6.7, 6.75, None]
    analysis = analyse(made.results(made.runs({"h2": h2, "h3": h3})))
    ((cell, comparison),) = analysis.comparisons
    assert comparison.relative is not None and comparison.relative < 0
    assert cell.matched["h2"].median == pytest.approx(7.25)
    assert cell.matched["h2"].n == cell.matched["h3"].n == 6
    assert comparison.pairs.medians == pytest.approx((6.55, 7.25))
    assert "medians of these pairs: 6.55 s against 7.25 s" in sentences(analysis)[0]


def test_the_only_contender_has_its_number_for_each_cell() -> None:
    rows = [
        row
        for place, values in enumerate(([0.4, 0.45, 0.47, 0.49, 0.6, 1.1], [2.0] * 6))
        for row in made.runs({"h3": values}, cell=f"c{place}", rtt_ms=10.0 * (place + 1))
    ]
    analysis = analyse(made.results(rows))
    first, second = own_values(analysis)
    assert (first.where, first.value, first.sure) == (
        "RTT 10 ms",
        "0.480 s",
        "median of 6, 0.400 to 1.10 s",
    )
    assert (second.value, second.sure) == ("2.00 s", "the same in all 6 runs")
    assert answer(analysis)[0] == "RTT 10 ms: h3 takes 0.480 s (median of 6, 0.400 to 1.10 s)."
    shown = glance(analysis)
    assert shown and [where for where, _ in shown.verdicts[0].parts] == ["RTT 10 ms", "RTT 20 ms"]


def test_the_only_contender_whose_runs_all_failed_takes_nothing() -> None:
    analysis = analyse(made.results(made.runs({"h3": [None] * 6})))
    (sentence,) = alone_sentences(analysis)
    assert " takes " not in sentence
    assert "6 of 6 runs failed" in sentence
