"""What a study asks of its programs is what they do, or an error that says who can."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from headway.campaign.feasibility import all_remarks, checked_plan
from headway.errors import WrongInputError
from headway.planning.capability_checks import check_programs, remarks
from headway.planning.deploy import deploy
from headway.planning.needed_repetitions import too_few
from headway.programs.base import Adapter
from headway.programs.registry import CLIENTS, PROXIES, QUIC_PEPS, SERVERS
from headway.study.host import OF_THE_KERNEL, CongestionControl, Protocol
from headway.study.library import builtin_names
from headway.study.load import load_study
from headway.study.setting import Setting
from tests.builtin_studies import builtin_study

BULK = {"kind": "bulk", "size": "1 MB"}
ROLES: list[tuple[str, Adapter]] = [
    *(("server", adapter) for adapter in SERVERS.values()),
    *(("proxy", adapter) for adapter in PROXIES.values()),
    *(("quic_pep", adapter) for adapter in QUIC_PEPS.values()),
]


def setting_of(role: str, program: str, protocol: str, **asked: Any) -> Setting:
    """A setting in which a program has a role, and is asked for something."""
    host = {"program": program, **asked}
    raw: dict[str, Any] = {"protocol": protocol, role: host}
    if role == "quic_pep":
        raw = {"protocol": protocol, "hops": [{"name": "a", "quic_pep": host}]}
    if protocol in ("quic", "tcp"):
        perf = {"program": "headway-perf"}
        raw = {"client": perf, "server": perf, "workload": BULK} | raw
    if protocol == "udp":
        caller = {"program": "headway-call"}
        raw = {"client": caller, "server": caller} | raw
        raw["workload"] = {"kind": "call", "rate": "1 Mbit/s", "duration": "1 s"}
    return Setting.model_validate(raw)


def refusal(raw: dict[str, Any]) -> str:
    with pytest.raises(WrongInputError) as caught:
        check_programs(deploy(Setting.model_validate(raw)))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("control", CongestionControl)
@pytest.mark.parametrize(("role", "adapter"), ROLES, ids=lambda one: getattr(one, "name", one))
def test_a_congestion_control_is_had_or_refused(
    role: str, adapter: Adapter, control: CongestionControl
) -> None:
    for protocol in sorted(adapter.protocols):
        setting = setting_of(role, adapter.name, protocol, congestion_control=str(control))
        has = adapter.quic_congestion_controls if protocol.over_quic else OF_THE_KERNEL
        if control in has or protocol is Protocol.UDP:
            check_programs(deploy(setting))
            assert not remarks(deploy(setting))
            continue
        with pytest.raises(WrongInputError) as caught:
            check_programs(deploy(setting))
        said = str(caught.value)
        assert re.match(rf"(hops\.a\.)?{role}\.congestion_control: ", said)
        assert f"has {', '.join(has)}, not {control}" in said


def test_who_can_is_named_and_can() -> None:
    said = refusal({"protocol": "h3", "server": {"program": "nginx", "congestion_control": "bbr"}})
    able = re.search(r"whose QUIC has bbr: ([^;]*);", said)
    assert able and able[1].split(", ") == ["envoy", "haproxy", "headway-server", "ngtcp2"]
    for name in able[1].split(", "):
        check_programs(deploy(setting_of("server", name, "h3", congestion_control="bbr")))


def test_the_way_out_that_a_refusal_names_is_one() -> None:
    told = {"tcp": "bbr"}
    setting = setting_of("server", "nginx", "h3", congestion_control=told)
    check_programs(deploy(setting))
    (remark,) = remarks(deploy(setting))
    assert remark == (
        "the study asks nginx's QUIC for no congestion control: it uses cubic; TCP uses bbr"
    )
    both = setting_of("server", "nginx", "h3", congestion_control={**told, "quic": "cubic"})
    check_programs(deploy(both))
    assert not remarks(deploy(both))


def test_a_server_that_takes_its_own_losses_for_a_flood_is_remarked_on() -> None:
    def told(
        path: dict[str, object], program: str = "nginx-1.26", protocol: str = "h3"
    ) -> list[str]:
        raw = {"protocol": protocol, "server": {"program": program}, "path": path}
        found = remarks(deploy(Setting.model_validate(raw)))
        return [remark for remark in found if "flood" in remark]

    (remark,) = told({"rate": "1 Gbit/s"})
    assert remark.startswith("nginx-1.26 ends a connection as a flood") and "2 packets" in remark
    assert told({"rate": "1 Gbit/s", "rtt": "10 ms", "queue": "6 packets"})
    assert not told({"rate": "1 Gbit/s", "queue": "100 kB"})
    assert not told({"rate": "1 Gbit/s", "rtt": "1 ms"})
    assert not told({})
    assert not told({"rate": "1 Gbit/s"}, program="nginx")
    assert not told({"rate": "1 Gbit/s"}, protocol="h2")


def test_a_program_of_another_controller_is_remarked_on_where_none_is_asked_for() -> None:
    setting = setting_of("server", "caddy", "h3")
    check_programs(deploy(setting))
    (remark,) = remarks(deploy(setting))
    assert "caddy's QUIC" in remark and "it uses reno" in remark
    assert not remarks(deploy(setting_of("server", "caddy", "h2")))


TABLES = {"qpack_capacity": "4096", "qpack_blocked_streams": "100"}


@pytest.mark.parametrize(
    ("role", "program", "protocol", "asked"),
    [
        ("server", "headway-server", "h3", {"knobs": {"emulated_connections": "2"}}),
        ("server", "headway-server", "h3", {"knobs": {"initial_ssthresh": "50"}}),
        ("server", "haproxy", "h3", {"knobs": {"quic_hystart": "on"}}),
        ("server", "headway-server", "h3", {"knobs": TABLES}),
        ("client", "headway-client", "h3", {"knobs": TABLES}),
        ("server", "nginx", "h2", {"knobs": {"tls": "1.2"}}),
        ("proxy", "nginx", "h2", {"knobs": {"tls": "1.2"}}),
        ("server", "nginx", "h3", {"knobs": {"tls": "1.3"}}),
        ("proxy", "nginx", "h3", {"knobs": {"tls": "1.3"}}),
        ("client", "curl", "h2", {"congestion_control": "bbr"}),
    ],
)
def test_what_is_refused_of_others_is_taken(
    role: str, program: str, protocol: str, asked: dict[str, Any]
) -> None:
    check_programs(deploy(setting_of(role, program, protocol, **asked)))


@pytest.mark.parametrize(("role", "adapter"), ROLES, ids=lambda one: getattr(one, "name", one))
def test_an_initial_window_is_begun_with_or_refused(role: str, adapter: Adapter) -> None:
    for protocol in sorted(adapter.protocols):
        setting = setting_of(role, adapter.name, protocol, initial_window=32)
        if not protocol.over_quic or adapter.sets_quic_initial_window:
            check_programs(deploy(setting))
            continue
        with pytest.raises(WrongInputError, match=r"write \{ tcp = 32 \}"):
            check_programs(deploy(setting))
        check_programs(deploy(setting_of(role, adapter.name, protocol, initial_window={"tcp": 32})))


def test_a_log_that_one_side_does_not_write_is_remarked_on() -> None:
    setting = Setting.model_validate({"protocol": "h3", "capture": {"qlog": True}})
    check_programs(deploy(setting))
    assert remarks(deploy(setting)) == (
        "nginx writes no qlog; there will be only those of the other programs",
    )


@pytest.mark.parametrize(
    ("group", "flags", "why"),
    [
        ("any", 1543, "longer than a SYN"),
        ("x25519mlkem768", 1543, "longer than a SYN"),
        ("x25519", 3, "only asks for a cookie"),
        ("x25519", 1543, None),
        ("secp256r1", 1543, None),
    ],
)
def test_a_fast_open_that_saves_nothing_is_remarked_on(
    group: str, flags: int, why: str | None
) -> None:
    client = {
        "program": "curl",
        "knobs": {"tcp_fast_open": "on", "key_exchange": group},
        "kernel": {"sysctls": {"net.ipv4.tcp_fastopen": flags}},
    }
    made = deploy(Setting.model_validate({"protocol": "h2", "client": client}))
    texts = [text for text in remarks(made) if "tcp_fast_open" in text]
    assert len(texts) == (why is not None)
    assert all(why is not None and why in text for text in texts)


def test_what_one_transport_is_asked_refines_what_both_are(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(
        """name = "refined"
server = { program = "headway-server", congestion_control = "reno", initial_window = 32 }
[contenders]
reno = { protocol = "h3" }
bbr3 = { protocol = "h3", server.congestion_control.quic = "bbr3" }
bbr = { protocol = "h3", server.congestion_control = "bbr" }
[axes]
server.initial_window.tcp = [10, 20]
"""
    )
    runs = checked_plan(load_study(str(file)), str(file))
    hosts = {run.contender: run.setting.server for run in runs}
    controls = {name: str(host.congestion_control) for name, host in hosts.items()}
    assert controls == {"reno": "reno", "bbr3": "tcp reno, quic bbr3", "bbr": "bbr"}
    assert {run.setting.server.initial_window.quic for run in runs} == {32}
    assert {run.setting.server.initial_window.tcp for run in runs} == {10, 20}


_MEANT = {
    "handshake": "longer than a SYN",
    "l4s": r"ECT\(1\)|prague",
    "report-card": r"ECT\(1\)",
    "sander2022": "bursts in both directions",
}


@pytest.mark.parametrize("name", builtin_names())
def test_built_in_studies_are_planned_and_say_what_they_mean(name: str) -> None:
    study = builtin_study(name)
    runs = checked_plan(study, name)
    assert runs
    # Some look at single runs, and claim no difference; others ask for what is remarked on.
    remarks = set(all_remarks(study, runs)) - set(too_few(study, runs))
    assert [name for remark in remarks if not re.search(_MEANT.get(name, "^$"), remark)] == []


def test_settings_are_written_as_they_are_read() -> None:
    for asked in ("bbr", {"tcp": "reno", "quic": "cubic"}, {"tcp": "reno"}):
        setting = setting_of("server", "nginx", "h2", congestion_control=asked)
        written = setting.model_dump(mode="json", exclude_defaults=True)
        assert written["server"]["congestion_control"] == asked
        assert Setting.model_validate(written) == setting


def test_every_protocol_is_asked_somewhere() -> None:
    assert {p for _, adapter in ROLES for p in adapter.protocols} == set(Protocol)
    assert all(CLIENTS)
