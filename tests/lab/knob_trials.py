"""Where each knob of Headway's own programs shows: a setting, and another value than the usual one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from headway.study.merging import merged

Raw = dict[str, Any]


@dataclass(frozen=True)
class End:
    """A place in a setting that has knobs.

    Attributes:
        base: a setting in which content goes from this end, or to it.
        keys: where its host stands there.
    """

    base: Callable[[bool], Raw]
    keys: tuple[str | int, ...]

    def raw(self, trial: Trial, knobs: Mapping[str, str]) -> Raw:
        """The setting of a trial, with these knobs beside its own."""
        made = copy.deepcopy(merged(self.base(trial.sends), trial.changes))
        for hop in made.get("hops", ()):
            hop["path"] |= copy.deepcopy({**trial.changes.get("path", {}), **trial.behind})
        host = made
        for key in self.keys:
            host = host[key] if isinstance(key, int) else host.setdefault(key, {})
        host["knobs"] = {**host.get("knobs", {}), **trial.beside, **knobs}
        if trial.control:
            host["congestion_control"] = {"quic": trial.control}
        return {**made, "capture": {"packets": True}}


@dataclass(frozen=True)
class Trial:
    """What shows that a knob does something.

    Attributes:
        knobs: the knob's other value; those that go with it, too.
        sends: whether content goes from the knob's end.
        changes: of the usual setting.
        behind: of the path behind the end, of a PEP.
        beside: knobs that the end has with the usual value, too.
        control: the congestion controller of the end.
    """

    knobs: dict[str, str]
    sends: bool = True
    changes: Raw = field(default_factory=dict)
    behind: Raw = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)
    control: str = ""


PATH = {"rate": "20 Mbit/s", "rtt": "40 ms"}
PERF = {"program": "headway-perf"}


def _web(from_server: bool) -> Raw:
    workload = {"kind": "download" if from_server else "upload", "size": "1 MB"}
    return {
        "protocol": "h3",
        "path": PATH,
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server"},
        "workload": workload,
    }


def _bulk(from_server: bool) -> Raw:
    direction = "download" if from_server else "upload"
    return {
        "protocol": "quic",
        "path": PATH,
        "client": dict(PERF),
        "server": dict(PERF),
        "workload": {"kind": "bulk", "size": "1 MB", "direction": direction},
    }


def _split(from_server: bool) -> Raw:
    pep = {"program": "headway-quic-pep", "downstream": {}, "upstream": {}}
    return {**_web(from_server), "hops": [{"name": "pep", "quic_pep": pep, "path": dict(PATH)}]}


def _tcp_split(from_server: bool) -> Raw:
    pep = {"program": "headway-tcp-pep"}
    # What comes over the hop waits before the client's link.
    hops = [{"name": "pep", "tcp_pep": pep, "path": {"rate": "50 Mbit/s", "rtt": "20 ms"}}]
    path = {"rate": "5 Mbit/s", "rtt": "100 ms"}
    return {**_web(from_server), "protocol": "h2", "path": path, "hops": hops}


_PEP = ("hops", 0, "quic_pep")
QUIC_ENDS = {
    "headway-server": End(_web, ("server",)),
    "headway-client": End(lambda sends: _web(not sends), ("client",)),
    "headway-perf, server": End(_bulk, ("server",)),
    "headway-perf, client": End(lambda sends: _bulk(not sends), ("client",)),
    "headway-quic-pep, downstream": End(_split, (*_PEP, "downstream")),
    "headway-quic-pep, upstream": End(lambda sends: _split(not sends), (*_PEP, "upstream")),
}
ENDS = {
    **QUIC_ENDS,
    "headway-quic-pep": End(_split, _PEP),
    "headway-tcp-pep": End(_tcp_split, ("hops", 0, "tcp_pep")),
}


def _lossy(loss: str = "2 %", **more: str) -> Raw:
    return {"path": {"loss": loss, **more}}


_SAVED = Trial({"saved_window": "300", "saved_rtt": "40ms"})
QUIC = {
    "slow_start": Trial({"slow_start": "classic"}),
    "max_window": Trial({"max_window": "10"}),
    "initial_ssthresh": Trial({"initial_ssthresh": "15"}),
    "emulated_connections": Trial({"emulated_connections": "4"}, changes=_lossy()),
    "cubic_version": Trial({"cubic_version": "rfc8312"}, changes=_lossy("1 %", rtt="200 ms")),
    "hybla_rtt0": Trial(
        {"hybla_rtt0": "100ms"}, changes={"path": {"rtt": "200 ms"}}, control="hybla"
    ),
    "linux_without": Trial({"linux_without": "rounding"}, changes=_lossy(), control="linux-cubic"),
    "pacing": Trial({"pacing": "off"}),
    "max_burst": Trial({"max_burst": "2"}, changes={"path": {"rate": "1 Gbit/s"}}),
    "saved_window": _SAVED,
    "saved_rtt": _SAVED,
    "max_udp_payload": Trial({"max_udp_payload": "1200"}),
    "probe_up_to": Trial({"probe_up_to": "1472"}, beside={"max_udp_payload": "1200"}),
    "packet_threshold": Trial({"packet_threshold": "20"}, changes=_lossy()),
    "time_threshold": Trial(
        {"time_threshold": "4"}, changes=_lossy(), beside={"packet_threshold": "1000"}
    ),
    "initial_rtt": Trial({"initial_rtt": "2s"}, changes={"path": {"rtt": "1200 ms"}}),
    "idle_timeout": Trial(
        {"idle_timeout": "1s"}, changes={"path": {"blackouts": [["0.3 s", "4 s"]]}}
    ),
    "stream_window": Trial({"stream_window": "20000"}, sends=False),
    "connection_window": Trial({"connection_window": "20000"}, sends=False),
    "max_streams": Trial({"max_streams": "0"}, sends=False),
    "key_update": Trial({"key_update": "50"}),
    "ack_threshold": Trial({"ack_threshold": "9"}),
    "max_ack_delay": Trial({"max_ack_delay": "60ms"}, beside={"ack_threshold": "9"}),
    "cpu_per_sent": Trial({"cpu_per_sent": "1ms"}),
    "cpu_per_received": Trial({"cpu_per_received": "1ms"}, sends=False),
}


_PARALLEL = {"workload": {"kind": "parallel", "count": 6, "size": "100 kB"}}
_FIELDS = {
    "workload": {
        **{"kind": "requests", "count": 20, "users": 4, "down": "2 kB"},
        **{"header_up": "1000 B", "header_down": "1000 B", "header_values": "changing"},
    }
}
_OVER_TCP: Raw = {"protocol": "tcp"}
_BROKEN = {"rtt": "60 ms", "loss": "100 %"}
_BLOCKED = {
    "path": {"udp": "blocked"},
    "discovery": {},
    "dns": {"https": True, "path": {"rtt": "30 ms"}},
}
_TABLE = {"qpack_capacity": "4096"}
_PAGE: Raw = {
    "workload": {"kind": "page", "site": "sander-21", "connections": "one", "frames": False},
    "client": {"program": "chromium"},
    "path": {"rate": "2 Mbit/s", "queue": "3 MB"},
}
_HINTED = {
    **_PAGE,
    "workload": {
        **_PAGE["workload"],
        "hints": {"preload": ["script"]},
        "waits": {"median": "10 ms", "document": "300 ms"},
    },
}
_EARLY_SERVER = {"server": {"knobs": {"early_data": "on"}}}
_EARLY_CLIENT = {"client": {"knobs": {"early_data": "on"}}}
_AGAIN = {
    "workload": {"kind": "bulk", "size": "2 MB", "starts": ["0 s", "10 s"]},
    "path": {"rtt": "400 ms"},
}
_MIGRATES = {"workload": {"kind": "migration", "size": "600 kB", "after": "250 kB"}}
_COMPRESSION = {
    "qpack_capacity": Trial(_TABLE, changes=_FIELDS),
    "qpack_blocked_streams": Trial(
        {"qpack_blocked_streams": "100"}, changes=_FIELDS, beside=_TABLE
    ),
    "hpack_capacity": Trial({"hpack_capacity": "4096"}, changes={**_FIELDS, "protocol": "h2"}),
}


def _tables(role: str) -> dict[str, Trial]:
    """Tables of header compression, of which the other end must allow one, too."""
    other = {"client": "server", "server": "client"}[role]
    both = {other: {"knobs": {"qpack_capacity": "4096", "qpack_blocked_streams": "100"}}}
    return {
        name: replace(
            trial, changes={**trial.changes, **(both if name != "hpack_capacity" else {})}
        )
        for name, trial in _COMPRESSION.items()
    }


OWN: dict[str, dict[str, Trial]] = {
    "headway-server": {
        **_tables("server"),
        "key_exchange": Trial({"key_exchange": "secp256r1"}),
        "scheduler": Trial({"scheduler": "round-robin"}, changes=_PARALLEL),
        "priorities": Trial({"priorities": "firefox"}, changes=_PAGE),
        "notsent_lowat": Trial({"notsent_lowat": "1000"}, changes={**_PARALLEL, "protocol": "h2"}),
        "h2_frame_bytes": Trial({"h2_frame_bytes": "16384"}, changes={"protocol": "h2"}),
        "h2_stream_window": Trial(
            {"h2_stream_window": "65535"}, sends=False, changes={"protocol": "h2"}
        ),
        "h2_connection_window": Trial(
            {"h2_connection_window": "65535"}, sends=False, changes={"protocol": "h2"}
        ),
        "early_data": Trial({"early_data": "on"}, changes=_EARLY_CLIENT),
        "early_hints": Trial({"early_hints": "on"}, changes=_HINTED),
        "retry": Trial({"retry": "on"}),
        "migration": Trial({"migration": "off"}, changes=_MIGRATES),
    },
    "headway-client": {
        **_tables("client"),
        "key_exchange": Trial({"key_exchange": "x25519mlkem768"}, sends=False),
        "connections": Trial(
            {"connections": "1"}, sends=False, changes={**_PARALLEL, "protocol": "h1"}
        ),
        "h2_stream_window": Trial(
            {"h2_stream_window": "65535"}, sends=False, changes={"protocol": "h2"}
        ),
        "h2_connection_window": Trial(
            {"h2_connection_window": "65535"}, sends=False, changes={"protocol": "h2"}
        ),
        "early_data": Trial({"early_data": "on"}, sends=False, changes=_EARLY_SERVER),
        "attempt_delay": Trial(
            {"attempt_delay": "100ms"}, sends=False, changes={"dual_stack": {"path": _BROKEN}}
        ),
        "fall_back": Trial({"fall_back": "on"}, sends=False, changes=_BLOCKED),
        "keep_tokens": Trial(
            {"keep_tokens": "on"},
            sends=False,
            beside={"early_data": "on"},
            changes={"server": {"program": "ngtcp2", "knobs": {"retry": "on"}}},
        ),
    },
    "headway-perf, server": {
        "notsent_lowat": Trial({"notsent_lowat": "1000"}, changes=_OVER_TCP),
        "tls_record_bytes": Trial({"tls_record_bytes": "1400"}, changes=_OVER_TCP),
        "early_data": Trial({"early_data": "on"}, changes=_EARLY_CLIENT),
        "remember": Trial({"remember": "60s"}, changes=_AGAIN),
    },
    "headway-perf, client": {
        "notsent_lowat": Trial({"notsent_lowat": "1000"}, changes=_OVER_TCP),
        "tls_record_bytes": Trial({"tls_record_bytes": "1400"}, changes=_OVER_TCP),
        "early_data": Trial({"early_data": "on"}, sends=False, changes=_EARLY_SERVER),
    },
    "headway-quic-pep": {
        "mode": Trial({"mode": "h3-capable"}),
        "pool": Trial({"pool": "1"}),
        "scheduler": Trial({"scheduler": "sequential"}, changes=_PARALLEL),
        "connect_timeout": Trial({"connect_timeout": "1"}, behind={"loss": "100 %"}),
    },
    "headway-quic-pep, downstream": {
        "early_data": Trial({"early_data": "on"}, changes=_EARLY_CLIENT),
    },
    "headway-quic-pep, upstream": {
        "early_data": Trial({"early_data": "on"}, changes={**_EARLY_SERVER, **_EARLY_CLIENT}),
    },
    "headway-tcp-pep": {
        "buffer": Trial({"buffer": "20000"}),
        "notsent_lowat": Trial({"notsent_lowat": "2000"}),
        "copy": Trial({"copy": "memory"}),
    },
}
VAIN = {
    ("headway-client", "remember"): "60s",
    ("headway-client", "migration"): "off",
    ("headway-server", "keep_tokens"): "on",
    ("headway-perf, client", "remember"): "60s",
    ("headway-perf, client", "keep_tokens"): "on",
    ("headway-perf, client", "max_streams"): "0",
    ("headway-perf, server", "keep_tokens"): "on",
    ("headway-quic-pep, upstream", "migration"): "off",
    ("headway-quic-pep, downstream", "keep_tokens"): "on",
}
"""Values of knobs that do nothing at an end, which their meaning says."""
TRIALS: dict[str, dict[str, Trial]] = {
    end: {
        knob: trial
        for knob, trial in {**(QUIC if end in QUIC_ENDS else {}), **OWN.get(end, {})}.items()
        if (end, knob) not in VAIN
    }
    for end in ENDS
}
"""By end and knob."""
