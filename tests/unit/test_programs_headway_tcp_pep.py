"""The adapter of Headway's TCP PEP: what it starts for what a study asks for."""

from __future__ import annotations

from typing import Any

from headway.programs.pep import Interception
from headway.programs.registry import TCP_PEPS
from headway.study.capture import Capture
from headway.study.family import Family
from headway.study.hop import Pep

ADAPTER = TCP_PEPS["headway-tcp-pep"]


def arguments(**pep: Any) -> list[str]:
    """What it is started with, without the program's path."""
    asked = Pep.model_validate({"program": "headway-tcp-pep", **pep})
    (program,) = ADAPTER.intercept(
        Interception("gateway", 443, Family.IPV4), asked, Capture()
    ).programs
    assert (program.namespace, program.service) == ("gateway", True)
    assert program.listens == ("tcp:443",)
    assert program.argv[0].endswith("/headway-tcp-pep")
    return list(program.argv[1:])


def test_it_takes_what_the_host_intercepts() -> None:
    assert arguments() == [
        "--listen=0.0.0.0:443",
        "--limits=off",
        "--copy=splice",
        "--client-congestion-control=cubic",
        "--server-congestion-control=cubic",
        "--log=/lab/run/gateway-headway-tcp-pep.jsonl",
    ]


def test_each_side_has_its_own() -> None:
    given = arguments(
        congestion_control="hybla",
        knobs={"buffer": "4000000", "copy": "memory"},
        downstream={"knobs": {"notsent_lowat": "16384"}},
        upstream={"congestion_control": "reno", "knobs": {"buffer": "auto"}},
    )
    assert given[1:-1] == [
        "--limits=off",
        "--copy=memory",
        "--client-congestion-control=hybla",
        "--client-buffer=4000000",
        "--client-notsent-lowat=16384",
        "--server-congestion-control=reno",
    ]
