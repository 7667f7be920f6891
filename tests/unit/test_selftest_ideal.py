"""The ideal path, the fates of its packets, and what is planned for it."""

from __future__ import annotations

import io
import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from headway.contract import probe_orders
from headway.contract.orders import Orders
from headway.selftest.battery import battery
from headway.selftest.check import Check
from headway.selftest.checktable import print_checks, print_verdict
from headway.selftest.fate import damaged_share, fate
from headway.selftest.feed import feed
from headway.selftest.ideal import Course, Stage, directions, planned_rates
from headway.selftest.timeline import Timeline, bursts
from headway.study.path import Path, Way
from headway.study.pathwords import path_title


def course(raw: dict[str, Any], origin_ns: int = 0) -> Course:
    path = Path.model_validate(raw)
    stages = tuple(
        Stage(direction, path.rtt, planned_rates(direction, "1/link0-up", 10**10), origin_ns)
        for direction in directions(path, Way.UP)
    )
    return Course(Way.UP, stages)


def check(measured: float | None, low: float = 0, high: float = 2) -> Check:
    return Check("loss up", "a path", 1, measured, low, high, "%", "a note")


def test_full_packets_leave_a_link_at_its_rate() -> None:
    slow = course({"rate": "12.112 Mbit/s", "delay": "5 ms"})
    assert slow.full_packets([0, 0, 0]) == [5_000_000, 6_000_000, 7_000_000]
    assert slow.full_packets([0, 3_000_000]) == [5_000_000, 8_000_000]


def test_the_narrowest_link_of_a_chain_sets_the_pace() -> None:
    chain = course(
        {"links": [{"rate": "24.224 Mbit/s"}, {"rate": "12.112 Mbit/s", "delay": "1 ms"}]}
    )
    assert chain.full_packets([0, 0, 0]) == [1_000_000, 2_000_000, 3_000_000]
    assert chain.narrow == 1


def test_a_packet_is_finished_at_the_rate_it_began_with() -> None:
    steps = [{"at": "0 s", "rate": "12.112 Mbit/s"}, {"at": "1.5 ms", "rate": "1.2112 Mbit/s"}]
    changing = course({"rate": {"steps": steps}})
    assert changing.full_packets([0] * 4) == [0, 1_000_000, 2_000_000, 12_000_000]


def test_every_full_packet_of_a_trace_needs_an_opportunity() -> None:
    trace = course({"rate": {"trace": "t", "opportunities_ms": [2, 2, 5]}, "queue": "64 kB"})
    assert [at // 1_000_000 for at in trace.full_packets([0] * 5)] == [2, 2, 5, 7, 7]
    assert [at // 1_000_000 for at in trace.full_packets([0, 2_500_000])] == [2, 5]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=12), st.integers(0, 200_000_000))
def test_opportunities_come_again_and_again(gaps: list[int], from_ns: int) -> None:
    times = list(itertools.accumulate(gaps))
    trace = course({"rate": {"trace": "t", "opportunities_ms": times}})
    laps = range(from_ns // (times[-1] * 1_000_000) + 3)
    every = [(lap * times[-1] + at) * 1_000_000 for lap in laps for at in times]
    expected = [at for at in every if at >= from_ns][:5]
    found = trace.stages[0].opportunities(from_ns)
    assert list(itertools.islice(found, len(expected))) == expected


def test_who_comes_a_moment_before_an_opportunity_may_miss_it() -> None:
    trace = course({"rate": {"trace": "t", "opportunities_ms": [2, 3000]}, "delay": "20 ms"})
    # 5 us before the opportunity, and on the spot: an emulation that is late has the packet wait for 3 s.
    assert trace.is_close_alone(1_995_000) and trace.is_close_alone(2_000_000)
    assert trace.is_close([0, 2_999_995_000])
    assert not trace.is_close_alone(1_900_000) and not trace.is_close_alone(2_000_001)
    assert not trace.is_close([0, 2_000_001])
    assert not course({"rate": "1 Mbit/s"}).is_close([0, 5])


def test_a_fed_trace_decides_nothing_by_a_moment() -> None:
    times = [1, 1, 1, 2, 2, 300, 300, 300, 2300]
    trace = course({"rate": {"trace": "t", "opportunities_ms": times}, "queue": "12 kB"})
    timeline = Timeline("t", {Way.UP: trace})
    fed = feed(timeline, Way.UP, trace, 100_000_000, lambda sent, _: sent >= 40)
    (flow,) = timeline.flows[Way.UP]
    sent = [at for at, count in flow.sends for _ in range(count)]
    assert len(fed.ideal_ns) == 40 and not trace.is_close(sent)


def test_changes_count_from_the_origin() -> None:
    changing = course({"delay": "5 ms", "changes": [{"at": "1 s", "delay": "9 ms"}]}, 10**9)
    assert changing.small_packet(1_999_999_999)[-1] == 2_004_999_999
    assert changing.small_packet(2_000_000_000)[-1] == 2_009_000_000


def test_blackouts_end_at_their_end() -> None:
    stage = course({"blackouts": [["1 s", "2 s"]]}).stages[0]
    assert [stage.is_black(at) for at in (999_999_999, 10**9, 1_999_999_999, 2 * 10**9)] == [
        False,
        True,
        True,
        False,
    ]


@given(st.integers(0, 100), st.integers(0, 100))
def test_losses_of_a_chain_multiply(first: int, second: int) -> None:
    links = [{"loss": f"{first} %"}, {"loss": f"{second} %"}]
    expected = 1 - (1 - first / 100) * (1 - second / 100)
    assert fate(course({"links": links})).lost == pytest.approx(expected)


def test_a_duplicate_may_survive_its_original() -> None:
    both = fate(course({"loss": "10 %", "duplication": "20 %"}))
    assert both.lost == pytest.approx(0.1 * 0.8)
    assert both.repeated == pytest.approx(0.2 * 0.9 * 0.9)


def test_damage_that_a_router_notices_is_not_seen_at_the_end() -> None:
    last = damaged_share(course({"links": [{}, {"corruption": "10 %"}]}))
    first = damaged_share(course({"links": [{"corruption": "10 %"}, {}]}))
    assert last is not None
    assert first is not None
    assert first < last < 0.1
    assert damaged_share(course({})) == 0


@given(st.integers(1, 5000), st.sampled_from(["2 packets", "0.1 BDP", "64 kB"]))
def test_bursts_send_all_packets_and_fit_the_queue(count: int, queue: str) -> None:
    slow = course({"rate": "1 Mbit/s", "rtt": "50 ms", "queue": queue})
    sends = bursts(slow, 0, count)
    assert sum(number for _, number in sends) == count
    assert max(number for _, number in sends) * 60 <= (slow.smallest_queue_bytes or 0)
    assert all(later[0] > earlier[0] for earlier, later in itertools.pairwise(sends))


def test_the_probes_know_the_grid_that_workloads_start_on() -> None:
    assert Orders(namespaces=()).start_grid_ns == probe_orders.START_GRID_NS


def test_a_check_passes_within_its_bounds_only() -> None:
    assert check(2).passed
    assert check(2.0000000001).passed
    assert not check(2.1).passed
    assert not check(None).passed
    assert "not within 0 to 2" in str(check(3))


def test_checks_are_json() -> None:
    text = json.dumps([check(1).as_json(), check(None).as_json()], allow_nan=False)
    first, second = json.loads(text)
    assert first["passed"]
    assert second["measured"] is None


def test_the_verdict_says_in_words_what_failed() -> None:
    console = Console(width=200, file=io.StringIO(), record=True)
    print_verdict(console, [check(1), check(3)])
    first, second = console.export_text().splitlines()
    assert first == "The emulation is wrong: 1 of 2 checks failed."
    assert second.startswith("FAIL ") and "3 %, not within 0 to 2" in second
    print_verdict(console, [check(1)])
    assert console.export_text() == "The emulation is exact: all 1 checks passed.\n"


def test_the_table_has_every_check() -> None:
    console = Console(width=200, file=io.StringIO(), record=True)
    print_checks(console, [check(1), check(3)])
    text = console.export_text()
    assert "pass" in text
    assert "FAIL" in text


def test_the_battery_has_no_path_twice_and_describes_each() -> None:
    described = [path_title(path) for path in battery()]
    assert len(set(described)) == len(described)
    assert "10 Mbit/s, RTT 100 ms" in described


def test_packets_that_are_kept_leave_one_after_another_when_the_contact_begins() -> None:
    plan = {"spans": [["0 s", "2.5 ms"], ["10 ms", "11.5 ms"]], "repeat": "20 ms"}
    kept = course({"rate": "12.112 Mbit/s", "contacts": {**plan, "meanwhile": "kept"}}, origin_ns=0)
    assert kept.full_packets([0] * 6) == [
        *(0, 1_000_000, 2_000_000),
        *(10_000_000, 11_000_000, 20_000_000),
    ]
    lost = course({"rate": "12.112 Mbit/s", "contacts": plan}, origin_ns=0)
    times = (0, 2_400_000, 2_500_000, 9_999_999, 10_000_000, 11_500_000, 20_000_000)
    assert [lost.stages[0].is_black(at) for at in times] == [
        *(False, False, True, True, False, True, False)
    ]


def test_after_the_last_contact_nothing_comes() -> None:
    once = course({"contacts": [["1 s", "2 s"]]}, origin_ns=0)
    assert [once.stages[0].is_black(at * 10**9) for at in range(4)] == [True, False, True, True]
