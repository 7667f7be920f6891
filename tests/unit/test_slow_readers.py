"""Slow readers: what studies may ask, and how they are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from headway.errors import WrongInputError
from headway.planning.capability_checks import check_programs
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


@pytest.mark.parametrize(
    ("workload", "keys", "message"),
    [
        ({"rate": "1 Mbit/s"}, {}, "either at a rate or after a pause"),
        ({"pause": None}, {}, "either at a rate or after a pause"),
        ({"pause": "0 s"}, {}, "pause of 0 s reads nothing slowly"),
        ({"pause": None, "rate": "7 bit/s"}, {}, "7 bit/s is no multiple of 8 bit/s"),
        ({"pause": None, "rate": "1001 bit/s"}, {}, "is no multiple of 8 bit/s"),
        ({}, {"protocol": "h1"}, "for h2 or h3, not for h1: several requests have to share"),
    ],
)
def test_what_cannot_be_is_refused(
    workload: dict[str, Any], keys: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        setting(workload, **keys)


def test_clients_that_read_everything_are_named() -> None:
    with pytest.raises(WrongInputError, match="curl cannot do slow-reader over h2; these"):
        check_programs(deploy(setting(client={"program": "curl"})))


def test_others_are_asked_for_at_their_interval() -> None:
    for workload, option, sends_s in (
        ({}, "--slow-pause=2.000000000", 2.0),
        ({"pause": None, "rate": "4 Mbit/s"}, "--slow-rate=500000", 4.0),
        ({"pause": "10 ms"}, "--slow-pause=0.010000000", 0.3),
    ):
        raw = setting(workload)
        assert raw.workload.sends is not None and raw.workload.sends.s == sends_s
        (flow,) = deploy(raw).flows
        (program,) = flow.client.start(flow.asked).programs
        assert option in program.argv
        assert "--start-offsets=0.000000000,0.100000000,0.200000000,0.300000000" in program.argv
        place = "https://server.test/bytes"
        assert program.argv[-4:] == (f"{place}/2000000", *[f"{place}/5000"] * 3)


def test_the_slowest_reader_reads_a_byte_a_second() -> None:
    slowest = setting({"pause": None, "rate": "8 bit/s", "size": "500 B"})
    assert slowest.workload.sends is not None and slowest.workload.sends.s == 500
    (flow,) = deploy(slowest).flows
    (program,) = flow.client.start(flow.asked).programs
    assert "--slow-rate=1" in program.argv
