"""Which family of addresses clients come to, and what they wait for the other one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S, MS = 0.06, 1e-3
# Chromium's log has whole milliseconds, and a timer of Chromium ends in the one after.
OF_A_TIMER_S = 1.5 * MS
BROKEN = {"rtt": "60 ms", "loss": "100 %"}


def fetched(over_ipv6: dict[str, Any], **raw: Any) -> dict[str, Any]:
    """The path is that of IPv4."""
    return {
        "path": {"rtt": "60 ms"},
        "dual_stack": {"path": over_ipv6},
        "workload": {"size": "1 kB"},
        "protocol": "h2",
        **raw,
    }


def test_curl_prefers_ipv6(run_setting: RunSetting) -> None:
    """RFC 6724, section 2.1: global addresses of IPv6 come before those of IPv4."""
    record = run_setting(fetched({"rtt": "40 ms"}))
    assert record.error is None
    assert (record.family_tried, record.family_won, record.fallback_s) == ("ipv6", "ipv6", 0)
    assert record.connect_s == pytest.approx(0.04, abs=MS)


@pytest.mark.parametrize("over_ipv6", [BROKEN, {"rtt": "400 ms"}])
@pytest.mark.parametrize("dns", [None, {"path": {"rtt": "30 ms"}}])
def test_curl_falls_back_by_its_timer(
    run_setting: RunSetting, over_ipv6: dict[str, Any], dns: Any
) -> None:
    """--happy-eyeballs-timeout-ms is 200 ms."""
    record = run_setting(fetched(over_ipv6, dns=dns))
    assert record.error is None
    assert (record.family_tried, record.family_won) == ("ipv6, ipv4", "ipv4")
    assert record.fallback_s == pytest.approx(0.2, abs=MS)
    looked_up_s = 0.03 if dns else 0.0
    assert record.connect_s == pytest.approx(looked_up_s + 0.2 + RTT_S, abs=2 * MS)


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_what_limited_a_run_is_told_of_the_family_that_won(
    run_setting: RunSetting, protocol: str
) -> None:
    """Whichever of both families the study is about, the client came over IPv6, whose path is slow and lossy."""
    slow, fast = {"rtt": "40 ms", "rate": "5 Mbit/s", "loss": "1 %"}, {"rtt": "20 ms"}
    about = {"workload": {"size": "1 MB"}, "protocol": protocol, "capture": {"qlog": True}}
    programs = {"server": {"program": "headway-server"}, "client": {"program": "headway-client"}}
    found = [
        run_setting(
            {"path": path, "dual_stack": {"path": other}, "family": family} | about | programs
        )
        for family, path, other in (("ipv4", fast, slow), ("ipv6", slow, fast))
    ]
    for record in found:
        assert (record.error, record.family_won) == (None, "ipv6")
        assert record.limited_by in ("path", "congestion window", "recovery")
        assert record.retransmits
        held = (record.path_s or 0) + (record.recovery_s or 0) + (record.cwnd_s or 0)
        assert held > record.total_s / 2


def loaded(over_ipv6: dict[str, Any], **raw: Any) -> dict[str, Any]:
    page = {"kind": "page", "site": "sander-01", "frames": False}
    chromium = {"program": "chromium", "knobs": {"net_log": "counts"}}
    return fetched(over_ipv6, workload=page, client=chromium, **raw)


def test_chromium_prefers_ipv6(run_setting: RunSetting) -> None:
    record = run_setting(loaded({"rtt": "40 ms"}))
    assert record.error is None
    assert (record.family_tried, record.family_won, record.fallback_s) == ("ipv6", "ipv6", 0)
    assert record.response_start_s == pytest.approx(3 * 0.04, abs=2 * MS)


@pytest.mark.parametrize("dns", [None, {"path": {"rtt": "30 ms"}}])
def test_chromium_falls_back_by_its_timer(run_setting: RunSetting, dns: Any) -> None:
    """300 ms (``TransportConnectJob::kIPv6FallbackTime``)."""
    record = run_setting(loaded(BROKEN, dns=dns))
    assert record.error is None
    assert (record.family_tried, record.family_won) == ("ipv6, ipv4", "ipv4")
    assert record.fallback_s == pytest.approx(0.3, abs=OF_A_TIMER_S)


def visited(over_ipv6: dict[str, Any], visit: int) -> dict[str, Any]:
    server = {"program": "headway-server"}
    asked = loaded(over_ipv6, server=server, discovery={"visit": visit})
    return asked | {"protocol": "h3"}


def test_a_later_visit_is_by_quic_over_ipv6(run_setting: RunSetting) -> None:
    record = run_setting(visited({"rtt": "40 ms"}, 2))
    assert (record.error, record.document_protocol, record.family_won) == (None, "h3", "ipv6")
    assert record.response_start_s == pytest.approx(2 * 0.04, abs=2 * MS)
    assert (record.quic_tries_lost, record.fallback_s) == (0, 0)


def test_where_ipv6_breaks_after_the_last_visit_both_timers_are_waited_for(
    run_setting: RunSetting,
) -> None:
    """TCP waits for QUIC, whose packets go over IPv6 only, one and a half smoothed RTTs; then IPv4 for IPv6 300 ms."""
    broken = {"rtt": "60 ms", "blackouts": [{"start": "1 ms", "end": "60 s"}]}
    record = run_setting(visited(broken, 2))
    assert (record.error, record.document_protocol, record.family_won) == (None, "h2", "ipv4")
    assert record.quic_wait_s == pytest.approx(1.5 * RTT_S, abs=OF_A_TIMER_S)
    assert record.fallback_s == pytest.approx(1.5 * RTT_S + 0.3, abs=2 * OF_A_TIMER_S)


def by_headway(over_ipv6: dict[str, Any], **raw: Any) -> dict[str, Any]:
    server = {"program": "headway-server"}
    return fetched(over_ipv6, **{"client": {"program": "headway-client"}, "server": server, **raw})


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
@pytest.mark.parametrize("dns", [None, {"path": {"rtt": "30 ms"}}])
def test_headway_client_falls_back_by_its_timer(
    run_setting: RunSetting, protocol: str, dns: Any
) -> None:
    """RFC 8305, section 8: 250 ms; over QUIC, too, which is connected after one round trip, as TCP."""
    record = run_setting(by_headway(BROKEN, protocol=protocol, dns=dns))
    assert record.error is None
    assert (record.family_tried, record.family_won) == ("ipv6, ipv4", "ipv4")
    assert record.fallback_s == pytest.approx(0.25, abs=MS)
    looked_up_s = 0.03 if dns else 0.0
    assert record.connect_s == pytest.approx(looked_up_s + 0.25 + RTT_S, abs=2 * MS)


@pytest.mark.parametrize(("rtt_ms", "won"), [(40, "ipv6"), (300, "ipv6"), (320, "ipv4")])
def test_the_first_to_be_connected_carries_the_request(
    run_setting: RunSetting, rtt_ms: int, won: str
) -> None:
    """IPv4 begins after 250 ms and is there after 310 ms."""
    record = run_setting(by_headway({"rtt": f"{rtt_ms} ms"}))
    assert (record.error, record.family_won) == (None, won)
    assert record.connect_s == pytest.approx(min(rtt_ms, 310) / 1e3, abs=2 * MS)


def test_an_attempt_is_alone_as_long_as_the_study_says(run_setting: RunSetting) -> None:
    client = {"program": "headway-client", "knobs": {"attempt_delay": "100ms"}}
    record = run_setting(by_headway(BROKEN, client=client))
    assert (record.error, record.fallback_s) == (None, pytest.approx(0.1, abs=MS))


def test_each_of_several_connections_is_raced(run_setting: RunSetting) -> None:
    several = {"kind": "parallel", "count": 4, "size": "20 kB"}
    record = run_setting(by_headway(BROKEN, protocol="h1", workload=several))
    assert (record.error, record.family_won) == (None, "ipv4")
    alone = run_setting(
        fetched(
            BROKEN,
            client={"program": "headway-client"},
            protocol="h1",
            workload=several,
            dual_stack=None,
        )
    )
    assert record.total_s == pytest.approx(0.25 + alone.total_s, abs=2 * MS)


def found(over_ipv6: dict[str, Any], **raw: Any) -> dict[str, Any]:
    """QUIC, by the HTTPS record, beside TCP."""
    client = {"program": "headway-client", "knobs": {"fall_back": "on"}}
    dns = {"https": True, "path": {"rtt": "30 ms"}}
    return by_headway(over_ipv6, client=client, dns=dns, discovery={}, protocol="h3", **raw)


def test_tcp_is_tried_once_quic_has_not_answered(run_setting: RunSetting) -> None:
    """Both families by QUIC come before TCP (Happy Eyeballs, version 3): it begins after two delays."""
    blocked = {"rtt": "60 ms", "udp": "blocked"}
    record = run_setting(found(blocked, path=blocked))
    assert (record.error, record.document_protocol, record.family_won) == (None, "h2", "ipv6")
    assert record.quic_wait_s == pytest.approx(0.5, abs=MS)
    assert (record.quic_tries, record.quic_tries_lost) == (1, 1)
    assert record.connect_s == pytest.approx(0.03 + 0.5 + RTT_S, abs=2 * MS)


def test_tcp_is_not_tried_where_quic_answers(run_setting: RunSetting) -> None:
    record = run_setting(found({"rtt": "40 ms"}))
    assert (record.error, record.document_protocol, record.family_won) == (None, "h3", "ipv6")
    assert (record.quic_tries, record.quic_tries_lost, record.quic_wait_s) == (1, 0, 0)


def test_a_host_of_one_family_falls_back_from_quic(run_setting: RunSetting) -> None:
    blocked = {"rtt": "60 ms", "udp": "blocked"}
    record = run_setting(found(blocked, path=blocked) | {"dual_stack": None})
    assert (record.error, record.document_protocol, record.family_won) == (None, "h2", None)
    assert record.quic_wait_s == pytest.approx(0.25, abs=MS)


@pytest.mark.parametrize("client", ["curl", "headway-client"])
def test_equal_seeds_have_equal_races_of_families(run_setting: RunSetting, client: str) -> None:
    paths = {"rtt": "150 ms", "loss": "30 %"}, {"rtt": "60 ms", "loss": "10 %"}
    lossy = fetched(paths[0], path=paths[1], client={"program": client})
    one, other = (run_setting(lossy, seed=3, name=name) for name in ("one", "other"))
    assert one.error is None
    assert (one.total_s, one.family_won, one.fallback_s) == (
        other.total_s,
        other.family_won,
        other.fallback_s,
    )
