"""Slow readers: what studies may ask, and how they are asked for."""

from __future__ import annotations

from typing import Any

from headway.planning.deploy import deploy
from headway.study.setting import Setting

SLOW: dict[str, Any] = {
    "kind": "slow-reader",
    "size": "2 MB",
    "pause": "2 s",
    "count": 3,
    "down": "5 kB",
    "interval": "100 ms",
}


def setting(workload: dict[str, Any] | None = None, **keys: Any) -> Setting:
    stated = {name: value for name, value in (SLOW | (workload or {})).items() if value}
    client = {"program": "headway-client"}
    return Setting.model_validate({"protocol": "h2", "client": client, "workload": stated} | keys)


def test_others_are_asked_for_at_their_interval() -> None:
    for workload, option, sends_s in (
        ({}, "--slow-pause=2.000000000", 2.0),
        ({"pause": None, "rate": "4 Mbit/s"}, "--slow-rate=500000", 4.0),
        ({"pause": "10 ms"}, "--slow-pause=0.010000000", 0.3),
    ):
        raw = setting(workload)
        assert (
            raw.workload.offered_load.sends is not None
            and raw.workload.offered_load.sends.s == sends_s
        )
        (flow,) = deploy(raw).flows
        (program,) = flow.client.start(flow.asked).programs
        assert option in program.argv
        assert "--start-offsets=0.000000000,0.100000000,0.200000000,0.300000000" in program.argv
        place = "https://server.test/bytes"
        assert program.argv[-4:] == (f"{place}/2000000", *[f"{place}/5000"] * 3)


def test_the_slowest_reader_reads_a_byte_a_second() -> None:
    slowest = setting({"pause": None, "rate": "8 bit/s", "size": "500 B"})
    assert (
        slowest.workload.offered_load.sends is not None
        and slowest.workload.offered_load.sends.s == 500
    )
    (flow,) = deploy(slowest).flows
    (program,) = flow.client.start(flow.asked).programs
    assert "--slow-rate=1" in program.argv
