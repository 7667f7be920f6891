"""What keeps a page from coming over one connection is told before it is loaded, with site and resource."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.campaign.feasibility import all_remarks, checked_plan
from headway.sites.one_connection_check import unshared
from headway.sites.site import Exchange, Site
from headway.sites.warc import read_archive, write_archive
from headway.study.load import parse_study
from headway.study.source import Source

PAGE, OTHER = "https://a.test/", "https://b.test"


def exchange(url: str, kind: str, body: str = "", **more: Any) -> Exchange:
    return Exchange("GET", url, 200, (("content-type", kind),), body.encode(), **more)


def site(head: str, *others: Exchange) -> Site:
    """A page, and a script of another host."""
    script = exchange(f"{OTHER}/x.js", "text/javascript", "let x = 1")
    return Site("made", PAGE, (exchange(PAGE, "text/html", head), script, *others))


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ('<script crossorigin src="https://b.test/x.js">', "crossorigin"),
        ('<script crossorigin="anonymous" src="https://b.test/x.js">', "crossorigin"),
        ('<base href="https://b.test/"><script type="module" src="x.js">', "a module"),
        ('<link rel="modulepreload" href="https://b.test/x.js">', "a module"),
    ],
)
def test_requests_without_credentials_are_named(head: str, reason: str) -> None:
    assert unshared(site(head)) == (f"{PAGE} asks for {OTHER}/x.js without credentials ({reason})")


@pytest.mark.parametrize(
    "head",
    [
        '<script src="https://b.test/x.js">',
        '<script crossorigin="use-credentials" src="https://b.test/x.js">',
        '<script crossorigin src="/own.js">',
        '<script crossorigin src="https://nobody.test/x.js">',
        '<noscript><img crossorigin src="https://b.test/x.js"></noscript>',
    ],
)
def test_what_shares_is_not(head: str) -> None:
    """With credentials, of the own origin, of a host that is not replayed, or only without scripts."""
    assert unshared(site(head)) is None


def test_fonts_are_named_unless_they_are_moved_to_the_page_s_host() -> None:
    font = exchange(f"{OTHER}/f/a.woff2", "font/woff2", "font")
    by_whole_url = exchange(
        f"{PAGE}a.css", "text/css", "@font-face{src:url(https://b.test/f/a.woff2)}"
    )
    assert unshared(site("", by_whole_url, font)) is None
    relative = exchange(f"{OTHER}/f.css", "text/css", "@font-face{src:url(f/a.woff2)}")
    assert unshared(site("", relative, font)) == (
        f"{OTHER}/f.css asks for {OTHER}/f/a.woff2 without credentials (a font)"
    )


def test_web_sockets_and_old_hosts_are_named() -> None:
    script = exchange(
        f"{PAGE}a.js", "application/javascript", "s = new  WebSocket('wss://a.test/')"
    )
    told = unshared(site("", script, exchange(f"{PAGE}b.js", "text/javascript", "WebSocket")))
    assert told == f"{PAGE}a.js may open WebSockets"
    old = [exchange(f"https://c.test/{n}", "image/png", protocol="http/1.1") for n in range(2)]
    mixed = [
        exchange(f"https://d.test/{n}", "image/png", protocol=one)
        for n, one in enumerate(("http/1.1", "h2"))
    ]
    told = unshared(site("", *old, *mixed))
    assert told == "c.test spoke HTTP/1.1 only when it was recorded"


STUDY = """
name = "shared"
[workload]
kind = "page"
site = "{site}"
{connections}
[client]
program = "chromium"
[server]
program = "headway-server"
"""


def test_a_plan_names_site_and_resource(tmp_path: Path) -> None:
    archive = tmp_path / "shop.warc.gz"
    write_archive(site('<script crossorigin src="https://b.test/x.js">'), archive)

    def notes(connections: str) -> list[str]:
        text = STUDY.format(site=archive, connections=connections)
        study = parse_study(Source("s.toml", f"protocol = 'h3'\n{text}", tmp_path))
        return all_remarks(study, checked_plan(study, "s.toml"))

    (note,) = [one for one in notes('connections = "one"') if "shop" in one]
    assert note == (
        f'{archive}: connections = "one", but {PAGE} asks for {OTHER}/x.js without credentials '
        "(crossorigin); a load over several connections fails"
    )
    assert not [one for one in notes("") if "shop" in one]


def test_archives_keep_what_hosts_spoke(tmp_path: Path) -> None:
    archive = tmp_path / "a.warc.gz"
    before = site("", exchange("https://c.test/", "image/png", protocol="http/1.1"))
    write_archive(before, archive)
    after = read_archive(archive)
    assert [one.protocol for one in after.exchanges] == ["", "", "http/1.1"]
    assert after == before
