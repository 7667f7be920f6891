"""Parts of a study that act in no run are said to be without effect: hosts, paths, proxies, PEPs, logs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.doc_examples import studies
from tests.unit.study_keys import effect


def link(first: str, second: str) -> dict[str, Any]:
    return {"between": [first, second], "path": {"rtt": "4 ms"}}


LINKS = [link("client", "x"), link("x", "server"), link("client", "y"), link("y", "server")]
TWO_WAYS: dict[str, Any] = {"hosts": {"x": {}, "y": {}}, "links": LINKS}


def idle(**parts: Any) -> set[str]:
    """Keys of which a study's user is told that they are without effect."""
    effects = effect({"name": "s", **parts})
    assert not effects.refused
    return {note.split()[0] for note in effects.notes if "is without effect" in note}


def test_a_host_that_no_flow_crosses_is_named_and_not_its_links() -> None:
    assert idle(**TWO_WAYS, via=["x"]) == {"hosts.y"}
    ways = {"over-x": {"via": ["x"]}, "over-y": {"via": ["y"]}}
    assert idle(**TWO_WAYS, contenders=ways) == set()


def test_questions_cross_hosts_too() -> None:
    assert idle(**TWO_WAYS, via=["x"], dns={"at": "x"}) == {"hosts.y"}
    assert idle(**{**TWO_WAYS, "links": LINKS[:3]}, dns={"at": "y"}) == set()


def test_a_link_between_crossed_hosts_is_named() -> None:
    links = [*LINKS[:2], {"name": "beside", **link("client", "x")}]
    assert idle(hosts={"x": {}}, links=links, via=["client-x"]) == {"links.beside.path"}


@pytest.mark.parametrize(
    ("chain", "named"),
    [
        ({}, {"path"}),
        ({"proxy": {"program": "nginx"}}, {"proxy"}),
        ({"hops": [{"name": "gw", "path": {"rtt": "2 ms"}}]}, {"hops.gw"}),
    ],
)
def test_a_chain_that_is_not_on_the_way_is_named(chain: dict[str, Any], named: set[str]) -> None:
    stated = {"path": {"rtt": "9 ms"}, "hosts": {"x": {}}, "links": LINKS[:2], **chain}
    assert idle(**stated, via=["x"]) == named


def test_a_pep_on_any_host_idles_beside_connections_that_it_does_not_split() -> None:
    pep = {"hosts": {"x": {"tcp_pep": {"program": "headway-tcp-pep"}}}, "links": LINKS[:2]}
    assert idle(**pep, protocol="h3") == {"hosts.x.tcp_pep"}
    assert idle(**pep, protocol="h2") == set()


def test_qlog_is_of_quic() -> None:
    logged = {"capture": {"qlog": True}, "client": {"program": "ngtcp2"}}
    assert idle(**{**logged, "client": {"program": "curl"}}) == {"capture.qlog"}
    assert idle(**logged, protocol="h3") == set()


@pytest.mark.parametrize("name", studies())
def test_what_a_documented_study_states_has_an_effect(name: str) -> None:
    assert idle(**studies()[name]) == set()
