"""The built-in study of others' yardsticks: what was published, by the closed forms and set-ups that it is from."""

from __future__ import annotations

import math
import re

import pytest

from headway.planning.runs import plan
from headway.study.experiment import Experiment, Study
from headway.study.load import load_study
from headway.study.published import Published

SEGMENT_BYTES = 1448
LOSSES = {"1 %": 1e-2, "0.1 %": 1e-3, "0.01 %": 1e-4}


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("yardsticks")


def experiment(study: Study, name: str) -> Experiment:
    return next(one for one in study.experiments if one.name == name)


def reno_window(loss: float) -> float:
    """RFC 3649, section 3: 1.2 / sqrt(p) segments. Mathis et al. 1997 have sqrt(3/2) for 1.2."""
    return 1.2 / math.sqrt(loss)


def cubic_window(loss: float, rtt_s: float, c: float = 0.4) -> float:
    """RFC 9438, equation 5 with a factor of 0.7, and no less than Reno's window (section 4.3)."""
    beta = 0.7
    by_the_cube = (c * (3 + beta) / (4 * (1 - beta)) * (rtt_s / loss) ** 3) ** 0.25
    return max(by_the_cube, reno_window(loss))


@pytest.mark.parametrize(("name", "rtt_s"), [("windows-100ms", 0.1), ("windows-10ms", 0.01)])
def test_windows_are_the_closed_forms(study: Study, name: str, rtt_s: float) -> None:
    """Every value is the RFC's number of segments a round trip, and that number is its formula's."""
    published = experiment(study, name).published
    assert len(published) == 3 * 4
    for value in published:
        loss = LOSSES[value.where["path.down.loss"]]
        window = published_window(value)
        formula = cubic_window(loss, rtt_s) if "CUBIC" in value.contender else reno_window(loss)
        assert window == pytest.approx(formula, abs=1)
        assert value.value == pytest.approx(window * SEGMENT_BYTES * 8 / rtt_s / 1e6, rel=1e-4)


def published_window(value: Published) -> int:
    found = re.search(r"(\d+) segments", value.source)
    assert found
    return int(found[1])


def test_mathis_is_renos_window() -> None:
    for loss in LOSSES.values():
        assert reno_window(loss) == pytest.approx(math.sqrt(1.5 / loss), rel=0.03)


def test_windows_are_of_random_losses_of_data_alone(study: Study) -> None:
    for run in plan(study):
        if run.experiment.startswith("windows"):
            (link,) = run.setting.path.links
            assert link.down.loss.mean in LOSSES.values()
            assert not link.up.loss.mean
            # No other limit: the formulas know of none.
            assert not link.down.first_rate
