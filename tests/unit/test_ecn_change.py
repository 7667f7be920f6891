"""What a link writes into ECN fields: how a study says it, and the rules that do it."""

from __future__ import annotations

from typing import Any

import pytest

from headway.lab.network import layout_of
from headway.planning.capability_checks import remarks
from headway.planning.deploy import deploy
from headway.study.ecnchange import Codepoint, EcnChange
from headway.study.path import Direction
from headway.study.setting import Setting

DUALPI2 = {"size": "1 MB", "discipline": "dualpi2"}
PRAGUE = {"program": "nginx", "congestion_control": "prague"}


def setting(ecn: Any, way: str = "down") -> Setting:
    path = {"rate": "20 Mbit/s", "rtt": "20 ms", "queue": DUALPI2, way: {"ecn": ecn}}
    return Setting.model_validate({"protocol": "h2", "path": path, "server": PRAGUE})


def change(ecn: Any) -> EcnChange:
    made = Direction.model_validate({"ecn": ecn}).ecn
    assert made is not None
    return made


def test_bleached_is_every_codepoint_to_not_ect() -> None:
    bleached = change("bleached")
    assert set(bleached.written.values()) == {Codepoint.NOT_ECT}
    assert [str(before) for before in bleached.written] == ["ect0", "ect1", "ce"]
    assert str(bleached) == "bleached"
    words = str(change({"ect1": "ect0", "after_queue": True, "start": "1 s", "end": "2 s"}))
    assert words == "ect1 to ect0 after the queue from 1 s to 2 s"


def filters(made: Setting) -> dict[str, str]:
    spaces = layout_of(deploy(made)).namespaces
    return {space.name: space.nft for space in spaces if "ecn set" in space.nft}


def test_rules_are_before_the_queue_or_behind_it() -> None:
    (before,) = filters(setting({"ect1": "ect0"})).items()
    (behind,) = filters(setting({"ect1": "ect0", "after_queue": True})).items()
    assert (before[0], behind[0]) == ("link0b", "link0a")
    for _, rules in (before, behind):
        assert "ip ecn ect1" in rules and "ip6 ecn ect1" in rules and "accept" in rules
    (up,) = filters(setting({"ect1": "ect0"}, "up"))
    assert up == "link0a"


def test_rules_come_and_go() -> None:
    layout = layout_of(deploy(setting({"ce": "ect1", "start": "1 s", "end": "2 s"})))
    begins, ends = (one for one in layout.changes if one.nft_rules)
    assert begins.at_ns == 10**9 and begins.nft_rules.count("ecn set ect1") == 2
    assert ends.at_ns == 2 * 10**9 and ends.nft_rules.startswith("flush chain netdev")
    assert not any("ecn set" in space.nft for space in layout.namespaces)


@pytest.mark.parametrize(
    ("ecn", "words"),
    [
        ("bleached", "becomes not-ect before the queue"),
        ({"ect1": "ect0", "after_queue": True}, "becomes ect0 behind the queue"),
        ({"ce": "ect1", "after_queue": True}, "marks of server's packets are taken away"),
    ],
)
def test_what_an_l4s_sender_loses_is_told(ecn: Any, words: str) -> None:
    assert any(words in text for text in remarks(deploy(setting(ecn))))
