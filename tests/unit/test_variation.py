"""What repetitions differ in: small, by the seed alone, around what the study states."""

import statistics
from typing import Any

import pytest

from headway.lab.network import layout_of
from headway.planning.deploy import deploy
from headway.study.experiment import Experiment
from headway.study.library import builtin_names
from headway.study.path import Direction, Path
from headway.study.queue import FRAME_BYTES
from headway.study.setting import Setting
from headway.study.settingkeys import Variation
from headway.study.variation import (
    DELAY_SHARE,
    MOST_PROCESSING_NS,
    PROCESSING_SHARE,
    START_WITHIN_NS,
    drawn_path,
    start_after_ns,
)
from tests.builtin_studies import builtin_study
from tests.deployed import orders_of

SEEDS = range(1, 401)


def varied(**conditions: Any) -> Setting:
    path = {"rate": "10 Mbit/s", "rtt": "100 ms", "queue": "1 BDP"}
    return Setting.model_validate({"variation": "phases", "path": path, **conditions})


def drawn(setting: Setting, seed: int) -> Path:
    """The first path of a chain as a run meets it."""
    return drawn_path(setting, setting.path, "0", seed)


def down(path: Path) -> Direction:
    return path.links[0].down


def test_delays_lie_around_what_is_stated() -> None:
    setting = varied()
    delays = [down(drawn(setting, seed)).delay.ns for seed in SEEDS]
    stated = down(setting.path).delay.ns
    assert max(delays) <= stated * (1 + DELAY_SHARE)
    assert min(delays) >= stated * (1 - DELAY_SHARE)
    assert len(set(delays)) > 390
    # The mean of 400 uniform draws is within 4 of its standard deviations of the middle.
    deviation = stated * DELAY_SHARE / 3**0.5 / len(SEEDS) ** 0.5
    assert abs(statistics.fmean(delays) - stated) < 4 * deviation


def test_each_direction_is_drawn_on_its_own_and_again_alike() -> None:
    setting = varied()
    link = drawn(setting, 7).links[0]
    assert link.down.delay != link.up.delay
    assert drawn(setting, 7) == drawn(setting, 7)
    assert layout_of(deploy(setting, 7)) == layout_of(deploy(setting, 7))
    assert layout_of(deploy(setting, 7)) != layout_of(deploy(setting, 8))


def test_contenders_of_a_repetition_meet_the_same() -> None:
    h2, h3 = varied(protocol="h2"), varied(protocol="h3")
    assert drawn(h2, 5) == drawn(h3, 5)
    assert start_after_ns(h2, 5) == start_after_ns(h3, 5)


def test_processing_takes_a_part_of_a_packets_time_and_never_long() -> None:
    link = drawn(
        varied(
            path={
                "links": [
                    {"delay": "50 ms", "down": {"rate": "10 Mbit/s"}, "up": {"rate": "100 kbit/s"}}
                ]
            }
        ),
        1,
    ).links[0]
    packet_ns = FRAME_BYTES * 8 * 10**9 // 10_000_000
    assert link.down.jitter.ns == round(PROCESSING_SHARE * packet_ns) // 2
    assert link.down.keeps_order
    assert link.up.jitter.ns == MOST_PROCESSING_NS // 2
    assert down(drawn(varied(path={"rtt": "100 ms"}), 1)).jitter.ns == 0


def test_what_is_stated_of_jitter_and_queues_stays() -> None:
    stated = {"rate": "10 Mbit/s", "rtt": "100 ms", "jitter": "5 ms", "queue": "1 BDP"}
    setting = varied(path=stated)
    met = drawn(setting, 3)
    assert down(met).jitter.ms == 5
    rate, rtt = down(setting.path).first_rate, setting.path.rtt
    assert rate is not None
    assert down(met).queue.limit_bytes(rate, met.rtt) == 125_000
    assert met.rtt != rtt


def test_changes_of_delays_and_short_delays() -> None:
    changes = [{"at": "1 s", "delay": "10 ms"}, {"at": "2 s", "loss": "1 %"}]
    met = down(
        drawn(varied(path={"rate": "1 Mbit/s", "delay": "50 ms", "down": {"changes": changes}}), 2)
    )
    first, second = met.changes
    assert first.delay is not None
    assert first.delay.ns / 10e6 == pytest.approx(met.delay.ns / 50e6, rel=1e-6)
    assert second.delay is None
    at_once = down(drawn(varied(path={"rate": "1 Mbit/s"}), 2))
    assert (at_once.delay.ns, at_once.jitter.ns) == (0, 0)


def test_the_workload_starts_within_a_tick() -> None:
    setting = varied()
    starts = [start_after_ns(setting, seed) for seed in SEEDS]
    assert min(starts) >= 0
    assert START_WITHIN_NS * 0.95 < max(starts) < START_WITHIN_NS
    (one,) = orders_of(setting, 9).rounds
    assert one.start_after_ns == start_after_ns(setting, 9)


def test_every_path_of_a_chain_is_drawn_but_no_cable() -> None:
    hops = [
        {"name": "near", "path": {"rate": "5 Mbit/s", "rtt": "40 ms"}},
        {"name": "far"},
    ]
    setting = varied(hops=hops)
    first, near, far = (leg.path for leg in deploy(setting, 4).legs)
    assert first and near and far is None
    assert near.rtt != setting.hops["near"].path.rtt
    assert near.rtt.ms / 40 != first.rtt.ms / 100
    upstream = {"program": "envoy", "upstream": {"path": {"rate": "5 Mbit/s", "rtt": "40 ms"}}}
    behind = deploy(varied(proxy=upstream), 4).legs[1].path
    assert behind
    assert abs(behind.rtt.ms / 40 - 1) <= DELAY_SHARE


def test_none_is_exact() -> None:
    setting = varied(variation="none")
    assert drawn(setting, 3) is setting.path
    assert start_after_ns(setting, 3) == 0
    assert Setting().variation is Variation.NONE


def test_studies_vary_unless_they_say_otherwise() -> None:
    usual = Experiment.model_validate({"conditions": {"path": {"rtt": "10 ms"}}})
    exact = Experiment.model_validate({"conditions": {"variation": "none"}})
    assert usual.setting({}, "h2").variation is Variation.PHASES
    assert exact.setting({}, "h2").variation is Variation.NONE
    published = {"liu2024", "kosek2022", "kakhki2017"}
    assert published < set(builtin_names())
    for name in builtin_names():
        # Flows that compete were published without paths of each repetition.
        study = builtin_study(name, quick=name in published)
        found = {
            experiment.setting(cell, contender).variation
            for experiment in study.experiments
            if experiment.name != "fairness"
            for cell in experiment.grid()
            for contender in experiment.contenders
            if not experiment.excludes({**cell, "contender": contender})
        }
        exact = name in published or name == "handshake"
        assert found == {Variation.NONE if exact else Variation.PHASES}
