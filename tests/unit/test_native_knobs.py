"""Knobs of Headway's own programs: declared once, refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.campaign.feasibility import checked_plan
from headway.errors import WrongInputError
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.programs.knobfile import NATIVE_KNOBS
from headway.programs.native import NativeQuic, quic_knobs
from headway.programs.registry import CLIENTS, QUIC_PEPS, SERVERS
from headway.study.family import Family
from headway.study.host import CongestionControl, CongestionControls, Host
from headway.study.load import load_study
from headway.study.setting import Setting

RIGHT = {
    "max_window": ("none", "300", "200000B"),
    "initial_ssthresh": ("none", "107", "144450B"),
    "pacing": ("on", "off", "10Mbit/s", "2.5Mbit/s"),
    "max_udp_payload": ("1200", "65000"),
    "packet_threshold": ("3", "4294967295"),
    "time_threshold": ("1", "1.125", "1000"),
    "saved_rtt": ("none", "580ms", "0.58s"),
    "remember": ("off", "600s"),
    "ack_threshold": ("none", "0", "10"),
    "scheduler": ("rfc9218", "batched-round-robin:10"),
    "qpack_capacity": ("auto", "0", "4096"),
    "notsent_lowat": ("0", "16384"),
}
WRONG = {
    "initial_ssthresh": ("", "-1", "unlimited"),
    "max_window": ("", "B", "-1", "10b", "4294967296"),
    "pacing": ("", "fast", "10", "0Mbit/s", "-1Mbit/s", "nanMbit/s"),
    "max_udp_payload": ("1199", "65001", "1e4"),
    "packet_threshold": ("abc", "2", "-1", "3.5", "4294967296", "\u0663"),
    "time_threshold": ("0.9", "1001", "nan", "inf"),
    "saved_rtt": ("580", "-1s", "s", "1e40s"),
    "remember": ("none",),
    "ack_threshold": ("off", "-1"),
    "scheduler": ("fifo", "batched-round-robin", "batched-round-robin:0"),
    "qpack_capacity": ("none", "1048577"),
    "notsent_lowat": ("auto",),
}


def takes(name: str, value: str) -> bool:
    knob = next(knob for knob in SERVERS["headway-server"].knobs if knob.name == name)
    assert knob.takes is not None
    return knob.takes(value)


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in RIGHT.items() for v in values])
def test_values_are_taken(name: str, value: str) -> None:
    assert takes(name, value)


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in WRONG.items() for v in values])
def test_what_is_no_value_is_refused(name: str, value: str) -> None:
    assert not takes(name, value)


def test_all_defaults_are_values() -> None:
    for section, knobs in NATIVE_KNOBS.items():
        for knob in knobs:
            for default in (knob.default, knob.lab):
                assert default is None or knob.takes(default), f"{section}: {knob.name}"


def server_with(control: str, **knobs: str) -> Setting:
    server = {"program": "headway-server", "congestion_control": {"quic": control}, "knobs": knobs}
    return Setting.model_validate({"path": {"rtt": "20 ms"}, "protocol": "h3", "server": server})


CONTROLS = SERVERS["headway-server"].quic_congestion_controls
OTHER_VALUES = {
    "initial_ssthresh": ("32",),
    "emulated_connections": ("2",),
    "hybla_rtt0": ("10ms",),
    "saved_window": ("300",),
    "saved_rtt": ("580ms",),
    "remember": ("60s",),
}


@pytest.mark.parametrize("control", CONTROLS)
def test_what_a_controller_does_not_have_is_refused(control: str) -> None:
    """Nothing that a study asks of a controller is without effect."""
    for knob in SERVERS["headway-server"].knobs:
        for value in knob.choices or OTHER_VALUES.get(knob.name, ()):
            if not knob.controls or value == knob.default or knob.is_of(control, value):
                continue
            with pytest.raises(WrongInputError, match=f"QUIC uses {control}") as caught:
                check_programs(deploy(server_with(control, **{knob.name: value})))
            assert caught.value.where == f"server.knobs.{knob.name}"


def test_slow_start_is_heeded_or_refused() -> None:
    heeded = {
        "reno": {"classic", "hystart", "hystart++"},
        "cubic": {"classic", "hystart", "hystart++"},
        "hybla": {"classic", "hystart", "hystart++"},
        "linux-cubic": {"classic", "hystart"},
        "linux-reno": {"classic"},
        # The default takes back what a study asks for other contenders.
        "bbr": {"hystart"},
        "bbr3": {"hystart"},
    }
    taken: dict[str, set[str]] = {control: set() for control in heeded}
    for control in heeded:
        for value in ("classic", "hystart", "hystart++"):
            try:
                check_programs(deploy(server_with(control, slow_start=value)))
            except WrongInputError as error:
                assert error.where == "server.knobs.slow_start"
            else:
                taken[control].add(value)
    assert taken == heeded


@pytest.mark.parametrize(
    ("control", "passed_on"),
    [("linux-cubic", True), ("linux-reno", False), ("cubic", True), ("bbr", False)],
)
def test_a_default_goes_to_controllers_that_have_it(control: str, passed_on: bool) -> None:
    words = quic_knobs(SERVERS["headway-server"], server_with(control).server, Family.IPV4)
    assert ("slow-start=hystart" in words.split(",")) == passed_on


STUDY = """name = "s"
[path]
rtt = "20 ms"
[server]
program = "headway-server"
[server.knobs]
packet_threshold = "abc"
"""


def test_knobs_are_passed_on() -> None:
    host = Host(
        program="headway-server",
        congestion_control=CongestionControl.RENO,
        initial_window=32,
        knobs={"saved_window": "1450000B", "saved_rtt": "580ms", "max_ack_delay": "50ms"},
    )
    words = quic_knobs(SERVERS["headway-server"], host, Family.IPV4).split(",")
    assert words[:2] == ["congestion-control=newreno", "initial-window=32"]
    assert {"saved-window=1450000B", "saved-rtt=580ms", "max-ack-delay=50ms"} <= set(words)
    assert {"pacing=on", "remember=off"} <= set(words)
    chosen = host.model_copy(update={"congestion_control": CongestionControls(quic="bbr3")})
    assert quic_knobs(SERVERS["headway-server"], chosen, Family.IPV4).startswith(
        "congestion-control=bbr3,"
    )


def test_quic_may_be_asked_for_another_controller_than_tcp() -> None:
    adapter = SERVERS["headway-perf"]
    host = Host(program="headway-perf", congestion_control=CongestionControl.RENO)
    assert adapter.quic_congestion_control(host) == "reno"
    asked = {"program": "headway-perf", "congestion_control": {"tcp": "reno", "quic": "bbr3"}}
    assert adapter.quic_congestion_control(Host.model_validate(asked)) == "bbr3"


def test_numbers_may_be_written_as_such(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    told = STUDY.replace('packet_threshold = "abc"', "packet_threshold = 10\ntime_threshold = 1.5")
    file.write_text(told)
    run = checked_plan(load_study(file), str(file))[0]
    assert run.setting.server.knobs == {"packet_threshold": "10", "time_threshold": "1.5"}
    file.write_text(STUDY.replace('"abc"', "true"))
    with pytest.raises(
        WrongInputError, match=r"s.toml:7: server.knobs.packet_threshold: must be a"
    ):
        load_study(file)


def test_what_a_lab_sets_otherwise_is_told() -> None:
    for adapter in (*SERVERS.values(), *CLIENTS.values(), *QUIC_PEPS.values()):
        told = {one.setting: one.value for one in adapter.adjustments}
        if isinstance(adapter, NativeQuic):
            assert told.items() >= {"idle_timeout": "600s", "max_udp_payload": "1472"}.items()
            assert all(
                adapter.knob(name, Host(program="")) == told[name] for name in ("slow_start",)
            )
