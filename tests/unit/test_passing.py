"""The ideal path of policers, MTUs and rules for UDP, against closed forms."""

from __future__ import annotations

from typing import Any

import pytest

from headway.selftest.ideal import NEVER, Course, Stage
from headway.selftest.passing import (
    ProbePacket,
    has_rules,
    ideal,
    latest_rule_ns,
    rules_alone,
    without_rules,
)
from headway.study.path import Direction, Path, Way
from headway.study.units import Duration

SECOND = 10**9


def course(*raw: dict[str, Any]) -> Course:
    stages = [Stage(Direction.model_validate(one), Duration(0), (), NEVER) for one in raw]
    return Course(Way.UP, tuple(stages))


def full(at_ns: int, *, udp: bool = True) -> ProbePacket:
    return ProbePacket(at_ns, 1514, udp)


@pytest.mark.parametrize("burst_kb", [2, 15, 30, 100])
def test_a_burst_passes_as_far_as_the_bucket_reaches(burst_kb: int) -> None:
    policer = {"rate": "1 Mbit/s", "burst": f"{burst_kb} kB"}
    passed = ideal(course({"policer": policer}), 0, [full(0)] * 200)
    assert sum(passed) == burst_kb * 1000 // 1514


def test_in_the_long_run_as_much_passes_as_the_rate_and_one_burst() -> None:
    policer = {"rate": "8 Mbit/s", "burst": "30 kB"}
    packets = [full(n * 500_000) for n in range(4000)]  # 24 Mbit/s for 2 s
    passed = sum(ideal(course({"policer": policer}), 0, packets))
    assert passed * 1514 == pytest.approx(30_000 + 2 * 1_000_000, rel=1e-3)


def test_a_policer_of_udp_leaves_others_alone() -> None:
    rules = {"udp": {"rate": "1 Mbit/s", "burst": "3 kB"}}
    packets = [full(0), full(1, udp=False), full(2), full(3, udp=False), full(4, udp=False)]
    assert ideal(course(rules), 0, packets) == [True, True, False, True, True]


def test_sizes_are_those_of_packets_without_their_frames() -> None:
    packets = [ProbePacket(0, size + 14, udp=True) for size in (1400, 1401)]
    assert ideal(course({"mtu": "1400 B"}), 0, packets) == [True, False]
    assert ideal(course({"udp": {"longest": "1400 B"}}), 0, packets) == [True, False]


def test_rules_hold_in_their_time_and_on_any_link() -> None:
    rules = {"udp": {"verdict": "blocked", "start": "1 s", "end": "2 s"}}
    times = [0, 2 * SECOND, 3 * SECOND, 4 * SECOND]
    # The path's own time begins after a second; packets are half a second on the way to the rule.
    passed = ideal(course({"delay": "500 ms"}, rules), SECOND, [full(at) for at in times])
    assert passed == [True, False, True, True]


def test_a_path_is_taken_apart_into_its_rules_and_all_else() -> None:
    path = Path.model_validate(
        {
            "rate": "5 Mbit/s",
            "rtt": "20 ms",
            "loss": "1 %",
            "up": {"udp": {"loss": "2 %", "end": "4 s"}},
        }
    )
    bare, alone = without_rules(path), rules_alone(path)
    assert has_rules(path)
    assert has_rules(alone)
    assert not has_rules(bare)
    assert bare.links[0].down == path.links[0].down
    assert alone.links[0].down == Direction(delay=path.links[0].down.delay)
    assert latest_rule_ns(alone) == 4 * SECOND
