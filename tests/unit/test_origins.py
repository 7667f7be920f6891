"""Servers of their own for a page's hosts: what is refused, who answers for whom, and where the network has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.errors import WrongInputError
from headway.lab.network import layout_of
from headway.planning.deploy import deploy
from headway.sites.site import Exchange, Site
from headway.sites.warc import write_archive
from headway.study.host import Protocol
from headway.study.setting import Setting

SITE = "sander-07"
"""Its hosts: sander-07.test, static.sander-07.test, img.sander-07.test."""


def setting(origins: dict[str, Any], **more: Any) -> Setting:
    workload = {"kind": "page", "site": SITE, **more.pop("workload", {})}
    raw = {"protocol": "h3", "workload": workload, "path": {"rate": "10 Mbit/s", "rtt": "20 ms"}}
    return Setting.model_validate(
        {**raw, "client": {"program": "chromium"}, "origins": origins, **more}
    )


def test_an_origin_has_the_study_server_unless_it_names_another() -> None:
    made = setting(
        {
            "cdn": {"hosts": ["img.*"]},
            "ads": {"hosts": ["static.*"], "server": {"program": "headway-server"}},
        },
        server={"program": "nginx", "knobs": {"quic_gso": "on"}},
    )
    assert made.origins["cdn"].server == made.server
    assert made.origins["ads"].server.program == "headway-server"
    assert made.origins["ads"].server.knobs == {}, "knobs are those of a program"


@pytest.mark.parametrize(
    ("browser", "origin", "spoken"),
    [("h3", "h3", "h3"), ("h3", "h2", "h2"), ("h2", "h3", "h2"), ("h1", "h2", "h1")],
)
def test_the_lower_of_two_versions_is_spoken(browser: str, origin: str, spoken: str) -> None:
    made = setting({"cdn": {"hosts": ["img.*"], "protocol": origin}}, protocol=browser)
    (flow,) = deploy(made).flows
    (elsewhere,) = flow.asked.elsewhere
    assert elsewhere.protocol is Protocol(spoken)
    assert elsewhere.hosts == ("img.sander-07.test",)
    assert flow.server.protocol is Protocol(browser)


def test_its_path_begins_where_the_study_path_ends() -> None:
    deployment = deploy(
        setting({"cdn": {"hosts": ["img.*"], "path": {"rtt": "40 ms", "rate": "5 Mbit/s"}}})
    )
    (flow,) = deployment.flows
    (origin,) = flow.origins
    assert (origin.leg.left, origin.leg.right) == ("servers", "o1")
    assert origin.leg.path is not None
    assert origin.leg.path.rtt.ms == 40
    assert flow.http_path.rtt.ms == 20
    assert {host.name for host in layout_of(deployment).hosts} >= {"servers", "server", "o1"}


def test_hops_that_route_are_on_the_way_to_all_servers() -> None:
    hops = [{"name": "a", "path": {"rtt": "10 ms"}}, {"name": "b", "path": {"rtt": "6 ms"}}]
    deployment = deploy(setting({"cdn": {"hosts": ["img.*"], "path": {"rtt": "4 ms"}}}, hops=hops))
    told = [(leg.left, leg.right, leg.path and leg.path.rtt.ms) for leg in deployment.legs]
    way = [("client", "a", 20), ("a", "b", 10), ("b", "servers", 6)]
    assert told == [*way, ("servers", "server", None), ("servers", "o1", 4)]
    assert deployment.flows[0].http_path.rtt.ms == 36
    assert layout_of(deployment).hosts


def test_a_setting_without_origins_has_the_hosts_that_it_had() -> None:
    made = setting({})
    assert [node.name for node in deploy(made).nodes] == ["client", "server"]
    assert "origins" not in made.model_dump()


def recorded(directory: Path, *hosts: tuple[str, str]) -> str:
    """Path of an archive of a page whose hosts were recorded over these versions."""
    exchanges = tuple(
        Exchange("GET", f"https://{host}/", 200, (), b"x", protocol=version)
        for host, version in hosts
    )
    file = directory / "site.warc.gz"
    write_archive(Site("site", f"https://{hosts[0][0]}/", exchanges), file)
    return str(file)


@pytest.mark.parametrize(
    ("browser", "groups"),
    [
        ("h3", {"recorded-h1": ("c.test",), "recorded-h2": ("b.test", "d.test")}),
        ("h2", {"recorded-h1": ("c.test",)}),
        ("h1", {}),
    ],
)
def test_hosts_speak_what_they_were_recorded_over(
    tmp_path: Path, browser: str, groups: dict[str, tuple[str, ...]]
) -> None:
    versions = ("a.test", "h3-29"), ("b.test", "h2"), ("c.test", "http/1.1"), ("d.test", "http/1.1")
    site = recorded(tmp_path, *versions, ("d.test", "h2"))
    made = setting({}, protocol=browser, workload={"site": site, "versions": "recorded"})
    (flow,) = deploy(made).flows
    assert {origin.name: origin.planned.hosts for origin in flow.origins} == groups


def test_a_named_origin_speaks_what_the_study_says(tmp_path: Path) -> None:
    site = recorded(tmp_path, ("a.test", "h2"), ("b.test", ""))
    named = {"b": {"hosts": ["b.test"], "protocol": "h3"}}
    (flow,) = deploy(setting(named, workload={"site": site, "versions": "recorded"})).flows
    assert [(one.name, one.end.protocol) for one in flow.origins] == [
        ("b", "h3"),
        ("recorded-h2", "h2"),
    ]


def test_a_recording_that_does_not_tell_its_versions_is_refused(tmp_path: Path) -> None:
    site = recorded(tmp_path, ("a.test", "h2"), ("b.test", ""))
    with pytest.raises(
        WrongInputError, match=r"does not state the version over which b\.test came"
    ):
        deploy(setting({}, workload={"site": site, "versions": "recorded"}))
