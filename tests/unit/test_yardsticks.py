"""The built-in study of others' yardsticks: what was published, by the closed forms and set-ups that it is from."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest

from headway.planning.runs import Run, plan
from headway.study.claim import Value
from headway.study.experiment import Experiment, Study
from headway.study.load import load_study
from headway.study.published import Published

SEGMENT_BYTES = 1448
LOSSES = {"1 %": 1e-2, "0.1 %": 1e-3, "0.01 %": 1e-4}


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study("yardsticks")


@pytest.fixture(scope="module")
def runs(study: Study) -> list[Run]:
    return list(plan(study))


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


def test_windows_are_of_random_losses_of_data_alone(runs: list[Run]) -> None:
    for run in runs:
        if run.experiment.startswith("windows"):
            (link,) = run.setting.path.links
            assert link.down.loss.mean in LOSSES.values()
            assert not link.up.loss.mean
            # No other limit: the formulas know of none.
            assert not link.down.first_rate


def test_every_yardstick_says_where_it_stands(study: Study) -> None:
    """35 values and 70 sentences, none of them there twice for the same place."""
    claims = [claim for one in study.experiments for claim in one.claims]
    assert sum(len(one.published) for one in study.experiments) == 3 * 4 + 3 * 4 + 4 + 2 + 2 + 3
    assert len({(claim.says, claim.place) for claim in claims}) == len(claims) == 70
    assert all(claim.place for claim in claims)


def test_every_satellite_bound_is_of_the_draft(study: Study) -> None:
    """Three sizes over each of five paths. The bound in a claim's words is that of its rule."""
    bounds = {}
    for claim in experiment(study, "satellite").claims:
        assert isinstance(claim.rule, Value)
        assert claim.says.endswith(f"within {claim.rule.high:g} s: {claim.rule.contender}")
        bounds[tuple(sorted(claim.where.items()))] = claim.rule.high
    asked = [bound for bound in bounds.values() if bound]
    assert sorted(asked) == sorted([3, 10, 85, 3, 5, 20, 3, 5, 20, 3, 5, 8, 3, 6, 10])


def test_what_is_remembered_is_a_bandwidth_delay_product(runs: list[Run]) -> None:
    remembered = [run for run in runs if run.contender.endswith("remembered")]
    assert remembered
    for run in remembered:
        (link,) = run.setting.path.links
        assert link.down.first_rate is not None
        bytes_of_it = float(link.down.first_rate) * run.setting.path.rtt.s / 8
        assert run.setting.server.knobs["saved_window"] == f"{bytes_of_it:.0f}B"


FRAME_BYTES, DATA_BYTES = 1514, 1439
"""Of a full packet of Headway's QUIC: as a link counts it, and what it carries of a stream."""
AT_ONCE = 1e9


def least_s(
    rate_bit_s: float, rtt_s: float, size_bytes: float, window: float, growth: float = 2.0
) -> float:
    """A download by a sender whose window grows by so much each round trip until the link is full, without a loss.

    The first packet leaves after a handshake and half a round trip, and the last one is half a round trip on its way.
    """
    packets = size_bytes / DATA_BYTES
    packet_s = FRAME_BYTES * 8 / rate_bit_s
    begun_s = 1.5 * rtt_s
    while window < rtt_s / packet_s and window < packets:
        packets, begun_s, window = packets - window, begun_s + rtt_s, window * growth
    return begun_s + packets * packet_s + rtt_s / 2


REASONS: dict[str, Callable[[float], tuple[float, float]]] = {
    r"Headers alone: .* takes ([\d.]+) s": lambda rtt_s: (AT_ONCE, 2.0),
    r"Ten packets that double .* take ([\d.]+) s": lambda rtt_s: (10, 2.0),
    r"Ten packets that grow by [\d.]+ times .* take ([\d.]+) s;": lambda rtt_s: (
        10,
        2 ** (rtt_s / 0.2),
    ),
}
"""Why a bound cannot be met, by the first window and its growth that the time in it follows from."""


@pytest.mark.parametrize(("name", "rtt_s"), [("satellite", 0.65), ("picoquic", 0.6)])
def test_what_forbids_a_bound_follows_from_the_closed_form(
    study: Study, name: str, rtt_s: float
) -> None:
    one = experiment(study, name)
    checked = 0
    for claim in one.claims:
        for pattern, sender in REASONS.items():
            if found := re.match(pattern, claim.why):
                rate = float(str(claim.where["path.down.rate"]).split()[0]) * 1e6
                size = float(str(claim.where.get("workload.size", "100 MB")).split()[0]) * 1e6
                expected = least_s(rate, rtt_s, size, *sender(rtt_s))
                assert float(found[1]) == pytest.approx(expected, abs=0.06), claim.says
                assert isinstance(claim.rule, Value)
                assert claim.rule.high is not None
                assert claim.rule.high < expected
                checked += 1
    assert checked > 10


def test_doubling_meets_picoquics_bound_only_from_400_packets_on() -> None:
    over = [least_s(250e6, 0.6, 100e6, initial) for initial in (10, 60, 100, 400)]
    assert over == pytest.approx([10.2, 8.6, 8.2, 7.0], abs=0.05)
    assert over[-1] < 7 < over[-2]
