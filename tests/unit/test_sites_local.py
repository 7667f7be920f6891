"""Pages of local servers: what no lab can serve is refused, and hosts get names that labs can serve."""

from __future__ import annotations

import gzip
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway import cli
from headway.errors import HeadwayError, WrongInputError
from headway.sites.access import Access, speaks_tls
from headway.sites.chromium import BROWSERS
from headway.sites.hostmap import HostMap, HostMaps
from headway.sites.recording import Recording
from headway.sites.servable import final_page, unservable
from headway.sites.site import Exchange, Site
from headway.sites.sources import Browsing, record_site
from headway.sites.verify import findings
from headway.sites.warc import write_archive
from tests.unit.page_server import LATIN, served
from tests.unit.test_sites_import import browser_or_none

HTML = (("content-type", "text/html"),)
SHOP = HostMap("shop.test", "127.0.0.1", 8001)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://shop.test/", None),
        ("https://shop.test:443/a?b", None),
        ("https://intranet/", None),
        ("http://shop.test/", "http is served by no lab in which TLS is on; https is"),
        ("https://shop.test:8443/", "port 8443 is served by no lab; 443 is"),
        ("https://10.0.0.1/", "10.0.0.1 is an address"),
        ("https://[::1]/", "::1 is an address"),
        ("https://shop.test:99999/", "port 0 is served by no lab"),
        ("https://localhost/", "localhost is the browser's own host"),
        ("https://a.localhost/", "a.localhost is the browser's own host"),
    ],
)
def test_what_a_lab_can_serve(url: str, reason: str | None) -> None:
    said = unservable(url)
    assert said == reason if reason is None else said and said.startswith(reason)


def test_without_tls_a_lab_serves_what_was_recorded_over_http() -> None:
    assert unservable("http://shop.test/", tls=False) is None
    assert unservable("http://shop.test:8001/", tls=False)


@pytest.mark.parametrize(
    ("scheme", "protocol", "tls", "status"),
    [("https", "h2", True, 0), ("http", "h2", True, 2), ("http", "h1", False, 0)],
)
@pytest.mark.parametrize("command", ["validate", "plan"])
def test_a_study_of_what_no_lab_can_serve_is_refused_before_it_runs(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: str,
    scheme: str,
    protocol: str,
    tls: bool,
    status: int,
) -> None:
    page = Exchange("GET", f"{scheme}://shop.test/", 200, HTML, b"<p>")
    write_archive(Site("a", page.url, (page,)), tmp_path / "a.warc.gz")
    (tmp_path / "study.toml").write_text(
        f'name = "s"\nprotocol = "{protocol}"\ntls = {str(tls).lower()}\n'
        '[workload]\nkind = "page"\nsite = "a.warc.gz"\n[client]\nprogram = "chromium"\n'
    )
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "argv", ["headway", command, str(tmp_path / "study.toml")])
    try:
        cli.main()
        ended = 0
    except SystemExit as end:
        ended = int(end.code or 0)
    assert ended == status
    said = capsys.readouterr().err
    if status:
        archive = tmp_path / "a.warc.gz"
        assert f"study.toml:6: workload.site: the page of {archive}, {page.url}, cannot be" in said
        assert "replayed: http is served by no lab" in said
        assert f"`headway record {archive} --map shop.test=shop.test:80 --out" in said


def test_verify_names_every_origin_that_labs_have_not() -> None:
    urls = ["https://a.test/", "http://localhost:9/1", "http://localhost:9/2", "http://b.test/i"]
    site = Site("s", urls[0], tuple(Exchange("GET", url, 200, HTML, b"") for url in urls))
    assert [(str(one.severity), one.url) for one in findings(site)] == [
        ("broken", urls[1]),
        ("doubtful", urls[3]),
    ]
    local = Site("s", urls[1], site.exchanges[1:2])
    assert [one.message.partition(":")[0] for one in findings(local)] == [
        "the page cannot be replayed"
    ]


def test_the_page_is_what_plain_http_leads_to() -> None:
    def moved(url: str, to: str) -> Exchange:
        return Exchange("GET", url, 301, (("location", to),), b"")

    end = Exchange("GET", "https://www.a.test/", 200, HTML, b"<p>")
    hops = (moved("http://a.test/", "http://www.a.test/"), moved("http://www.a.test/", end.url))
    assert final_page(Site("s", "http://a.test/", (*hops, end))) == end.url
    assert final_page(Site("s", "http://a.test/", hops)) == "http://a.test/"
    loop = moved("http://a.test/", "http://a.test/")
    assert final_page(Site("s", loop.url, (loop,))) == loop.url


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("shop.test=127.0.0.1:8001", SHOP),
        ("SHOP.test=LocalHost:80", HostMap("shop.test", "localhost", 80)),
        ("shop.test=[::1]:8001", HostMap("shop.test", "[::1]", 8001)),
        ("shop.test", None),
        ("shop.test=127.0.0.1", None),
        ("shop.test=:80", None),
        ("shop.test=a:b", None),
        ("shop.test=http://a:80", None),
        ("shop.test=a:99999", None),
        ("=a:80", None),
        ("a b=a:80", None),
        ("localhost=127.0.0.1:8001", None),
        ("127.0.0.1=127.0.0.1:8001", None),
    ],
)
def test_maps_are_written_so(text: str, parsed: HostMap | None) -> None:
    if parsed:
        assert HostMap.parse(text) == parsed
        return
    with pytest.raises(WrongInputError, match=r"^--map "):
        HostMap.parse(text)


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("http://127.0.0.1:8001/a", "https://shop.test/a"),
        ("https://localhost:8001", "https://shop.test"),
        ("http://[::1]:8001/?b", "https://shop.test/?b"),
        ("//localhost:8001/a", "//shop.test/a"),
        (r'"http:\/\/localhost:8001\/a"', r'"https:\/\/shop.test\/a"'),
        ("http://shop.test/a", "https://shop.test/a"),
        ("http://shop.test:8001/a http://SHOP.test.", "https://shop.test/a https://shop.test."),
        ("http://localhost:80011/", "http://localhost:80011/"),
        ("http://localhost/ http://localhost:8002/", "http://localhost/ http://localhost:8002/"),
        ("http://shop.test.org/ http://shop.tester/", "http://shop.test.org/ http://shop.tester/"),
        ("http://my-shop.test/ localhost:8001", "http://my-shop.test/ localhost:8001"),
    ],
)
def test_urls_of_a_mapped_server_are_renamed(text: str, renamed: str) -> None:
    assert SHOP.renamed(text) == renamed
    assert SHOP.renamed(renamed) == renamed


def test_a_server_at_the_usual_port_needs_none_in_its_urls() -> None:
    public = HostMap("a.test", "a.test", 80)
    assert public.renamed("http://a.test/ http://a.test:80/") == "https://a.test/ https://a.test/"
    local = HostMap("a.test", "10.1.2.3", 443)
    said = "https://10.1.2.3/ http://10.1.2.3/ https://10.1.2.33/"
    assert local.renamed(said) == "https://a.test/ http://10.1.2.3/ https://10.1.2.33/"


@given(st.text(max_size=60))
def test_other_text_stays(text: str) -> None:
    assert HostMap("q.example", "192.0.2.77", 54321).renamed(text) == text


def test_a_recording_is_renamed_in_urls_fields_and_text() -> None:
    here = "http://localhost:8001"
    page = f"<script src={here}/s.js></script>\xff".encode("latin-1")
    recording = Recording(
        Site(
            "s",
            f"{here}/",
            (
                Exchange("GET", f"{here}/", 200, HTML, page),
                Exchange(
                    "GET",
                    "http://shop.test/s.js",
                    200,
                    (
                        ("content-type", "text/javascript"),
                        ("content-encoding", "gzip"),
                        ("access-control-allow-origin", here),
                    ),
                    gzip.compress(f'fetch("{here}/x")'.encode()),
                ),
                Exchange("GET", f"{here}/x", 302, (("location", "https://shop.test/x"),), b""),
                Exchange("GET", f"{here}/x", 200, (("content-type", "image/png"),), here.encode()),
            ),
        ),
        ("a note",),
    )
    renamed = HostMaps((SHOP,)).applied(recording)
    site = renamed.site
    assert site.page == "https://shop.test/"
    assert [one.url for one in site.exchanges] == [
        f"https://shop.test/{path}" for path in ("", "s.js", "x")
    ]
    assert site.exchanges[0].body == b"<script src=https://shop.test/s.js></script>\xff"
    assert gzip.decompress(site.exchanges[1].body) == b'fetch("https://shop.test/x")'
    assert site.exchanges[1].header("access-control-allow-origin") == "https://shop.test"
    assert site.exchanges[2].body == here.encode()
    assert renamed.notes == ("a note", "hosts renamed in bodies (2)")
    assert findings(site) == ()
    assert HostMaps().applied(recording) is recording


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed one, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not in PATH")
    file = tmp_path_factory.mktemp("tls") / "own.pem"
    words = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=own")
    subprocess.run(
        [openssl, *words, "-keyout", file, "-out", file.with_name("c.pem")],
        check=True,
        capture_output=True,
    )
    file.write_bytes(file.read_bytes() + file.with_name("c.pem").read_bytes())
    return file


def mapped(url: str) -> HostMap:
    return HostMap("shop.test", "127.0.0.1", int(url.rpartition(":")[2].strip("/")))


def test_a_server_without_tls_is_asked_over_http() -> None:
    with served() as url:
        access = Access(HostMaps((mapped(url),)))
        assert access.loaded("https://shop.test/https:a") == "http://shop.test/https:a"
        assert access.loaded("https://other.test/") == "https://other.test/"
        assert access.flags() == (
            f"--host-resolver-rules=MAP shop.test {url[7:-1]}",
            "--unsafely-treat-insecure-origin-as-secure=http://shop.test",
            "--disable-features=HttpsUpgrades",
        )


def test_a_server_with_tls_is_asked_over_it(certificate: Path) -> None:
    with served(certificate=certificate) as url:
        access = Access(HostMaps((mapped(url),)), insecure=True)
        assert access.loaded("https://shop.test/") == "https://shop.test/"
        assert access.flags() == (
            f"--host-resolver-rules=MAP shop.test {url[8:-1]}",
            "--ignore-certificate-errors",
        )


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(HeadwayError, match=f"shop.test=127.0.0.1:{port}: nobody answers"):
            speaks_tls(HostMap("shop.test", "127.0.0.1", port))


needs_chromium = pytest.mark.skipif(
    browser_or_none() is None, reason=f"none of {', '.join(BROWSERS)} is in PATH"
)


@needs_chromium
def test_a_local_page_is_recorded_as_labs_can_serve_it() -> None:
    with served() as url:
        maps = HostMaps((mapped(url),))
        site = record_site("s", [url], Browsing(maps=maps)).site
    assert site.page == "https://shop.test/"
    assert site.hosts == ("shop.test",)
    assert findings(site) == ()
    found = {one.url: one.body for one in site.exchanges}
    assert found["https://shop.test/latin.js"] == LATIN.encode("latin-1")
    assert b'src="https://shop.test/frame.html"' in gzip.decompress(found[site.page])
    assert site.description == f"Recorded from https://shop.test/ at {url[7:-1]} with Chromium."


@needs_chromium
def test_a_certificate_that_nobody_vouches_for(certificate: Path) -> None:
    with served(certificate=certificate) as url:
        maps = HostMaps((mapped(url),))
        with pytest.raises(HeadwayError, match="ERR_CERT_AUTHORITY_INVALID; --insecure records"):
            record_site("s", ["https://shop.test/"], Browsing(maps=maps))
        site = record_site("s", ["https://shop.test/"], Browsing(maps=maps, insecure=True)).site
    assert site.page == "https://shop.test/"
    assert "https://shop.test/style.css" in {one.url for one in site.exchanges}
