"""A resolver beside the client: what a study may say of it, and what becomes of that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from headway.contract.arrivals import Arrived
from headway.contract.orders import Orders, Outcome
from headway.diagnosis.questions import question_columns
from headway.errors import WrongInputError
from headway.lab.assemble import orders_for
from headway.lab.watching import QUESTIONS
from headway.planning.demands import check_programs
from headway.planning.deploy import deploy
from headway.study.setting import Setting

ZONE = "/run/headway-dns.json"


def orders(**dns: Any) -> Orders:
    return orders_for(deploy(Setting.model_validate({"dns": dns}), seed=1))


def zone(**dns: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(orders(**dns).files[ZONE])
    return found


def argv(ordered: Orders, program: str) -> tuple[str, ...]:
    return next(one.argv for one in ordered.programs if one.name == program)


def test_a_client_is_told_the_address_unless_there_is_a_resolver() -> None:
    told = orders_for(deploy(Setting(), seed=1))
    assert "--resolve" in argv(told, "curl")
    assert not {"/etc/resolv.conf", ZONE} & told.files.keys()
    asking = orders(path={"rtt": "30 ms"})
    assert "--resolve" not in argv(asking, "curl")
    (listen,) = (one for one in argv(asking, "resolver-headway-dns") if "--listen" in one)
    address = listen.removeprefix("--listen=").removesuffix(":53")
    assert f"nameserver {address}\n" in asking.files["/etc/resolv.conf"]


def test_the_transport_is_what_the_client_is_told() -> None:
    files = orders(transport="tcp").files
    assert "options use-vc" in files["/etc/resolv.conf"]


def test_a_zone_has_the_address_behind_the_aliases_and_the_https_record() -> None:
    found = zone(cname=["a.test", "b.test"], https=True, ttl="60 s", drops=["HTTPS"])
    assert found["ttl_s"] == 60
    assert found["drops"] == ["HTTPS"]
    names = found["names"]
    assert names["server.test"] == {"alias": "a.test"}
    assert names["a.test"] == {"alias": "b.test"}
    (address,) = names["b.test"]["addresses"]
    assert names["b.test"]["https"] == [{"priority": 1, "alpn": ["h3", "h2"], "hints": [address]}]


def test_a_zone_may_have_no_answer() -> None:
    assert zone(silent=True)["names"] == {"server.test": {"silent": True}}
    assert zone(unknown=True)["names"] == {}


@pytest.mark.parametrize(
    ("dns", "told"),
    [
        ({"cname": ["a.test", "server.test"]}, "server.test > a.test > server.test"),
        ({"cname": ["a.test", "a.test"]}, "server.test > a.test > a.test"),
        ({"cname": ["not a name"]}, "cname"),
        ({"ttl": "1.5 s"}, "whole seconds"),
        ({"https": {"alpn": ["h4"]}}, "'h4' is no version of HTTP in ALPN: h3, h2, http/1.1"),
        ({"silent": True, "unknown": True}, "leave out one of both"),
        ({"path": {"rtt": "900 s"}}, "an answer would come beyond"),
        ({"delay": "900 s"}, "an answer would come beyond"),
    ],
)
def test_what_cannot_be_is_refused(dns: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Setting.model_validate({"dns": dns})


def test_a_client_that_asks_nobody_is_refused() -> None:
    setting = Setting.model_validate({"dns": {}, "client": {"program": "headway-client"}})
    with pytest.raises(WrongInputError, match=r"headway-client asks no resolver; .* curl"):
        check_programs(deploy(setting))


@pytest.mark.parametrize("dns", [{"https": True}, {"drops": ["HTTPS"]}])
def test_a_record_that_nobody_asks_for_is_refused(dns: dict[str, Any]) -> None:
    with pytest.raises(WrongInputError, match="curl asks for no HTTPS record"):
        check_programs(deploy(Setting.model_validate({"dns": dns})))


def test_the_path_to_the_resolver_is_checked_as_others_are() -> None:
    narrow = {"family": "ipv6", "dns": {"path": {"mtu": "600 B"}}}
    with pytest.raises(ValidationError, match="8200"):
        Setting.model_validate(narrow)


def test_questions_are_counted_before_the_path_loses_them(tmp_path: Path) -> None:
    question = {"name": "server.test", "type": "A", "transport": "udp"}
    lines = [question, question, question | {"type": "AAAA"}]
    (tmp_path / "questions.jsonl").write_text(
        "".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8"
    )
    (flow,) = deploy(Setting.model_validate({"dns": {}})).flows
    outcome = Outcome("ok", None, 0, "", arrived={QUESTIONS: Arrived(0, 5)})
    assert question_columns(flow, outcome, tmp_path) == {
        "dns_queries": 5,
        "dns_lost": 2,
        "dns_retries": 1,
    }
    (told,) = deploy(Setting()).flows
    assert question_columns(told, outcome, tmp_path) == {}
