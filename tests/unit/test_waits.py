"""What servers of a page take before they answer, as studies state it."""

from __future__ import annotations

from typing import Any

from headway.programs.base import Listener
from headway.programs.headway_server import thinking
from headway.study.family import HostAddress
from headway.study.host import Protocol
from headway.study.network import SERVER
from headway.study.setting import Setting
from headway.study.waits import Waits


def setting(**waits: Any) -> Setting:
    return Setting.model_validate(
        {
            "protocol": "h3",
            "workload": {"kind": "page", "site": "kepler"} | waits,
            "client": {"program": "chromium"},
            "server": {"program": "headway-server"},
        }
    )


def options(protocol: Protocol = Protocol.H3, seed: int = 3, **waits: Any) -> list[str]:
    listener = Listener(
        SERVER,
        HostAddress("10.0.0.1"),
        frozenset({protocol}),
        tls=True,
        site=True,
        seed=seed,
        waits=Waits.model_validate(waits) if waits else None,
    )
    return thinking(listener)


def test_servers_are_told_what_they_take() -> None:
    assert options() == []
    assert options(median="20 ms") == ["--think-time=0.020000000"]
    assert options(median="20 ms", spread=0.5)[1:] == ["--think-spread=0.5", "--think-seed=3"]
    own = options(median="20 ms", spread=0.5, drawn="version")
    assert own[-1] == "--think-seed=3 h3"
    assert own != options(Protocol.H2, median="20 ms", spread=0.5, drawn="version")


def test_loads_whose_waits_are_drawn_share_no_lab() -> None:
    assert setting().may_share_a_boot
    assert setting(waits={"median": "20 ms"}).may_share_a_boot
    assert not setting(waits={"median": "20 ms", "spread": 1}).may_share_a_boot


def test_orders_without_waits_are_as_before() -> None:
    assert "waits" not in setting().model_dump_json()
