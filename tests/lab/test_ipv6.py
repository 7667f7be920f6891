"""IPv6: every program has it, only the workload sends packets, and each is 20 bytes longer."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from headway.lab.pcapng import read_pcapng
from headway.programs.registry import CLIENTS, PROXIES, SERVERS
from headway.records.flowfile import FLOW_RECORDS
from headway.study.host import HTTP
from headway.study.setting import Setting
from headway.study.workload import Migration
from tests.lab import sites
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

IPV6 = {"family": "ipv6"}
PATH = {"rate": "10 Mbit/s", "rtt": "40 ms"}
OWN = {"client": {"program": "headway-client"}, "server": {"program": "headway-server"}}
PERF = {role: {"program": "headway-perf"} for role in ("client", "server")}
CALL: dict[str, Any] = {role: {"program": "headway-call"} for role in ("client", "server")} | {
    "protocol": "udp",
    "workload": {"kind": "call", "rate": "1 Mbit/s", "duration": "5 s"},
}
ETHERNET_BYTES, LONGER_BYTES = 14, 20
TCP, UDP, ICMPV6 = 6, 17, 58
PORT_UNREACHABLE = (ICMPV6, 1, 4)
EVERYTHING = {
    "loss": {"mean": "2 %", "burst": 4},
    "jitter": "5 ms",
    "jitter_reorders": True,
    "duplication": "1 %",
}


def download(size: str = "200 kB", **more: Any) -> dict[str, Any]:
    return IPV6 | {"path": PATH, "workload": {"size": size}, "capture": {"bodies": True}} | more


def frames(directory: Path, host: str) -> list[bytes]:
    """What a host's device saw."""
    return [frame for _, frame in read_pcapng(directory / f"{host}.pcapng")]


def kind(frame: bytes) -> tuple[int, ...]:
    """What a packet of IPv6 carries; of ICMP, its type and code (RFC 4443)."""
    assert frame[12:14] == b"\x86\xdd"
    packet = frame[ETHERNET_BYTES:]
    return (packet[6], *packet[40:42]) if packet[6] == ICMPV6 else (packet[6],)


@pytest.mark.parametrize(
    ("client", "protocol"),
    [
        (name, str(protocol))
        for name, one in CLIENTS.items()
        for protocol in sorted(one.protocols & HTTP)
        if one.can(Setting().workload, protocol)
    ],
)
def test_every_client_asks_over_it(run_setting: RunSetting, client: str, protocol: str) -> None:
    record = run_setting(download(client={"program": client}, protocol=protocol))
    assert (record.error, record.bytes, record.family) == (None, 200_000, "ipv6")


@pytest.mark.parametrize(
    ("server", "protocol"),
    [(name, str(p)) for name, one in SERVERS.items() for p in sorted(one.protocols & HTTP)],
)
def test_every_server_answers_over_it(run_setting: RunSetting, server: str, protocol: str) -> None:
    record = run_setting(download(server={"program": server}, protocol=protocol))
    assert (record.error, record.bytes) == (None, 200_000)


@pytest.mark.parametrize(
    ("proxy", "upstream"),
    [(name, str(p)) for name, one in PROXIES.items() for p in sorted(one.upstream_protocols)],
)
def test_every_proxy_has_it_on_both_sides(
    run_setting: RunSetting, proxy: str, upstream: str
) -> None:
    behind = {"protocol": upstream, "path": {"rtt": "10 ms"}}
    for protocol in ("h2", "h3"):
        middle = {"program": proxy, "upstream": behind}
        record = run_setting(download(proxy=middle, protocol=protocol), name=protocol)
        assert (record.error, record.bytes) == (None, 200_000)


@pytest.mark.parametrize(("pep", "protocol"), [("tcp_pep", "h2"), ("quic_pep", "h3")])
def test_connections_are_split_on_the_way(run_setting: RunSetting, pep: str, protocol: str) -> None:
    """Each side has the initial window and the congestion control that its route gives it."""
    asked = {
        "program": f"headway-{pep.replace('_', '-')}",
        "upstream": {"initial_window": 50, "congestion_control": "reno"},
    }
    hops = [{"name": "terminal", pep: asked, "path": PATH}, {"name": "gateway"}]
    record = run_setting(download(hops=hops, protocol=protocol, path={"rtt": "10 ms"}) | OWN)
    assert (record.error, record.bytes) == (None, 200_000)
    assert record.proxy_upstream_iw == "50" and record.proxy_upstream_cc == "reno"


@pytest.mark.parametrize(
    "client", [name for name, one in CLIENTS.items() if Migration in one.workloads]
)
def test_an_address_changes(run_setting: RunSetting, client: str) -> None:
    protocol = max(CLIENTS[client].protocols)
    workload = {"kind": "migration", "size": "600 kB", "after": "250 kB"}
    record = run_setting(
        download(client={"program": client}, server={"program": "caddy"}, protocol=str(protocol))
        | {"workload": workload}
    )
    assert (record.error, record.bytes) == (None, 600_000)
    assert record.migrated_s is not None


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_a_page_has_hosts_with_addresses_of_their_own(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    workload = {"kind": "page", "site": sites.two_hosts(tmp_path), "origins": "own-addresses"}
    for server in ("headway-server", "nginx"):
        raw = {"client": {"program": "chromium"}, "server": {"program": server}, "path": PATH}
        record = run_setting(IPV6 | raw | {"protocol": protocol, "workload": workload}, name=server)
        assert record.error is None and record.plt_s is not None


def test_a_trace_delivers_at_its_opportunities(run_setting: RunSetting) -> None:
    """One packet of 1500 bytes in a millisecond, on a way that TUN devices are part of."""
    trace = {"trace": "every millisecond", "opportunities_ms": list(range(1, 101))}
    path = {"rtt": "20 ms", "down": {"rate": trace}, "up": {"rate": trace}}
    raw = {"protocol": "tcp", "workload": {"kind": "bulk", "duration": "10 s"}} | PERF
    record = run_setting(IPV6 | raw | {"path": path})
    assert record.error is None and record.goodput_mbit is not None
    assert record.goodput_mbit < 1428 * 8e-3
    assert record.goodput_mbit == pytest.approx(1428 * 8e-3, rel=0.05)


def test_flows_compete_over_it(run_setting: RunSetting, tmp_path: Path) -> None:
    flows = {
        "tcp": {"protocol": "tcp", "workload": {"kind": "bulk", "duration": "10 s"}} | PERF,
        "quic": {"protocol": "quic", "workload": {"kind": "bulk", "duration": "10 s"}} | PERF,
        "call": CALL,
    }
    path = PATH | {"queue": {"bdp": 4, "discipline": "fq_codel"}}
    record = run_setting(IPV6 | {"path": path, "flows": flows})
    assert record.error is None
    each = {one.flow: one for one in FLOW_RECORDS.load(tmp_path / "run").flows}
    assert {one.family for one in each.values()} == {"ipv6"}
    assert each["call"].datagrams_lost_pct == 0
    assert each["tcp"].goodput_mbit == pytest.approx(each["quic"].goodput_mbit, rel=0.1)


@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_only_the_workload_crosses_a_path(
    run_setting: RunSetting, tmp_path: Path, protocol: str
) -> None:
    """No neighbour, router or duplicate is looked for, and no group joined, on any device of the lab.

    Captures begin before programs do. A path with an address change, and hops that route, have the most that
    could send of itself.
    """
    hops = [{"name": "first", "path": PATH}, {"name": "second"}]
    workload = {"kind": "migration", "size": "400 kB", "after": "200 kB"}
    ends = OWN if protocol == "h3" else {}
    raw = {"protocol": protocol, "hops": hops, "capture": {"packets": True}} | ends
    record = run_setting(IPV6 | {"path": PATH, "workload": workload} | raw)
    assert record.error is None
    captures = sorted(file.stem for file in (tmp_path / "run").glob("*.pcapng"))
    assert captures == ["client", "first", "first-upstream", "second", "second-upstream", "server"]
    seen = set(map(kind, chain.from_iterable(frames(tmp_path / "run", one) for one in captures)))
    if protocol == "h3":
        # That is how a host answers what comes to a socket that has been closed.
        seen.discard(PORT_UNREACHABLE)
    assert seen == {(UDP,) if protocol == "h3" else (TCP,)}


@pytest.mark.parametrize("path", [{}, {"loss": "4 %"}, EVERYTHING], ids=["clean", "loss", "all"])
@pytest.mark.parametrize("protocol", ["h1", "h2", "h3"])
def test_equal_seeds_give_equal_captures(
    run_setting: RunSetting, tmp_path: Path, protocol: str, path: dict[str, Any]
) -> None:
    raw = download(protocol=protocol, path=PATH | path, capture={"packets": True})
    first, second = (run_setting(raw, name=name) for name in ("first", "second"))
    assert first.error is None and first.total_s == second.total_s
    for host in ("client", "server"):
        once, again = (frames(tmp_path / name, host) for name in ("first", "second"))
        assert once == again and sum(map(len, once)) > 200_000


def test_each_packet_is_longer_by_the_header(run_setting: RunSetting, tmp_path: Path) -> None:
    """Of a call, packets are the same but for that, and meet the same."""
    raw = CALL | {"variation": "none", "path": PATH | {"loss": "3 %"}, "capture": {"packets": True}}
    own = {
        family: run_setting(raw | {"family": family}, name=family) for family in ("ipv4", "ipv6")
    }
    assert own["ipv4"].datagrams_lost_pct == own["ipv6"].datagrams_lost_pct != 0
    assert own["ipv4"].lost_down == own["ipv6"].lost_down
    shorter, longer = ([len(one) for one in frames(tmp_path / f, "server")] for f in own)
    assert longer == [size + LONGER_BYTES for size in shorter]


@pytest.mark.parametrize("protocol", ["tcp", "quic"])
def test_goodput_is_lower_by_the_header(run_setting: RunSetting, protocol: str) -> None:
    """A full path carries full frames, in each of which there is less: of TCP 1428 bytes instead of 1448."""
    workload = {"kind": "bulk", "duration": "20 s"}
    raw = PERF | {"protocol": protocol, "workload": workload, "path": PATH, "variation": "none"}
    steady = {}
    for family in ("ipv4", "ipv6"):
        record = run_setting(raw | {"family": family}, name=family)
        assert record.error is None and record.received_bytes
        steady[family] = sum(record.received_bytes[-110:-10]) * 8e-6 / 10
    assert steady["ipv4"] - steady["ipv6"] == pytest.approx(10 * LONGER_BYTES / 1514, rel=0.02)
    if protocol == "tcp":
        assert steady["ipv6"] == pytest.approx(10 * 1428 / 1514, rel=0.001)


def test_pings_tell_the_path(run_setting: RunSetting) -> None:
    raw = {"control": {"pings": 20, "interval": "50 ms"}, "variation": "none"}
    record = run_setting(download() | raw)
    assert record.error is None
    assert record.control_lost == 0
    assert record.control_rtt_ms == pytest.approx(40, abs=0.01)
