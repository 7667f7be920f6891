"""Comparisons over all cells: each repetition is one observation, whatever the number of cells."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from headway.analysis import analyse, answer
from headway.analysis.overall_effect import Whole, wholes
from headway.analysis.verdict import Verdict
from tests.unit import made_results as made

Times = Mapping[str, Sequence[float | None]]


def over(*cells: Times, **told: Any) -> tuple[Whole, ...]:
    return wholes(
        analyse(made.results(rows_of(*cells), made.experiments({"baseline": "h2", **told})))
    )


def rows_of(*cells: Times) -> list[dict[str, Any]]:
    return [
        row
        for place, times in enumerate(cells, start=1)
        for row in made.runs(times, cell=f"rtt_{place}", rtt_ms=10.0 * place)
    ]


LUCK = [1.0, 1.7, 2.9, 0.6, 4.0, 1.2, 2.2, 3.1]
NOISE = [1.01, 0.99, 1.02, 0.98, 1.0, 1.03, 0.97, 1.005]


def h3(ratio: float, turned: int = 0) -> dict[str, list[float | None]]:
    noise = NOISE[turned:] + NOISE[:turned]
    return {
        "h2": [*LUCK],
        "h3": [luck * ratio * one for luck, one in zip(LUCK, noise, strict=True)],
    }


def test_cells_count_the_same_and_repetitions_are_the_observations() -> None:
    (found,) = over(h3(0.8), h3(0.8, 1), h3(1.1, 2))
    assert found.difference.relative == pytest.approx((0.8 * 0.8 * 1.1) ** (1 / 3) - 1, abs=0.01)
    assert (found.cells, found.pairs, len(found.difference.logs)) == (3, (8, 8), 8)
    assert found.test is not None
    assert found.test.p == 2 / 2**8
    assert found.verdict is Verdict.FASTER
    assert [(level.title, level.alike) for level in found.levels] == [
        ("RTT 10 ms", 1),
        ("RTT 20 ms", 1),
        ("RTT 30 ms", 0),
    ]


def test_more_cells_with_the_same_luck_are_no_more_evidence() -> None:
    weak = {
        "h2": [*LUCK],
        "h3": [
            luck * one
            for luck, one in zip(LUCK, [0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 1.2, 1.2], strict=True)
        ],
    }
    (few,), (many,) = over(weak, weak), over(*[weak] * 20)
    assert few.test is not None
    assert many.test is not None
    assert few.test.p == many.test.p > 0.05
    assert many.verdict is Verdict.UNDECIDED


def test_a_failed_run_leaves_its_cell_out_of_one_repetition() -> None:
    lacking = h3(0.5)
    lacking["h3"][0] = None
    (found,) = over(lacking, h3(0.8))
    assert found.pairs == (7, 8)
    assert len(found.difference.logs) == 8
    assert found.difference.relative == pytest.approx((0.5 * 0.8) ** 0.5 - 1, abs=0.01)


def test_a_timeout_counts_as_the_most_extreme_that_finished() -> None:
    rows = rows_of(h3(0.5), h3(0.8))
    slowest = next(row for row in rows if row["contender"] == "h2")
    slowest.update(status="timeout", total_s=None)
    (found,) = wholes(analyse(made.results(rows)))
    assert found.verdict is Verdict.FASTER
    assert found.difference.interval is not None
    assert math.isfinite(found.difference.interval.high)


def test_what_takes_the_same_in_every_run_is_certain() -> None:
    (found,) = over({"h2": [2.0] * 3, "h3": [1.0] * 3}, {"h2": [2.0] * 3, "h3": [1.5] * 3})
    assert (found.certain, found.test, found.verdict) == (True, None, Verdict.FASTER)


def test_a_single_cell_or_repetition_is_no_whole() -> None:
    assert over(h3(0.8)) == ()
    assert over({"h2": [1.0], "h3": [2.0]}, {"h2": [1.0], "h3": [2.0]}) == ()


def test_few_comparisons_are_adjusted_for_their_number() -> None:
    cells = [{**h3(0.8, turned), "h1": [luck * 2 for luck in LUCK]} for turned in range(2)]
    h1, third = over(*cells)
    assert h1.certain
    assert third.test is not None
    assert third.test.family == 1
    varied = [{**cell, "h1": h3(1.5, 3)["h3"]} for cell in cells]
    assert [one.test and (one.test.adjusted, one.test.family) for one in over(*varied)] == [
        (2 / 2**7, 2)
    ] * 2


def test_a_mean_is_told_where_cells_are_alike_and_only_there() -> None:
    (turning,) = over(h3(0.8), h3(0.8, 1), h3(1.1, 2))
    assert not turning.alike
    (steady,) = over(h3(0.8), h3(0.8, 1), h3(0.8, 2))
    assert steady.alike
    said = answer(analyse(made.results(rows_of(h3(0.8), h3(0.8, 1), h3(0.8, 2)))))
    assert said[0] == (
        "h3 against h2: 20 % sooner; in the mean over these 3 conditions, which are alike, 19.9 % sooner "
        "(95 % interval 19.7 to 20.2 %)."
    )
    # One cell in which nothing is shown is not like two in which something is.
    wide = {"h2": LUCK, "h3": LUCK[::-1]}
    (mixed,) = over(h3(0.8), h3(0.8, 1), wide)
    assert not mixed.alike


def test_few_repetitions_cannot_tell_several_comparisons_apart() -> None:
    # Six pairs that all point one way have p = 2 / 2**6; of three such comparisons none can be below 0.05.
    cells = [
        {
            "h2": LUCK[:6],
            **{name: h3(1.5, turned + at)["h3"][:6] for at, name in enumerate(("h1", "h3", "q"))},
        }
        for turned in range(2)
    ]
    found = over(*cells)
    assert [one.test and one.test.smallest_p for one in found] == [3 * 2 / 2**6] * 3
    assert {one.verdict for one in found} == {Verdict.UNDECIDED}


def test_luck_that_cells_share_makes_no_false_positives() -> None:
    # All cells of a repetition have half of their luck in common: their pairs are not independent.
    rng = np.random.default_rng(5)
    false = 0
    for _ in range(120):
        shared = rng.normal(0, 0.1, 8)
        cells = []
        for _ in range(6):
            ratio = np.exp(shared + rng.normal(0, 0.1, 8))
            cells.append({"h2": [1.0] * 8, "h3": ratio.tolist()})
        (found,) = over(*cells)
        false += found.verdict in (Verdict.FASTER, Verdict.SLOWER)
    assert false / 120 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 120)


@pytest.mark.parametrize(("repetitions", "alike"), [(3, False), (8, True)])
def test_of_few_repetitions_nobody_knows_whether_cells_are_alike(
    repetitions: int, alike: bool
) -> None:
    cells = [
        {name: times[:repetitions] for name, times in h3(0.8, turned).items()}
        for turned in range(3)
    ]
    (found,) = over(*cells)
    assert found.alike is alike
