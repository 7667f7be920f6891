"""What a difference depends on: found where it is, and hardly ever where it is not."""

import math
from typing import Any

import numpy as np
import pytest

from headway.analysis import analyse, answer
from headway.analysis.overall_effect import Whole, wholes
from tests.unit import made_results as made


def study(ratios: dict[tuple[int, int], list[float]]) -> list[dict[str, Any]]:
    """Rows of cells over RTT and loss, with the ratios of h3 to h2 in their repetitions."""
    return [
        row
        for (rtt, loss), found in ratios.items()
        for row in made.runs(
            {"h2": [1.0] * len(found), "h3": [*found]},
            cell=f"{rtt}-{loss}",
            rtt_ms=float(rtt),
            loss_pct=float(loss),
            loss_up_pct=float(loss),
        )
    ]


def of(ratios: dict[tuple[int, int], list[float]]) -> Whole:
    (found,) = wholes(analyse(made.results(study(ratios))))
    return found


def drawn(
    rng: np.random.Generator, gain: float, repetitions: int = 8
) -> dict[tuple[int, int], list[float]]:
    """Each repetition has luck of its own, each cell more; at loss 2 % h3 gains so much more."""
    luck = rng.normal(0, 0.2, repetitions)
    return {
        (rtt, loss): np.exp(
            luck + rng.normal(0, 0.03, repetitions) - (gain if loss else 0)
        ).tolist()
        for rtt in (20, 100)
        for loss in (0, 2)
    }


def test_a_factor_that_the_difference_depends_on_is_named_with_its_levels() -> None:
    found = of(drawn(np.random.default_rng(1), gain=0.3))
    loss, rtt = found.interactions
    assert (loss.factor, loss.established, rtt.factor, rtt.established) == (
        "loss",
        True,
        "RTT",
        False,
    )
    assert [level.title for level in found.levels] == ["loss 0 %", "loss 2 %"]
    none, much = (math.log1p(level.relative) for level in loss.levels)
    assert none - much == pytest.approx(0.3, abs=0.05)


def test_luck_that_all_cells_share_hides_no_interaction() -> None:
    """Between repetitions the ratio varies by 20 %; between levels it differs by 8 %."""
    rng = np.random.default_rng(2)
    found = [of(drawn(rng, gain=0.08)).interactions[0] for _ in range(20)]
    assert all((one.factor, one.established) == ("loss", True) for one in found)


def test_an_interaction_that_is_none_is_hardly_ever_found() -> None:
    rng = np.random.default_rng(3)
    tried = 150
    false = sum(of(drawn(rng, gain=0.0)).levels != () for _ in range(tried))
    assert false / tried <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / tried)


def test_a_turn_is_said() -> None:
    ratios = {
        (20, 0): [1.1, 1.12, 1.09, 1.1, 1.13, 1.08],
        (20, 2): [0.8, 0.81, 0.79, 0.8, 0.82, 0.78],
    }
    said = answer(analyse(made.results(study(ratios))))
    assert said[0] == (
        "h3 against h2: without loss 10 % later (95 % interval 8 to 13 %); "
        "with 2 % loss 20 % sooner (95 % interval 18 to 22 %)."
    )
    assert said[1] == ("The difference between h3 and h2 depends on loss.")


def test_levels_that_stand_in_other_cells_are_not_compared() -> None:
    """Loss 2 % was run at one RTT only: what differs may be the RTT."""
    ratios = drawn(np.random.default_rng(4), gain=0.5)
    del ratios[20, 2]
    assert of(ratios).interactions == ()


def test_a_trifling_interaction_is_none() -> None:
    ratios = {(20, 0): [0.8] * 8, (20, 2): [0.804] * 8}
    assert [one.established for one in of(ratios).interactions] == [False]
