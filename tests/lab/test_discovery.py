"""What visits cost a browser that finds out that a server speaks HTTP/3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.records.flowfile import FLOW_RECORDS
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S, MS = 0.06, 1e-3
LATER = {"verdict": "blocked", "start": "1 ms"}


def visited(visit: int, **path: Any) -> dict[str, Any]:
    return {
        "workload": {"kind": "page", "site": "sander-01", "frames": False},
        "client": {"program": "chromium", "knobs": {"net_log": "counts"}},
        "server": {"program": "headway-server"},
        "protocol": "h3",
        "path": {"rtt": "60 ms"} | path,
        "discovery": {"visit": visit},
    }


def test_a_first_visit_begins_over_tcp_and_goes_on_over_quic(run_setting: RunSetting) -> None:
    """RFC 9293, RFC 8446: a round trip each for TCP, TLS and the request; the answer has Alt-Svc (RFC 7838)."""
    record = run_setting(visited(1))
    assert record.error is None
    assert (record.document_protocol, record.document_tried) == ("h2", "dns_alpn_h3, main")
    assert record.response_start_s == pytest.approx(3 * RTT_S, abs=MS)
    assert record.quic_tries and record.h3_objects


def test_a_second_visit_is_by_quic_from_the_start(run_setting: RunSetting) -> None:
    """RFC 9001: a round trip for QUIC's handshake, and one for the request."""
    record = run_setting(visited(2))
    assert record.error is None
    assert (record.document_protocol, record.document_tried) == ("h3", "alternative, main")
    assert record.response_start_s == pytest.approx(2 * RTT_S, abs=MS)
    assert (record.h2_objects, record.quic_tries_lost, record.quic_wait_s) == (0, 0, 0)


def test_a_tenth_visit_is_over_when_it_is_loaded(run_setting: RunSetting) -> None:
    """Visits are made before the workload, and not again for a load that nobody asks for."""
    record = run_setting(visited(10))
    assert (record.error, record.document_protocol) == (None, "h3")
    assert record.virtual_s and record.virtual_s < 5


def test_where_udp_was_always_blocked_nothing_is_lost(run_setting: RunSetting) -> None:
    """The first visit found QUIC broken, so that the second does not try it."""
    record = run_setting(visited(2, udp="blocked"))
    assert record.error is None
    assert (record.document_protocol, record.document_tried) == ("h2", "main")
    assert record.response_start_s == pytest.approx(3 * RTT_S, abs=MS)


def test_where_udp_is_blocked_since_the_last_visit_tcp_waits_for_chromiums_timer(
    run_setting: RunSetting,
) -> None:
    """One and a half times the smoothed RTT of the last visit (``QuicSessionPool::GetTimeDelayForWaitingJob``), which is 1 ms above the path's."""
    record = run_setting(visited(2, udp=LATER))
    assert record.error is None
    assert (record.document_protocol, record.document_tried) == ("h2", "alternative, main")
    assert record.response_start_s == pytest.approx(4.5 * RTT_S, abs=2 * MS)
    assert record.quic_tries_lost == record.quic_tries
    assert record.quic_wait_s == pytest.approx(1.5 * RTT_S, abs=2 * MS)


def test_a_first_visit_to_nginx(run_setting: RunSetting) -> None:
    """It costs four round trips to nginx over TCP, whoever finds out: its first flight is longer (three to headway-server)."""
    told = {key: value for key, value in visited(1).items() if key != "discovery"}
    first = run_setting(visited(1) | {"server": {"program": "nginx"}})
    over_tcp = run_setting(told | {"server": {"program": "nginx"}, "protocol": "h2"}, name="told")
    assert (first.error, over_tcp.error) == (None, None)
    assert (first.document_protocol, first.document_tried) == ("h2", "dns_alpn_h3, main")
    assert first.response_start_s == pytest.approx(over_tcp.response_start_s, abs=MS)
    assert first.quic_tries and first.h3_objects


def alternative(**alternative: Any) -> dict[str, Any]:
    asked = visited(2) | {"server": {"program": "nginx"}}
    return asked | {"discovery": {"visit": 2, "alternative": alternative}}


@pytest.mark.parametrize(
    ("said", "tried"),
    [
        ({}, "alternative, main"),
        ({"port": 444}, "alternative, dns_alpn_h3, main"),
        ({"host": "alt.test"}, "alternative, dns_alpn_h3, main"),
        ({"host": "alt.test", "port": 444}, "alternative, dns_alpn_h3, main"),
    ],
)
def test_a_second_visit_is_by_quic_wherever_alt_svc_says(
    run_setting: RunSetting, said: dict[str, Any], tried: str
) -> None:
    """RFC 7838: another port and another host are the same origin; RFC 9001: two round trips."""
    record = run_setting(alternative(**said))
    assert record.error is None
    assert (record.document_protocol, record.document_tried) == ("h3", tried)
    assert record.response_start_s == pytest.approx(2 * RTT_S, abs=MS)


def test_chromium_takes_no_alternative_that_any_user_could_offer(run_setting: RunSetting) -> None:
    """A port below 1024 has none from there on (``kUnrestrictedPort`` of ``HttpStreamFactory``)."""
    record = run_setting(alternative(port=8443))
    assert (record.error, record.document_protocol) == (None, "h2")
    assert (record.quic_tries, record.h3_objects) == (0, 0)


def test_the_name_of_an_alternative_has_to_be_looked_up(run_setting: RunSetting) -> None:
    asked = alternative(host="alt.test") | {"dns": {"path": {"rtt": "30 ms"}}}
    record = run_setting(asked)
    assert record.error is None
    assert record.document_protocol == "h3"
    assert record.dns_queries == 2
    assert record.response_start_s == pytest.approx(0.03 + 2 * RTT_S, abs=MS)


def test_equal_seeds_have_equal_races(run_setting: RunSetting) -> None:
    lossy = visited(2, loss="5 %")
    one, other = (run_setting(lossy, seed=3, name=name) for name in ("one", "other"))
    assert one.error is None
    assert (one.plt_s, one.quic_tries, one.quic_tries_lost) == (
        other.plt_s,
        other.quic_tries,
        other.quic_tries_lost,
    )


def fetched(**path: Any) -> dict[str, Any]:
    return {
        "workload": {"size": "1 kB"},
        "server": {"program": "headway-server"},
        "protocol": "h3",
        "path": {"rtt": "60 ms"} | path,
        "discovery": {},
    }


@pytest.mark.parametrize("server", ["headway-server", "nginx", "caddy"])
def test_curl_speaks_quic_where_it_can(run_setting: RunSetting, server: str) -> None:
    record = run_setting(fetched() | {"server": {"program": server}})
    assert (record.error, record.document_protocol) == (None, "h3")
    assert record.ttfb_s == pytest.approx(2 * RTT_S, abs=2 * MS)
    assert (record.quic_tries, record.quic_tries_lost, record.quic_wait_s) == (1, 0, 0)


def test_curl_falls_back_by_its_timer(run_setting: RunSetting) -> None:
    """Not after --happy-eyeballs-timeout-ms, 200 ms: it looks again only when ngtcp2's timer of 1 s wakes it (docs/findings)."""
    record = run_setting(fetched(udp="blocked"))
    assert (record.error, record.document_protocol) == (None, "h2")
    assert record.ttfb_s == pytest.approx(1 + 3 * RTT_S, abs=2 * MS)
    assert (record.quic_tries, record.quic_tries_lost) == (1, 1)
    assert record.quic_wait_s == pytest.approx(1, abs=MS)


def test_a_flow_without_http_beside_it_discovers_nothing(
    run_setting: RunSetting, tmp_path: Path
) -> None:
    """The first visit is as it is alone, once the bulk flow has ended, which has no version to find out."""
    alone = visited(1)
    page = {key: alone.pop(key) for key in ("client", "server", "protocol", "workload")}
    bulk = {"protocol": "tcp", "tls": False, "workload": {"kind": "bulk", "size": "10 kB"}}
    bulk |= {"client": {"program": "headway-perf"}, "server": {"program": "headway-perf"}}
    record = run_setting({**alone, "flows": {"page": {**page, "start": "2 s"}, "bulk": bulk}})
    assert record.error is None
    loaded, copied = FLOW_RECORDS.load(tmp_path / record.run_id).flows
    assert (loaded.document_protocol, loaded.document_tried) == ("h2", "dns_alpn_h3, main")
    assert loaded.response_start_s == pytest.approx(3 * RTT_S, abs=MS)
    assert (copied.document_protocol, copied.error) == (None, None)
