"""Hints of a page's document: which resources its Link fields name, and who tells them early."""

from __future__ import annotations

from typing import Any

import pytest

from headway.errors import WrongInputError
from headway.lab.assemble import orders_for
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.sites.hints import destination_of, document_of, hinting
from headway.sites.site import Exchange, Site
from headway.study.hints import Destination, Hints
from headway.study.setting import Setting

PAGE = "https://shop.test/"
TYPES = {
    PAGE: "text/html; charset=utf-8",
    "https://shop.test/a.css": "text/css",
    "https://cdn.test/b.css": "TEXT/CSS",
    "https://shop.test/a.js": "application/javascript",
    "https://cdn.test/f.woff2": "font/woff2",
    "https://shop.test/i.webp": "image/webp",
    "https://shop.test/d.json": "application/json",
}


def site(**status: int) -> Site:
    exchanges = (
        Exchange("GET", url, status.get(url[-4:], 200), (("content-type", kind),), b"x")
        for url, kind in TYPES.items()
    )
    return Site(name="shop", page=PAGE, exchanges=tuple(exchanges))


def links(hints: Hints, of: Site | None = None) -> list[str]:
    hinted = hinting(of or site(), hints)
    others = [exchange for exchange in hinted.exchanges if exchange is not document_of(hinted)]
    assert all(exchange.header("link") is None for exchange in others)
    return [value for name, value in document_of(hinted).headers if name == "link"]


def test_each_resource_of_a_kind_is_named_once_with_what_it_is_for() -> None:
    assert links(Hints(preload=(Destination.STYLE,))) == [
        "<https://shop.test/a.css>; rel=preload; as=style",
        "<https://cdn.test/b.css>; rel=preload; as=style",
    ]
    assert links(Hints(preload=(Destination.FONT,))) == [
        "<https://cdn.test/f.woff2>; rel=preload; as=font; crossorigin"
    ]
    every = links(Hints(preload=tuple(Destination)))
    assert len(every) == 5
    assert links(Hints(preload=tuple(Destination), most=2)) == every[:2]


def test_other_hosts_are_where_to_connect() -> None:
    assert links(Hints(preconnect=True)) == ["<https://cdn.test>; rel=preconnect"]


def test_what_is_not_found_is_not_named() -> None:
    missing = site(**{".css": 404})
    assert destination_of(missing.exchanges[1]) is None
    assert links(Hints(preload=(Destination.STYLE,)), missing) == []


def page(**keys: Any) -> Setting:
    workload = {"kind": "page", "site": "sander-01", **keys.pop("workload", {})}
    return Setting.model_validate(
        {
            "client": {"program": "chromium"},
            "server": {"program": "headway-server", "knobs": {"early_hints": "on"}},
            "workload": workload,
            **keys,
        }
    )


def test_early_hints_need_answers_that_take_time() -> None:
    with pytest.raises(WrongInputError, match=r"workload\.waits") as raised:
        check_programs(deploy(page()))
    assert raised.value.where == "server.knobs.early_hints"
    check_programs(deploy(page(workload={"waits": {"median": "50 ms"}})))


def test_a_server_is_told_what_its_document_takes() -> None:
    waits = {"median": "5 ms", "document": "300 ms"}
    orders = orders_for(deploy(page(workload={"waits": waits}), seed=1))
    server = next(program for program in orders.programs if "headway-server" in program.name)
    assert {"--early-hints", "--document-time=0.300000000"} < set(server.argv)
