"""The paths that `headway doctor` measures: together they use every feature of a path."""

from __future__ import annotations

import random
from typing import Any

from headway.study.path import Path
from headway.study.units import Duration

_TRACE_MS = (1, 1, 3, 4, 4, 4, 9, 15, 16, 16, 40, 41, 41, 42, 60)


def _cellular_ms(seed: int, until_ms: int, longest_gap_ms: int) -> tuple[int, ...]:
    """A trace as mobile links have them: milliseconds with several opportunities, and gaps without any."""
    draw = random.Random(seed)
    numbers: list[int] = []
    at_ms = 0
    while at_ms < until_ms:
        numbers += [at_ms := at_ms + 1] * draw.choice((1, 1, 2, 4, 6, 9))
        if draw.random() < 0.03:
            at_ms += draw.randint(100, 300)
    return (*numbers, numbers[-1] + longest_gap_ms)


_PATHS: tuple[dict[str, Any], ...] = (
    {"rtt": "100 ms"},
    {"rate": "10 Mbit/s", "rtt": "100 ms"},
    {"rate": "1 Mbit/s", "rtt": "1800 s"},
    {"rate": "1 Gbit/s", "rtt": "10 ms"},
    {"rate": "2 Gbit/s", "rtt": "10 ms"},
    {"rate": "500 kbit/s", "rtt": "600 ms", "queue": "0.5 BDP"},
    {
        "down": {"rate": "20 Mbit/s", "delay": "30 ms", "loss": "1 %"},
        "up": {"rate": "2 Mbit/s", "delay": "12 ms", "queue": "64 kB"},
    },
    {"rate": "8 Mbit/s", "rtt": "50 ms", "loss": "4 %", "queue": "100 packets"},
    {"rtt": "60 ms", "loss": {"mean": "3 %", "burst": 4}},
    {"rtt": "60 ms", "jitter": "5 ms"},
    {"rtt": "100 ms", "jitter": "10 ms", "jitter_distribution": "normal"},
    {"rtt": "80 ms", "jitter": "8 ms", "jitter_reorders": True, "duplication": "2 %"},
    {"rtt": "40 ms", "reordering": "5 %", "corruption": "3 %"},
    {"rate": "10 Mbit/s", "rtt": "40 ms", "drop_packets": [1, 7, 8, 9, 300]},
    {
        "rate": "6 Mbit/s",
        "rtt": "40 ms",
        "blackouts": [["1 s", "1.5 s"], ["3 s", "3.02 s"]],
        "changes": [
            {"at": "2 s", "delay": "80 ms"},
            {"at": "4 s", "loss": "10 %"},
            {"at": "6 s", "rate": "3 Mbit/s", "delay": "30 ms", "loss": "0 %"},
        ],
    },
    {
        "rtt": "40 ms",
        "contacts": {"spans": [["0 s", "1 s"], ["1.3 s", "2 s"]], "repeat": "2.5 s"},
    },
    {
        "down": {
            "rate": "6 Mbit/s",
            "delay": "20 ms",
            "contacts": {
                "spans": [["0.2 s", "1 s"], ["1.5 s", "1.52 s"]],
                "repeat": "2 s",
                "meanwhile": "kept",
            },
        },
        "up": {"rate": "2 Mbit/s", "delay": "30 ms", "contacts": [["0 s", "3 s"]]},
    },
    {
        "rate": {
            "steps": [
                {"at": "0 s", "rate": "10 Mbit/s"},
                {"at": "1 s", "rate": "2 Mbit/s"},
                {"at": "1.5 s", "rate": "25 Mbit/s"},
            ],
            "repeat": "2 s",
        },
        "rtt": "80 ms",
        "queue": "20 packets",
    },
    {"rate": {"low": "2 Mbit/s", "high": "12 Mbit/s", "every": "50 ms"}, "rtt": "60 ms"},
    {
        "down": {"rate": {"trace": "short", "opportunities_ms": _TRACE_MS}, "delay": "20 ms"},
        "up": {"rate": "5 Mbit/s", "delay": "20 ms"},
        "queue": "32 kB",
    },
    {
        "down": {
            "rate": {"trace": "cellular", "opportunities_ms": _cellular_ms(1, 8000, 1900)},
            "delay": "20 ms",
        },
        "up": {
            "rate": {"trace": "cellular-up", "opportunities_ms": _cellular_ms(2, 3000, 310)},
            "delay": "20 ms",
        },
        "queue": "32 kB",
    },
    {
        "down": {
            "rate": {"trace": "gap", "opportunities_ms": (*range(1, 101), *range(5001, 5101))},
            "delay": "20 ms",
        },
        "up": {"rate": "2 Mbit/s", "delay": "20 ms"},
    },
    {"rate": "10 Mbit/s", "rtt": "50 ms", "queue": {"bdp": 4, "discipline": "codel"}},
    {"rate": "10 Mbit/s", "rtt": "50 ms", "queue": {"bdp": 4, "discipline": "fq_codel"}},
    {"rate": "10 Mbit/s", "rtt": "50 ms", "queue": {"bdp": 4, "discipline": "cake"}},
    {"rate": "10 Mbit/s", "rtt": "50 ms", "queue": {"bdp": 4, "discipline": "red"}},
    {"rate": "10 Mbit/s", "rtt": "50 ms", "queue": {"bdp": 4, "discipline": "pie"}},
    {"rate": "10 Mbit/s", "rtt": "50 ms", "queue": {"bdp": 4, "discipline": "fq_pie"}},
    {"rate": "10 Mbit/s", "rtt": "50 ms", "queue": {"bdp": 4, "discipline": "dualpi2"}},
    {
        "links": [
            {"rate": "30 Mbit/s", "rtt": "20 ms", "loss": "1 %"},
            {
                "down": {"rate": "8 Mbit/s", "delay": "280 ms", "loss": "0.5 %"},
                "up": {"rate": "4 Mbit/s", "delay": "250 ms"},
            },
        ]
    },
    {"rate": "10 Mbit/s", "rtt": "40 ms", "mtu": "1400 B"},
    {
        "rtt": "40 ms",
        "policer": {"rate": "8 Mbit/s", "burst": "30 kB"},
        "down": {"mtu": {"size": "1280 B", "icmp": False}},
        "up": {"udp": {"loss": "5 %"}},
    },
    {
        "rate": "20 Mbit/s",
        "rtt": "30 ms",
        "down": {"udp": {"rate": "1 Mbit/s", "burst": "15 kB"}},
        "up": {"udp": "rejected"},
    },
    {
        "links": [
            {"rtt": "10 ms", "udp": {"verdict": "blocked", "start": "1 s", "end": "2 s"}},
            {"rtt": "30 ms", "policer": {"rate": "2 Mbit/s", "burst": "10 kB"}},
        ]
    },
    {"rtt": "20 ms", "up": {"udp": {"longest": "1300 B"}}, "down": {"udp": "blocked"}},
    {
        "rtt": "20 ms",
        "nat": {"udp_idle": "30 s", "rebindings": ["1 s", {"at": "2 s", "what": "address"}, "3 s"]},
    },
    {"rate": "10 Mbit/s", "rtt": "20 ms", "tunnel": "wireguard"},
    {"rate": "1 Gbit/s", "rtt": "10 ms", "tunnel": "vxlan"},
    {
        "links": [
            {"rate": "20 Mbit/s", "rtt": "10 ms", "tunnel": {"kind": "vxlan", "over": "ipv6"}},
            {"rate": "21 Mbit/s", "rtt": "10 ms", "mtu": "1540 B", "tunnel": "100 B"},
        ]
    },
    {
        "down": {
            "rate": "20 Mbit/s",
            "loss": "1 %",
            "access": {"frame": "2030 B", "lost": "frames"},
        },
        "up": {
            "rate": "8 Mbit/s",
            "access": {"frame": "600 B", "demand": {"volume_based": "20 kB", "latency": "250 ms"}},
        },
        "rtt": "500 ms",
    },
    {
        "down": {"rate": "5 Mbit/s", "access": {"frame": "100 B"}},
        "up": {
            "rate": "5 Mbit/s",
            "access": {
                "frame": "2030 B",
                "demand": {
                    "constant": "100 kbit/s",
                    "rate_based": "2 Mbit/s",
                    "latency": "100 ms",
                    "every": 3,
                    "superframe": "20 ms",
                },
            },
        },
        "rtt": "40 ms",
    },
    {"links": [{"rtt": "10 ms", "nat": {"rebindings": ["1 s"]}}, {"rtt": "30 ms", "nat": True}]},
)

COALESCED_PATH = Path.model_validate({"rate": "1 Gbit/s", "rtt": "10 ms", "queue": "1 MB"})
"""The path between hosts that coalesce what they receive."""
COALESCING = Duration(50_000)
"""How long they do."""


def battery() -> tuple[Path, ...]:
    """Paths that together use every feature, each at most a second of wall time."""
    return tuple(Path.model_validate(raw) for raw in _PATHS)
