"""Rules of paths for packets that no run sends: of UDP, and with ECN."""

from typing import Any

import pytest

from headway.planning.runs import Run
from headway.planning.transport_rules import unmet_rules
from headway.study.setting import Setting

BLOCKED = {"udp": "blocked"}
BLEACHED = {"down": {"ecn": "bleached"}}
MARKED = {
    "rate": "9 Mbit/s",
    "rtt": "20 ms",
    "queue": {"size": "1 BDP", "discipline": "pie", "ecn": True},
}
ASKING = {"client": {"kernel": {"sysctls": {"net.ipv4.tcp_ecn": "1"}}}}
OWN = {"client": {"program": "headway-client"}, "server": {"program": "headway-server"}}


def planned(protocol: str, path: dict[str, Any], **more: Any) -> Run:
    setting = Setting.model_validate({"protocol": protocol, "path": path, **more})
    return Run("run", "study", "", "cell", protocol, 1, 1, setting)


@pytest.mark.parametrize(
    ("path", "key"),
    [
        (BLOCKED, "path.udp"),
        (BLEACHED, "path.ecn"),
        (MARKED, "path.queue.ecn"),
        ({"ecn": {"not_ect": "ect0"}}, ""),
    ],
)
def test_a_rule_for_what_no_run_sends_is_noted(path: dict[str, Any], key: str) -> None:
    notes = list(unmet_rules([planned(protocol, path) for protocol in ("h1", "h2")]))
    assert [note.split()[0] for note in notes] == [key] * bool(key)
    assert not list(unmet_rules([planned(protocol, path) for protocol in ("h1", "h3")]))


@pytest.mark.parametrize("path", [BLEACHED, MARKED])
@pytest.mark.parametrize(
    "asking",
    [
        ASKING,
        {"client": {"congestion_control": "dctcp"}},
        {"server": {"program": "nginx", "congestion_control": "prague"}},
    ],
)
def test_tcp_that_asks_for_ecn_meets_its_rules(path: dict[str, Any], asking: Any) -> None:
    assert not list(unmet_rules([planned("h2", path), planned("h2", path, **asking)]))


def test_a_mark_on_packets_that_none_can_have_is_noted() -> None:
    def noted(protocol: str, **more: Any) -> list[str]:
        runs = [planned(protocol, {}, fault="mark down 3", **more)]
        return [note.split()[0] for note in unmet_rules(runs)]

    assert noted("h2") == ["fault"]
    assert noted("h2", **ASKING) == noted("h3") == []


def test_pages_and_resolvers_may_send_any_packets() -> None:
    assert not list(unmet_rules([planned("h2", BLOCKED, dns={"delay": "20 ms"}, **OWN)]))
