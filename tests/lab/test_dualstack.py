"""Which family of addresses clients come to, and what they wait for the other one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S, MS = 0.06, 1e-3
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
    assert record.fallback_s == pytest.approx(0.3, abs=MS)


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
    assert record.quic_wait_s == pytest.approx(1.5 * RTT_S, abs=2 * MS)
    assert record.fallback_s == pytest.approx(1.5 * RTT_S + 0.3, abs=2 * MS)


def test_equal_seeds_have_equal_races_of_families(run_setting: RunSetting) -> None:
    lossy = fetched({"rtt": "150 ms", "loss": "30 %"}, path={"rtt": "60 ms", "loss": "10 %"})
    one, other = (run_setting(lossy, seed=3, name=name) for name in ("one", "other"))
    assert one.error is None
    assert (one.total_s, one.family_won, one.fallback_s) == (
        other.total_s,
        other.family_won,
        other.fallback_s,
    )
