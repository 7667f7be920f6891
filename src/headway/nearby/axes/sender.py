"""The sender: its congestion control, its slow start, its pacing, its first window and its packets."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from headway.nearby.axis import Change, NearbyAxis, NearbyLevel, Table
from headway.study.axisnames import AxisName
from headway.study.host import Host
from headway.study.merging import merged
from headway.study.setting import Setting

_CONTROLLERS = {"bbr": "BBR", "reno": "Reno", "cubic": "CUBIC"}
_LINUX = "linux-cubic"


def sends(setting: Setting) -> str:
    """Key of the host that sends most."""
    return "client" if setting.workload.uploads else "server"


def sender(setting: Setting) -> Host:
    """The host that sends most."""
    return setting.client if setting.workload.uploads else setting.server


def of_sender(table: Table) -> Change:
    """A change of the sender of every contender."""
    return lambda raw, setting: merged(raw, {sends(setting): table})


def of_quic(table: Table) -> Change:
    """A change of the sender of contenders over QUIC."""
    return lambda raw, setting: (
        merged(raw, {sends(setting): table}) if setting.protocol.over_quic else raw
    )


def of_tcp(table: Table) -> Change:
    """A change of the sender of contenders over TCP."""
    return lambda raw, setting: (
        raw if setting.protocol.over_quic else merged(raw, {sends(setting): table})
    )


def _controllers(setting: Setting) -> Hashable:
    control = sender(setting).congestion_control
    return str(control.tcp or "cubic"), str(control.quic or "cubic")


def _other_controllers(setting: Setting) -> Iterable[NearbyLevel]:
    for name, label in _CONTROLLERS.items():
        if _controllers(setting) != (name, name):
            yield NearbyLevel(f"with {label}", of_sender({"congestion_control": name}))


def _arithmetic(setting: Setting) -> Hashable:
    return _LINUX in _controllers(setting)  # type: ignore[operator]


def _linux_arithmetic(setting: Setting) -> Iterable[NearbyLevel]:
    if _controllers(setting) == ("cubic", "cubic"):
        yield NearbyLevel(
            "with Linux's CUBIC over QUIC, too",
            of_quic({"congestion_control": {"quic": _LINUX}, "knobs": {"pacing": "off"}}),
        )


def _knob(name: str) -> Any:
    return lambda setting: sender(setting).knobs.get(name, "")


def _other_start(setting: Setting) -> Iterable[NearbyLevel]:
    if "slow_start" not in sender(setting).knobs:
        yield NearbyLevel(
            "with QUIC's classic slow start", of_quic({"knobs": {"slow_start": "classic"}})
        )


def _tcp_pacing(setting: Setting) -> Hashable:
    return str(sender(setting).kernel.discipline)


def _paced_tcp(setting: Setting) -> Iterable[NearbyLevel]:
    if _tcp_pacing(setting) != "fq":
        yield NearbyLevel("with TCP paced, too", of_tcp({"kernel": {"qdisc": "fq"}}))


def _unpaced_quic(setting: Setting) -> Iterable[NearbyLevel]:
    if sender(setting).knobs.get("pacing") != "off":
        yield NearbyLevel("with QUIC not paced", of_quic({"knobs": {"pacing": "off"}}))
    else:
        yield NearbyLevel("with QUIC paced", of_quic({"knobs": {"pacing": "on"}}))


def _fewer_acknowledgments(setting: Setting) -> Iterable[NearbyLevel]:
    if "ack_threshold" not in sender(setting).knobs:
        yield NearbyLevel(
            "with one acknowledgment for ten packets of QUIC",
            of_quic({"knobs": {"ack_threshold": "9"}}),
        )


def _smaller_packets(setting: Setting) -> Iterable[NearbyLevel]:
    if "max_udp_payload" not in sender(setting).knobs:
        yield NearbyLevel(
            "with QUIC packets of 1200 bytes", of_quic({"knobs": {"max_udp_payload": "1200"}})
        )


def _windows(setting: Setting) -> Hashable:
    return str(sender(setting).initial_window)


def _other_window(setting: Setting) -> Iterable[NearbyLevel]:
    if sender(setting).initial_window.tcp is None:
        yield NearbyLevel("with an initial window of 32 packets", of_sender({"initial_window": 32}))


AXES = (
    NearbyAxis(
        AxisName.CONTROLLER,
        "congestion control of the sender: BBR, Reno, CUBIC",
        15,
        _controllers,
        _other_controllers,
    ),
    NearbyAxis(AxisName.PACING_OF_TCP, "TCP paced by fq", 70, _tcp_pacing, _paced_tcp),
    NearbyAxis(
        AxisName.PACING_OF_QUIC,
        "QUIC without pacing, or with it",
        75,
        _knob("pacing"),
        _unpaced_quic,
    ),
    NearbyAxis(
        AxisName.ARITHMETIC,
        "Linux's CUBIC over QUIC as over TCP, not paced",
        110,
        _arithmetic,
        _linux_arithmetic,
    ),
    NearbyAxis(
        AxisName.SLOW_START,
        "QUIC's slow start without HyStart",
        120,
        _knob("slow_start"),
        _other_start,
    ),
    NearbyAxis(
        AxisName.ACKNOWLEDGMENTS,
        "one acknowledgment for ten packets of QUIC",
        150,
        _knob("ack_threshold"),
        _fewer_acknowledgments,
    ),
    NearbyAxis(AxisName.INITIAL_WINDOW, "32 packets", 160, _windows, _other_window),
    NearbyAxis(
        AxisName.PACKET_SIZE,
        "QUIC packets of 1200 bytes",
        180,
        _knob("max_udp_payload"),
        _smaller_packets,
    ),
)
