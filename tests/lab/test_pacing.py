"""How senders spread their packets, as captured: those that are known to, and what a path makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.records.flowfile import FLOW_RECORDS
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

PATH = {"rate": "40 Mbit/s", "rtt": "40 ms"}
TOLD = (
    "gap_p50_ms",
    "gap_p95_ms",
    "longest_burst_packets",
    "bursts",
    "even_share",
    "rate_share",
)
PACING = {"capture": {"pacing": True}, "variation": "none", "path": PATH}


def h3(**server: Any) -> dict[str, Any]:
    own = {"program": "headway-server", **server}
    return PACING | {"protocol": "h3", "server": own, "workload": {"size": "1 MB"}}


def h2(**kernel: Any) -> dict[str, Any]:
    return PACING | {"server": {"kernel": kernel}, "workload": {"size": "4 MB"}}


def test_a_constant_rate_is_told_as_such(run_setting: RunSetting) -> None:
    call = {"kind": "call", "rate": "1 Mbit/s", "duration": "3 s"}
    ends = {role: {"program": "headway-call"} for role in ("client", "server")}
    record = run_setting(PACING | ends | {"protocol": "udp", "workload": call})
    assert record.error is None
    # A datagram of 1200 bytes every 9.6 ms; the last one is followed at once by one that says so.
    for place in ("sender", "bottleneck"):
        told = {part: getattr(record, f"{place}_{part}") for part in TOLD}
        assert told["gap_p50_ms"] == pytest.approx(9.6, abs=0.002)
        assert told["gap_p95_ms"] == pytest.approx(9.6, abs=0.002)
        assert told["longest_burst_packets"] == 2 and told["bursts"][1] == 2
        assert told["even_share"] == pytest.approx(1, abs=0.02)
        assert told["rate_share"] == 0


def test_a_flow_that_is_paced_near_the_links_rate_has_it(run_setting: RunSetting) -> None:
    """In the pairs that its pacer lets go at once, at 38 Mbit/s of datagrams."""
    knobs = {"pacing": "38Mbit/s", "max_burst": 2}
    ends = {"client": {"program": "headway-perf"}}
    ends["server"] = {"program": "headway-perf", "knobs": knobs}
    bulk = {"kind": "bulk", "duration": "3 s"}
    record = run_setting(PACING | ends | {"protocol": "quic", "workload": bulk})
    assert record.error is None
    assert record.sender_rate_share == pytest.approx(1, abs=0.01)
    assert record.sender_burst_packets == pytest.approx(2, abs=0.2)
    assert record.sender_even_share == pytest.approx(0, abs=0.01)
    # Payload alone is what it counts, so that frames go at 39 Mbit/s.
    assert record.sender_gap_p95_ms == pytest.approx(2 * 1472 * 8 / 38e3, rel=0.01)


def test_a_window_that_leaves_at_once_is_one_burst_until_it_is_paced(
    run_setting: RunSetting,
) -> None:
    """24 packets: the credit that the client gives the connection at first, and of which the window of 32 has room."""
    first, paced = (
        run_setting(h3(knobs={"pacing": pacing}, initial_window={"quic": 32}), name=pacing)
        for pacing in ("off", "on")
    )
    assert first.error is None and paced.error is None
    assert (first.first_burst_packets or 0) >= 20
    assert (paced.first_burst_packets or 9) <= 3


def test_fq_spreads_what_is_not_cut_behind_it(run_setting: RunSetting) -> None:
    """TCP hands down what it sends in a millisecond as one, which fq lets go as one."""
    plain, fq, whole = (
        run_setting(h2(**kernel), name=name)
        for name, kernel in (
            ("plain", {}),
            ("fq", {"qdisc": "fq"}),
            ("whole", {"qdisc": "fq", "offload": []}),
        )
    )
    assert plain.first_burst_packets == 10
    assert plain.sender_burst_packets == pytest.approx(3.9, abs=0.4)
    assert fq.sender_burst_packets == pytest.approx(3.7, abs=0.4)
    assert whole.sender_burst_packets == pytest.approx(1.3, abs=0.2)


def test_a_slower_link_before_the_bottleneck_spreads_bursts(run_setting: RunSetting) -> None:
    links = [{"rate": "40 Mbit/s", "delay": "10 ms"}, {"rate": "100 Mbit/s", "delay": "10 ms"}]
    record = run_setting(h2() | {"path": {"links": links}})
    assert record.error is None
    assert record.first_burst_packets == 10
    assert (record.sender_longest_burst_packets or 0) >= 10
    # A packet takes 0.12 ms there, which is more than a third of the 0.30 ms behind it.
    assert record.bottleneck_burst_packets == pytest.approx(1, abs=0.01)
    assert record.bottleneck_gap_p50_ms == pytest.approx(1514 * 8 / 100e3, abs=0.001)


def test_capturing_changes_nothing(run_setting: RunSetting) -> None:
    both = [
        run_setting(h2() | {"capture": {"pacing": pacing}}, name=str(pacing))
        for pacing in (False, True)
    ]
    assert both[0].sender_bursts is None and both[1].sender_bursts
    assert both[0].total_s == both[1].total_s


def test_each_flow_has_its_own(run_setting: RunSetting, tmp_path: Path) -> None:
    flows = {"paced": {"server": {"kernel": {"qdisc": "fq", "offload": []}}}, "plain": {}}
    record = run_setting(PACING | {"flows": flows, "workload": {"size": "4 MB"}})
    assert record.error is None
    paced, plain = FLOW_RECORDS.load(tmp_path / "run").flows
    assert paced.sender_burst_packets == pytest.approx(1, abs=0.1)
    assert plain.sender_burst_packets == pytest.approx(2.4, abs=0.5)
    assert (paced.first_burst_packets, plain.first_burst_packets) == (7, 10)
    for one in (paced, plain):
        assert sum(one.sender_bursts or ()) == sum(one.bottleneck_bursts or ())
