"""L4S: senders mark ECT(1), DualPI2 keeps their queue short, and both share with CUBIC as RFC 9332 says."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from headway.lab.pcapng import read_pcapng
from headway.records.flowfile import FLOW_RECORDS
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

PERF = {"program": "headway-perf"}
NOT_ECT, ECT_1, ECT_0, CE = range(4)
DUALPI2 = {"size": "1 MB", "discipline": "dualpi2"}


def bulk(rate_mbit: int, rtt_ms: int, duration_s: int, **more: Any) -> dict[str, Any]:
    return {
        "path": {"rate": f"{rate_mbit} Mbit/s", "rtt": f"{rtt_ms} ms", "queue": DUALPI2},
        "client": PERF,
        "workload": {"kind": "bulk", "duration": f"{duration_s} s"},
        **more,
    }


def flow(protocol: str, control: str, **more: Any) -> dict[str, Any]:
    return {"protocol": protocol, "server": PERF | {"congestion_control": control}, **more}


def codepoints(capture: Path) -> Counter[int]:
    """Full packets of who sends most of them, by their ECN field (RFC 3168, section 5)."""
    packets = [frame[14:] for _, frame in read_pcapng(capture) if frame[12:14] == b"\x08\x00"]
    full = [(packet[12:16], packet[1] & 3) for packet in packets if len(packet) > 1000]
    source = Counter(source for source, _ in full).most_common(1)[0][0]
    return Counter(codepoint for sender, codepoint in full if sender == source)


@pytest.mark.parametrize(
    ("client", "server", "protocol"),
    [
        ("curl", "nginx", "h2"),
        ("headway-client", "headway-server", "h2"),
        ("headway-client", "headway-server", "h3"),
    ],
)
def test_packets_of_prague_are_ect_1_and_come_marked(
    run_setting: RunSetting, tmp_path: Path, client: str, server: str, protocol: str
) -> None:
    record = run_setting(
        {
            "protocol": protocol,
            "client": {"program": client},
            "server": {"program": server, "congestion_control": "prague"},
            "workload": {"size": "5 MB"},
            "path": {"rate": "20 Mbit/s", "rtt": "20 ms", "queue": DUALPI2},
            "capture": {"packets": True},
        }
    )
    assert (record.error, record.server_cc) == (None, "prague")
    sent, came = (codepoints(tmp_path / "run" / f"{host}.pcapng") for host in ("server", "client"))
    assert sent[ECT_1] > 3000 and not sent[ECT_0] and not sent[CE]
    assert not came[NOT_ECT] and came[CE] > 20
    assert record.l4s_packets_down is not None and record.l4s_packets_down >= came.total()
    # Shorter ones are marked, too.
    assert record.marked_down is not None and came[CE] <= record.marked_down <= came[CE] + 5
    assert record.queue_dropped_down == 0


@pytest.mark.parametrize("protocol", ["tcp", "quic"])
@pytest.mark.parametrize(("rate_mbit", "rtt_ms"), [(10, 40), (40, 10), (100, 20)])
def test_prague_alone_keeps_its_queue_short_and_the_link_busy(
    run_setting: RunSetting, protocol: str, rate_mbit: int, rtt_ms: int
) -> None:
    """Half of its packets wait less than 1 ms, DualPI2's threshold, and 99 of 100 less than 2 ms or two packets' time more."""
    setting = bulk(rate_mbit, rtt_ms, 20, flows={"prague": flow(protocol, "prague")})
    record = run_setting(setting)
    assert record.error is None
    assert record.l4s_delay_ms is not None and record.l4s_delay_ms < 1
    packet_ms = 1514 * 8 / rate_mbit / 1000
    assert record.l4s_delay_p99_ms is not None and record.l4s_delay_p99_ms < 2 + 2 * packet_ms
    assert record.utilisation is not None and record.utilisation > 0.85


def test_the_queues_are_coupled(run_setting: RunSetting) -> None:
    """RFC 9332, section 2.1: the classic queue drops by the square of half of what the other one marks (k = 2)."""
    flows = {
        "prague": flow("tcp", "prague", count=5),
        "cubic": flow("tcp", "cubic", count=5),
    }
    record = run_setting(bulk(40, 20, 60, flows=flows))
    assert record.error is None
    dropped, classic = record.queue_dropped_down, record.classic_packets_down
    marked, l4s = record.marked_down, record.l4s_packets_down
    assert dropped and classic and marked and l4s and record.step_marked_down is not None
    marked -= record.step_marked_down
    # The probability is not the same all the time, and the mean of squares is more than the square of the mean.
    share = dropped / (dropped + classic)
    half = marked / l4s / 2
    error = 3 / sqrt(dropped)
    assert 1 - error < share / half**2 < 1.3 + error, (dropped, classic, marked, l4s)


def test_beside_cubic_each_queue_has_its_delay(run_setting: RunSetting, tmp_path: Path) -> None:
    flows = {"prague": flow("tcp", "prague"), "cubic": flow("tcp", "cubic")}
    record = run_setting(bulk(40, 20, 30, flows=flows))
    assert record.error is None
    assert record.l4s_delay_p99_ms is not None and record.l4s_delay_p99_ms < 2
    assert record.classic_delay_ms is not None and 8 < record.classic_delay_ms < 20
    shares = {one.flow: one.share or 0 for one in FLOW_RECORDS.load(tmp_path / "run").flows}
    assert 0.35 < shares["prague"] < 0.75, shares


def expected_share(rate_mbit: int, rtt_ms: int) -> float:
    """Prague's share beside CUBIC, where each does what its law says of marks and drops at random.

    The classic queue drops with p² and the other one marks with 2p (RFC 9332, section 2.1). CUBIC's mean window is the larger of
    1.22/sqrt(p²) and that of RFC 9438, section 5.1, over the path's round trip and the queue's target, 15 ms. Prague cuts by
    half of 2p at the first mark after a virtual round trip, and grows by as much until then: with m marks in a virtual round
    trip, 1 + 1/m = m/2.
    """
    marks = 1 + sqrt(3)
    classic_s, virtual_s = rtt_ms / 1e3 + 0.015, max(0.025, rtt_ms / 1e3)

    def rates(p: float) -> tuple[float, float]:
        window = max(1.22 / p, 1.054 * classic_s**0.75 / p**1.5)
        return marks / (2 * p * virtual_s), window / classic_s

    low, high = 1e-6, 1.0
    for _ in range(60):
        p = sqrt(low * high)
        is_too_much = sum(rates(p)) > rate_mbit * 1e6 / 8 / 1514
        low, high = (p, high) if is_too_much else (low, p)
    prague, cubic = rates(low)
    return prague / (prague + cubic)


@pytest.mark.parametrize(("rate_mbit", "rtt_ms"), [(40, 10), (40, 40), (100, 20)])
def test_shares_beside_cubic_are_those_of_both_laws(
    run_setting: RunSetting, tmp_path: Path, rate_mbit: int, rtt_ms: int
) -> None:
    flows = {"prague": flow("tcp", "prague"), "cubic": flow("tcp", "cubic")}
    record = run_setting(bulk(rate_mbit, rtt_ms, 60, flows=flows))
    assert record.error is None
    shares = {one.flow: one.share or 0 for one in FLOW_RECORDS.load(tmp_path / "run").flows}
    assert abs(shares["prague"] - expected_share(rate_mbit, rtt_ms)) < 0.08, shares


@pytest.mark.parametrize(
    ("ecn", "protocol"),
    [
        ("bleached", "h2"),
        ("bleached", "h3"),
        ({"ect1": "ect0", "after_queue": True}, "h2"),
        ({"ect1": "ect0", "after_queue": True}, "h3"),
    ],
)
def test_what_the_path_writes_is_what_comes(
    run_setting: RunSetting, tmp_path: Path, ecn: Any, protocol: str
) -> None:
    record = run_setting(
        {
            "protocol": protocol,
            "client": {"program": "headway-client"},
            "server": {"program": "headway-server", "congestion_control": "prague"},
            "workload": {"size": "2 MB"},
            "path": {"rate": "20 Mbit/s", "rtt": "20 ms", "queue": DUALPI2, "down": {"ecn": ecn}},
            "capture": {"packets": True},
        }
    )
    assert record.error is None
    sent, came = (codepoints(tmp_path / "run" / f"{host}.pcapng") for host in ("server", "client"))
    assert record.ecn_changed_down is not None and record.ecn_changed_down > 0
    assert not came[ECT_1]
    if ecn == "bleached":
        assert came[NOT_ECT] == came.total() and record.l4s_packets_down == 0
    if ecn == "bleached" or protocol == "h3":
        # The handshake shows it: AccECN by the SYN/ACK (RFC 9768, section 3.2.2.3), QUIC by its counts (RFC 9000, 13.4.2).
        assert sent[NOT_ECT] > 1000
    else:
        assert sent[ECT_1] > 1000 and came[ECT_0] > 1000 and came[CE] > 5


def test_a_step_for_two_packets_gives_prague_its_share_of_a_slow_link(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """A packet takes 1.2 ms at 10 Mbit/s: by Linux's step of 1 ms, all are marked that wait for another one."""
    flows = {"prague": flow("tcp", "prague"), "cubic": flow("tcp", "cubic")}
    shares = []
    for name, step in (("linux", {}), ("two", {"step": "3 ms"})):
        setting = bulk(10, 20, 40, flows=flows)
        setting["path"]["queue"] = DUALPI2 | step
        record = run_setting(setting, name=name)
        assert record.error is None
        found = {one.flow: one.share or 0 for one in FLOW_RECORDS.load(tmp_path / name).flows}
        shares.append(found["prague"])
    assert shares[0] < 0.35 < 0.45 < shares[1], shares


def test_without_accurate_ecn_prague_is_reno_and_says_so(run_setting: RunSetting) -> None:
    """RFC 9331, section 4.2: a sender without the feedback that it needs does not mark ECT(1)."""
    client = {"program": "curl", "kernel": {"sysctls": {"net.ipv4.tcp_ecn": 1}}}
    setting: dict[str, Any] = {
        "protocol": "h2",
        "client": client,
        "server": {"program": "nginx", "congestion_control": "prague"},
        "workload": {"size": "1 MB"},
        "path": {"rate": "20 Mbit/s", "rtt": "20 ms", "queue": DUALPI2},
    }
    record = run_setting(setting)
    assert record.error == "server's TCP used prague-reno, not what it was to use"
    # The SYN/ACK alone, which Linux marks before it knows.
    assert record.l4s_packets_down is not None and record.l4s_packets_down <= 1
