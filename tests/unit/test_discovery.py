"""A client that finds out by itself which version of HTTP a server speaks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headway.contract.orders import Orders
from headway.lab.assemble import orders_for
from headway.pages.races import stream_races
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.study.discovery import Alternative
from headway.study.setting import Setting

OWN = "headway-server"
PAGE: dict[str, Any] = {
    "workload": {"kind": "page", "site": "sander-01", "frames": False},
    "client": {"program": "chromium"},
    "server": {"program": OWN},
}
DOWNLOAD = {"workload": {"size": "1 kB"}, "client": {"program": "headway-client"}}


def orders(**more: Any) -> Orders:
    return orders_for(deploy(Setting.model_validate(PAGE | more), seed=1))


def served(ordered: Orders) -> list[str]:
    return [
        word
        for program in ordered.programs
        if program.name == f"server-{OWN}"
        for word in program.argv
        if word.startswith(("--protocols", "--limits"))
    ]


def browser(ordered: Orders) -> dict[str, Any]:
    text = next(text for path, text in ordered.files.items() if path.endswith("configuration.json"))
    found: dict[str, Any] = json.loads(text)
    return found


def test_a_browser_was_there_before_a_later_visit() -> None:
    def before(visit: int) -> bool:
        return Setting.model_validate(PAGE | {"discovery": {"visit": visit}}).visited_before

    assert [before(1), before(2)] == [False, True]


def test_a_server_offers_every_version_up_to_the_protocol_the_newest_first() -> None:
    assert served(orders(protocol="h3")) == ["--protocols=h3", "--limits=off"]
    discovered = served(orders(protocol="h3", discovery={}))
    assert discovered == ["--protocols=h3,h2,h1", "--limits=off,idle-time=60s"]
    assert served(orders(protocol="h2", discovery={}))[0] == "--protocols=h2,h1"


def test_a_browser_is_told_no_version() -> None:
    told = browser(orders(protocol="h3"))
    assert "--origin-to-force-quic-on=*" in told["argv"]
    assert "revisits" not in told["page"]
    free = browser(orders(protocol="h3", discovery={"visit": 3}))
    assert "--origin-to-force-quic-on=sander-01.test:1" in free["argv"]
    assert not {"--enable-quic", "--disable-quic", "--disable-http2"} & {*free["argv"]}
    assert free["page"]["visits"] == ["https://sander-01.test/"] * 2
    assert free["page"]["revisits"]


def test_a_browser_has_a_boot_for_itself_and_time_for_its_visits() -> None:
    """In a lab that it shared, it would know the server from the load before."""
    assert Setting.model_validate(PAGE).may_share_a_boot
    assert not Setting.model_validate(PAGE | {"discovery": {}}).may_share_a_boot

    def ready_within_s(visit: int) -> float:
        ordered = orders(discovery={"visit": visit})
        driver = next(one for one in ordered.programs if one.name == "client-chromium")
        return (driver.ready_within_ns or 0) / 1e9

    assert ready_within_s(11) - ready_within_s(1) >= 10 * 65


def test_curl_may_speak_either_version() -> None:
    download = PAGE | {"workload": {"size": "1 kB"}, "client": {"program": "curl"}}
    asked = Setting.model_validate(download | {"protocol": "h3", "discovery": {}})
    argv = orders_for(deploy(asked, seed=1)).programs[-1].argv
    assert "--http3" in argv
    assert "--http3-only" not in argv


@pytest.mark.parametrize(
    "asked",
    [
        {"discovery": {"alternative": {"host": "alt.test"}}},
        {"discovery": {"alternative": {"port": 444}}},
        {"discovery": {"alternative": {"port": 444}}, "dns": {"https": {"port": 444}}} | DOWNLOAD,
        {"discovery": {}, "dns": {"https": True}} | DOWNLOAD,
        {"discovery": {}, "dns": {"cname": ["cdn.test"], "https": True}} | DOWNLOAD,
        {"discovery": {}, "protocol": "h2"} | DOWNLOAD,
    ],
)
def test_a_client_may_learn_of_h3_by_alt_svc_or_by_a_record(asked: dict[str, Any]) -> None:
    raw = PAGE | {"protocol": "h3", "server": {"program": "nginx"}}
    check_programs(deploy(Setting.model_validate(raw | asked)))


def test_alt_svc_names_port_and_host() -> None:
    assert Alternative().field_value == 'h3=":443"; ma=86400'
    assert Alternative(host="alt.test", port=444).field_value == 'h3="alt.test:444"; ma=86400'


TYPES = {
    "HTTP_STREAM_JOB_CONTROLLER": 1,
    "HTTP_STREAM_JOB": 2,
    "HTTP_STREAM_REQUEST_BOUND_TO_JOB": 3,
    "HTTP_STREAM_JOB_WAITING": 4,
}


def event(kind: str, source: int, at_ms: int, **params: Any) -> str:
    told = {"params": params, "phase": 1, "source": {"id": source}, "time": str(at_ms)}
    return json.dumps(told | {"type": TYPES[f"HTTP_STREAM_{kind}"]}, separators=(",", ":"))


def job(number: int, of: int, at_ms: int, kind: str) -> str:
    return event("JOB", number, at_ms, type=kind, source_dependency={"id": of})


def bound(of: int, at_ms: int) -> str:
    return event("REQUEST_BOUND_TO_JOB", 99, at_ms, source_dependency={"id": of})


def test_races_are_those_of_the_load_and_know_who_won(tmp_path: Path) -> None:
    constants = json.dumps({"constants": {"logEventTypes": TYPES, "timeTickOffset": "1000"}})
    lines = [
        event("JOB_CONTROLLER", 1, 10, url="https://a.test/before"),
        job(2, 1, 10, "alternative"),
        event("JOB_CONTROLLER", 3, 499, url="https://a.test/"),
        job(4, 3, 499, "dns_alpn_h3"),
        job(5, 3, 499, "main"),
        bound(5, 600),
        event("JOB_CONTROLLER", 6, 610, url="https://a.test/x"),
        job(7, 6, 610, "alternative"),
        job(8, 6, 610, "main"),
        bound(7, 700),
        event("JOB_CONTROLLER", 9, 620, url="https://a.test/y", is_preconnect=True),
        event("JOB_CONTROLLER", 10, 2600, url="https://a.test/after"),
    ]
    log = tmp_path / "net-log.json"
    text = f"{constants[:-1]},\n" + '"events": [\n' + ",\n".join(lines) + "]\n"
    log.write_text(text, encoding="utf-8")
    document, other = stream_races(log, 1500, 3000)
    assert (document.url, document.tried, document.won) == (
        "https://a.test/",
        ["dns_alpn_h3", "main"],
        "main",
    )
    assert not document.is_race
    assert (other.won, other.is_race) == ("alternative", True)
