"""NATs: whose connections survive a rebinding, and what mappings idle times end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.lab.machine import Machine
from headway.selftest.probing import measure_path
from headway.study.path import Path as NetworkPath
from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab

RTT_S = 0.04
PATH = {"rate": "10 Mbit/s", "rtt": "40 ms"}
WHOLE_S = 1e6 * 8 / 10e6
"""What the body takes at the link's rate."""
REBINDINGS = [{"at": "400 ms"}, {"at": "600 ms", "what": "address"}]


def setting(protocol: str, nat: object, **more: Any) -> dict[str, Any]:
    path = PATH | ({"nat": nat} if nat else {})
    limits = {"limits": {"virtual": "100 s"}}
    return {"protocol": protocol, "path": path, "workload": {"size": "1 MB"}} | limits | more


@pytest.mark.parametrize(
    "path",
    [
        {
            "rtt": "20 ms",
            "nat": {"udp_idle": "30 s", "rebindings": ["1 s", {"at": "2 s", "what": "address"}]},
        },
        {
            "links": [
                {"rtt": "10 ms", "nat": {"rebindings": ["1 s"]}},
                {"delay": "9 ms", "nat": True},
            ]
        },
    ],
)
def test_nats_do_what_they_say(path: dict[str, Any], machine: Machine, tmp_path: Path) -> None:
    checks = measure_path(
        machine, NetworkPath.model_validate(path), seed=1, directory=tmp_path, cpu=0
    )
    assert {"mapping up", "mapping down", "mapping back"} <= {check.name for check in checks}
    assert not [str(check) for check in checks if not check.passed]


@pytest.mark.parametrize(
    "stated",
    [
        {"rebindings": ["1 s"]},
        {"rebindings": [{"at": "1 s", "what": "address"}]},
        {"udp_idle": "9 s"},
    ],
)
def test_a_nat_that_is_not_the_stated_one_is_noticed(
    stated: dict[str, Any], machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from headway.selftest import probing

    paths = [NetworkPath.model_validate({"rtt": "20 ms", "nat": nat}) for nat in (stated, True)]
    build = probing.two_hosts
    monkeypatch.setattr(probing, "two_hosts", lambda _, *rest: build(paths[1], *rest))
    checks = measure_path(machine, paths[0], seed=1, directory=tmp_path, cpu=0)
    assert {"mapping up", "counted up"} <= {check.name for check in checks if not check.passed}


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_a_nat_that_forgets_nothing_changes_nothing(run_setting: RunSetting, protocol: str) -> None:
    without, with_nat = (
        run_setting(setting(protocol, nat), name=name)
        for name, nat in (("without", None), ("with", True))
    )
    assert with_nat.error is None
    assert without.total_s is not None
    assert with_nat.total_s == pytest.approx(without.total_s, abs=1e-4)
    assert (with_nat.mapped_up, with_nat.unmapped_down) == (1, 0)
    assert without.mapped_up == 0


@pytest.mark.parametrize(
    ("server", "rebindings"),
    [
        *((name, REBINDINGS) for name in ("caddy", "ngtcp2", "aioquic", "headway-server")),
        ("nginx-1.26", REBINDINGS[:1]),
    ],
)
def test_quic_survives_rebindings(
    run_setting: RunSetting, server: str, rebindings: list[dict[str, str]]
) -> None:
    """RFC 9000, section 9.3: the server answers where the last packet came from, and validates that."""
    raw = setting("h3", {"rebindings": rebindings}, server={"program": server})
    record = run_setting(raw | {"capture": {"packets": True}})
    assert record.error is None
    assert (record.mapped_up, record.remapped_up) == (1, len(rebindings))
    assert record.unmapped_down
    # All that came for no mapping is accounted for.
    assert record.validation == "passed"
    assert record.total_s is not None
    # What was on its way is lost, and sent again.
    assert WHOLE_S + 4 * RTT_S < record.total_s < 2 * WHOLE_S + 12 * RTT_S


@pytest.mark.parametrize("server", ["nginx", "haproxy"])
def test_some_servers_lose_their_clients(run_setting: RunSetting, server: str) -> None:
    """nginx 1.30 does not get to validate, and HAProxy's connections do not migrate: docs/workloads.md."""
    record = run_setting(setting("h3", {"rebindings": ["400 ms"]}, server={"program": server}))
    assert record.status == "failed"
    assert (record.mapped_up, record.remapped_up) == (1, 1)


@pytest.mark.parametrize("protocol", ["h1", "h2"])
def test_tcp_dies_and_learns_of_it_when_it_sends(run_setting: RunSetting, protocol: str) -> None:
    """The server resets whom it does not know (RFC 9293, section 3.5.2), but what is on the way makes that too old."""
    record = run_setting(setting(protocol, {"rebindings": ["400 ms"]}))
    assert record.status == "failed"
    assert record.error is not None and "reset" in record.error
    # Of acknowledgments, and of curl's keep-alive after 60 s of silence.
    assert record.remapped_up == 2
    assert record.virtual_s is not None and 60 < record.virtual_s < 63


@pytest.mark.parametrize(("think", "mapped"), [("4 s", 1), ("6 s", 5)])
def test_idle_mappings_of_udp_are_forgotten(
    run_setting: RunSetting, think: str, mapped: int
) -> None:
    series = {"kind": "requests", "count": 5, "down": "1 kB", "users": 1, "think": think}
    raw = setting("h3", {"udp_idle": "5 s"}, workload=series)
    record = run_setting(raw | {"client": {"program": "headway-client"}} | OWN_SERVER)
    assert record.error is None
    assert record.mapped_up == mapped


OWN_SERVER = {"server": {"program": "headway-server"}}


def test_idle_mappings_of_tcp_end_their_connections(run_setting: RunSetting) -> None:
    series = {"kind": "requests", "count": 5, "down": "1 kB", "users": 1, "think": "6 s"}
    raw = setting("h2", {"tcp_idle": "5 s"}, workload=series)
    record = run_setting(raw | {"client": {"program": "headway-client"}} | OWN_SERVER)
    assert record.status == "failed"
    # Every other request comes over a connection that the server does not know, and is reset.
    assert record.mapped_up == 5


def test_behind_a_trace_connections_are_mapped_once(run_setting: RunSetting) -> None:
    """Its packets come to the NAT's router twice: from the client, and from the trace's process."""
    trace = {"trace": "even", "opportunities_ms": [1]}
    path = {"rtt": "40 ms", "rate": trace, "nat": {"rebindings": ["300 ms"]}}
    raw = setting("h3", None, server={"program": "caddy"}) | {"path": path}
    record = run_setting(raw)
    assert record.error is None
    assert (record.mapped_up, record.remapped_up) == (1, 1)


def test_a_rebinding_repeats(run_setting: RunSetting) -> None:
    raw = setting("h3", {"rebindings": REBINDINGS}, server={"program": "caddy"})
    raw["path"] = raw["path"] | {"loss": "2 %"}
    first, second = (run_setting(raw, name=name) for name in ("first", "second"))
    assert first.error is None
    assert (first.total_s, first.unmapped_down) == (second.total_s, second.unmapped_down)


PEPS = {"tcp_pep": {"program": "headway-tcp-pep"}, "quic_pep": {"program": "headway-quic-pep"}}
BEHIND = {"rate": "20 Mbit/s", "rtt": "20 ms"}


@pytest.mark.parametrize("protocol", ["h2", "h3"])
@pytest.mark.parametrize(
    ("before", "between", "nats"),
    [
        (True, {"hops": [{"name": "gw", "path": BEHIND | {"nat": True}}]}, 2),
        (True, {"hops": [{"name": "gw", "path": BEHIND} | PEPS]}, 1),
        (None, {"hops": [{"name": "gw", "path": BEHIND | {"nat": True}} | PEPS]}, 1),
        (True, {"proxy": {"program": "nginx", "upstream": {"path": BEHIND | {"nat": True}}}}, 2),
    ],
    ids=["twice", "before-peps", "behind-peps", "twice-by-a-proxy"],
)
def test_nats_stand_anywhere_in_a_chain(
    run_setting: RunSetting,
    protocol: str,
    before: bool | None,
    between: dict[str, Any],
    nats: int,
) -> None:
    client = {"client": {"program": "headway-client"}} | OWN_SERVER
    record = run_setting(setting(protocol, before, **client, **between))
    assert record.error is None
    assert record.mapped_up == nats
    assert record.unmapped_down == 0


def test_flows_may_share_a_nat(run_setting: RunSetting) -> None:
    download = {"workload": {"size": "300 kB"}, "client": {"program": "curl"}}
    flows = {name: download | {"protocol": name} for name in ("h2", "h3")}
    record = run_setting(
        {"path": PATH | {"nat": {"rebindings": ["20 s"]}}, "flows": flows} | OWN_SERVER
    )
    assert record.error is None
    assert (record.mapped_up, record.remapped_up, record.unmapped_down) == (2, 0, 0)
