"""One connection for all hosts of a page: who may have it, the certificate, fonts, and loads with more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from headway.image.pki import write_pki
from headway.lab.certificate import NAMES_FILE, certified
from headway.pages.load_check import missing_error, sharing_error
from headway.programs.base import CERTIFICATE_FILE
from headway.sites.ownfonts import with_own_fonts
from headway.sites.site import Exchange, Site
from headway.study.setting import Setting
from tests.deployed import orders_of
from tests.unit.made_loads import load, resource

PAGE_HOST = "sander-21.test"


def setting(protocol: str = "h2", **workload: Any) -> Setting:
    return Setting.model_validate(
        {
            "protocol": protocol,
            "workload": {"kind": "page", "site": "sander-21", "connections": "one", **workload},
            "client": {"program": "chromium"},
            "server": {"program": "headway-server"},
        }
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What of an image's root tree is asked for."""
    tree = tmp_path_factory.mktemp("root")
    write_pki(tree / "lab/pki")
    return tree


def test_the_certificate_holds_every_host_and_verifies(root: Path) -> None:
    orders = certified(orders_of(setting()), root)
    chain = x509.load_pem_x509_certificates(orders.files[CERTIFICATE_FILE].encode())
    usual = x509.load_pem_x509_certificates((root / CERTIFICATE_FILE.lstrip("/")).read_bytes())
    verified = PolicyBuilder().store(Store(usual[1:]))
    names = orders.files[NAMES_FILE].split("\n")
    assert names[0] == PAGE_HOST
    assert len(names) == 11
    for name in names:
        leaf, _ = verified.build_server_verifier(x509.DNSName(name)).verify(chain[0], chain[1:])
        # Its key is that of the image, which servers have.
        assert leaf.public_key() == usual[0].public_key()
    assert certified(orders_of(setting()), root) == orders, "equal runs have equal certificates"


def test_the_record_says_how_many_connections_a_page_has() -> None:
    stated = {
        way: setting(connections=way).workload.replay.columns["page_connections"]
        for way in ("one", "per-host")
    }
    assert stated == {"one": "one", "per-host": "per-host"}


def test_other_labs_have_the_usual_certificate(root: Path) -> None:
    orders = orders_of(setting(connections="per-host"))
    assert not {NAMES_FILE, CERTIFICATE_FILE} & set(orders.files)
    assert certified(orders, root) is orders


def _exchange(url: str, kind: str, body: bytes = b"") -> Exchange:
    return Exchange("GET", url, 200, (("content-type", kind),), body)


def test_fonts_of_other_hosts_come_from_the_page_s() -> None:
    sheet = b"@font-face{src:url(https://f.test/a.ttf)}b{background:url(https://f.test/b.png)}"
    site = Site(
        "site",
        "https://a.test/",
        (
            _exchange("https://a.test/", "text/html"),
            _exchange("https://f.test/x.css", "text/css", sheet),
            _exchange("https://f.test/a.ttf", "font/ttf", b"https://f.test/a.ttf"),
            _exchange("https://f.test/b.png", "image/png"),
            _exchange("https://a.test/own.woff2", ""),
        ),
    )
    moved = with_own_fonts(site)
    assert [one.url for one in moved.exchanges] == [
        "https://a.test/",
        "https://f.test/x.css",
        "https://a.test/f.test/a.ttf",
        "https://f.test/b.png",
        "https://a.test/own.woff2",
    ]
    assert moved.exchanges[1].body == sheet.replace(b"//f.test/a", b"//a.test/f.test/a")
    assert moved.exchanges[2].body == site.exchanges[2].body
    assert with_own_fonts(moved) is moved


def test_a_load_over_several_connections_is_told_with_what_each_carried() -> None:
    shared = resource("https://a.test/"), resource("https://b.test/x")
    worker = resource("https://a.test/worker.js", connection_id=None)
    cached = resource("https://c.test/", connection_id=9, from_cache=True)
    assert sharing_error(load(*shared, worker, cached)) is None
    font = resource("https://b.test/f.ttf", connection_id=8)
    assert sharing_error(load(*shared, font)) == (
        "the page was loaded over 2 connections instead of one: "
        "https://a.test/ and 1 more; https://b.test/f.ttf"
    )


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"error": "net::ERR_QUIC_PROTOCOL_ERROR"}, "net::ERR_QUIC_PROTOCOL_ERROR"),
        ({"error": "net::ERR_CONNECTION_RESET", "status": None}, "net::ERR_CONNECTION_RESET"),
        ({"error": "net::ERR_ABORTED", "status": 503}, "status 503"),
        ({"status": 502}, "status 502"),
        ({"status": 404}, None),
        ({"status": 500}, None),
        ({"error": "net::ERR_ABORTED"}, None),
        ({"error": "net::ERR_NAME_NOT_RESOLVED", "status": None}, None),
        ({"error": "net::ERR_BLOCKED_BY_ORB"}, None),
    ],
)
def test_what_a_connection_or_a_gateway_failed_to_bring_is_missing(
    told: dict[str, Any], why: str | None
) -> None:
    whole, lacking = resource("https://a.test/"), resource("https://a.test/x.png", **told)
    found = missing_error(load(whole, lacking))
    said = f"1 of 2 resources did not come: https://a.test/x.png: {why}"
    assert found == (said if why else None)
