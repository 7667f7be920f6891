"""Hosts: other programs, the client's processor, and the family of addresses."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from headway.nearby.axis import Change, NearbyAxis, NearbyLevel, Table
from headway.programs.base import Adapter
from headway.programs.registry import CLIENTS, SERVERS
from headway.study.axisnames import AxisName
from headway.study.host import Host
from headway.study.merging import merged
from headway.study.processor import ProcessorProfile
from headway.study.setting import Setting

_TLS_KNOB, _OLDER = "tls", "1.2"
_SLOW = ProcessorProfile.MID_TIER_PHONE


def _server(setting: Setting) -> Hashable:
    return setting.server.program


def _other_servers(setting: Setting) -> Iterable[NearbyLevel]:
    return [
        NearbyLevel(f"from {name}{_without(setting.server, adapter)}", _program("server", adapter))
        for name, adapter in SERVERS.items()
        if name != setting.server.program
    ]


def _client(setting: Setting) -> Hashable:
    return setting.client.program


def _other_clients(setting: Setting) -> Iterable[NearbyLevel]:
    return [
        NearbyLevel(
            f"with {name} as the client{_without(setting.client, adapter)}",
            _program("client", adapter),
        )
        for name, adapter in CLIENTS.items()
        if name != setting.client.program
    ]


def _without(host: Host, adapter: Adapter) -> str:
    """What a neighbour says of stated knobs that another program lacks."""
    lost = sorted(host.knobs.keys() - _kept(host.knobs, adapter).keys())
    return f" (without {', '.join(lost)})" if lost else ""


def _kept(knobs: Mapping[str, object], adapter: Adapter) -> dict[str, str]:
    """Those that another program has, too; a study's file may state numbers."""
    known = {knob.name: knob for knob in adapter.knobs}
    texts = {name: str(value) for name, value in knobs.items() if name in known}
    return {name: text for name, text in texts.items() if known[name].has(text)}


def _program(role: str, adapter: Adapter) -> Change:
    """Another program, which keeps those of the knobs that it has, too."""

    def other(raw: Table, _: Setting) -> Table:
        kept = _kept(raw.get(role, {}).get("knobs", {}), adapter)
        return merged(raw, {role: {"program": adapter.name, **({"knobs": kept} if kept else {})}})

    return other


def _processor(setting: Setting) -> Hashable:
    return str(setting.client.kernel.processor or "")


def _other_processor(setting: Setting) -> Iterable[NearbyLevel]:
    if setting.client.kernel.processor is None:
        label, wanted = "with a mid-tier phone as the client's processor", str(_SLOW)
    else:
        label, wanted = "with a client whose computing takes no time", str(ProcessorProfile.FREE)

    def other(raw: Table, _: Setting) -> Table:
        kernel = {
            key: value
            for key, value in (raw.get("client", {}).get("kernel") or {}).items()
            if key != "processor"
        }
        client = raw.get("client", {}) | {"kernel": kernel | {"processor": wanted}}
        return raw | {"client": client}

    yield NearbyLevel(label, other)


def _family(setting: Setting) -> Hashable:
    return setting.family


def _other_family(setting: Setting) -> Iterable[NearbyLevel]:
    if not setting.dual_stack:
        other = setting.family.other
        yield NearbyLevel(f"over {other.label}", lambda raw, _: raw | {"family": str(other)})


def _tls(setting: Setting) -> Hashable:
    return setting.server.knobs.get(_TLS_KNOB, "1.3") if setting.tls else None


def _other_tls(setting: Setting) -> Iterable[NearbyLevel]:
    if setting.tls and not setting.flows and _tls(setting) != _OLDER:
        yield NearbyLevel(f"with TLS {_OLDER} over TCP", _older_tls)


def _older_tls(raw: Table, setting: Setting) -> Table:
    if setting.protocol.over_quic:
        return raw  # QUIC has 1.3, and no other
    return merged(raw, {"server": {"knobs": {_TLS_KNOB: _OLDER}}})


AXES = (
    NearbyAxis(
        AxisName.SERVER, "other servers that can", 130, _server, _other_servers, only_able=True
    ),
    NearbyAxis(
        AxisName.CLIENT, "other clients that can", 140, _client, _other_clients, only_able=True
    ),
    NearbyAxis(
        AxisName.PROCESSOR,
        "a phone's processor at the client against none",
        170,
        _processor,
        _other_processor,
    ),
    NearbyAxis(AxisName.TLS, "TLS 1.2 over TCP against 1.3", 205, _tls, _other_tls),
    NearbyAxis(AxisName.FAMILY, "IPv6 against IPv4", 220, _family, _other_family),
)
