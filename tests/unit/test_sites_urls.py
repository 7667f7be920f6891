"""URLs are compared as browsers write them, wherever they come from."""

from __future__ import annotations

import html
import string
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.sites.charsets import decoded_text
from headway.sites.chromium import BROWSERS
from headway.sites.matching import Matcher, redirect_target
from headway.sites.references import html_references
from headway.sites.replay import compile_site
from headway.sites.site import Exchange, Site
from headway.sites.sources import Browsing, record
from headway.sites.urls import as_asked
from headway.sites.verify import Severity, findings
from headway.sites.warc import read_archive
from tests.unit.test_sites_archive import OK, warc
from tests.unit.test_sites_import import browser_or_none

PAGE = "https://shop.test/"
ODD = (*string.punctuation, " ", "é", "€", "\u2028", "😀", "%7c", "%41", "%2e", "%zz", "%")


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("/a b.png", "https://shop.test/a%20b.png"),
        ("/bücher.png", "https://shop.test/b%C3%BCcher.png"),
        ("\\c.png", "https://shop.test/c.png"),
        (" /d\n.png\t", "https://shop.test/d.png"),
        ("/e|f.png?g|h#i", "https://shop.test/e%7Cf.png?g|h"),
        ("//SHOP.test/g.png", "https://shop.test/g.png"),
        ("https://shop.test:443/h.png", "https://shop.test/h.png"),
        ("/i/../j.png", "https://shop.test/j.png"),
        ("/k%7Ea.png", "https://shop.test/k%7Ea.png"),
        ("//bücher.test", "https://xn--bcher-kva.test/"),
        ("http:/x", "http://x/"),
        ("?a='b'\"", "https://shop.test/dir/page?a=%27b%27%22"),
        ("data:x", None),
        ("javascript:1", None),
        ("http://[", None),
        ("https://a.test:99999/", None),
    ],
)
def test_urls_as_browsers_write_them(written: str, asked: str | None) -> None:
    assert as_asked(written, "https://shop.test/dir/page") == asked


@given(st.text(max_size=30))
def test_what_is_asked_for_stays_as_it_is(written: str) -> None:
    asked = as_asked(written, PAGE)
    if asked is not None:
        assert as_asked(asked) == asked
        assert asked.isascii()
        assert not set(asked) & set(' "<>\t\n')


@pytest.mark.parametrize(
    ("content_type", "body", "asked"),
    [
        ("text/html", "<img src='/ü?ü'>".encode(), "/%C3%BC?%C3%BC"),
        ("text/html; charset=iso-8859-1", "<img src='/ü?ü€'>".encode("cp1252"), "/%C3%BC?%FC%80"),
        ("text/html", "<img src='/ü?ü'>".encode("latin-1"), "/%C3%BC?%FC"),
        ("text/html", "<meta charset=koi8-r><img src='?б'>".encode("koi8-r"), "/?%C2"),
        ("text/html", "<meta charset=koi8-r><img src='?&#8364;'>".encode("koi8-r"),
         "/?%26%238364%3B"),
        ("text/html; charset=koi8-r", "\ufeff<img src='?б'>".encode(), "/?%D0%B1"),
        ("text/html; charset=none-such", "<img src='?б'>".encode(), "/?%D0%B1"),
        ("text/html; charset=base64", "<img src='?б'>".encode(), "/?%D0%B1"),
    ],
)  # fmt: skip
def test_queries_are_sent_in_the_documents_character_set(
    content_type: str, body: bytes, asked: str
) -> None:
    text, charset = decoded_text(body, content_type)
    (reference,) = html_references(text, PAGE, charset)
    assert reference.url == f"https://shop.test{asked}"


def get(url: str, *headers: tuple[str, str], status: int = 200) -> Exchange:
    return Exchange("GET", url, status, headers, b"x")


def test_requests_find_what_was_recorded_under_another_spelling() -> None:
    matcher = Matcher([get("https://shop.test:443/e|f.png"), get("https://bücher.test/a b")])
    assert matcher.find("GET", "https://shop.test/e%7Cf.png")
    assert matcher.find("GET", "https://xn--bcher-kva.test/a%20b")
    assert matcher.find("GET", "https://[shop.test/") is None
    moved = get(PAGE, ("location", "/ü|#top"), status=302)
    assert redirect_target(moved) == "https://shop.test/%C3%BC%7C"


def test_other_tools_urls_are_replayed_as_a_browser_asks_for_them(tmp_path: Path) -> None:
    image = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nPNG"
    names = ("a b.png", "bücher.png", "c|d.png")
    page = OK + b"\r\n" + "".join(f"<img src='/{name}'>" for name in names).encode()
    recorded = [("response", f"{PAGE}{name}", image, {}) for name in names]
    path = warc(tmp_path / "a.warc", ("response", PAGE, page, {}), *recorded, zipped=False)
    site = read_archive(path)
    assert findings(site) == ()
    (tmp_path / "tree").mkdir()
    compile_site(site, tmp_path / "tree")
    index = (tmp_path / "tree" / "site.json").read_text()
    for name in ("a%20b.png", "b%C3%BCcher.png", "c%7Cd.png"):
        assert f'"{PAGE}{name}"' in index


def test_what_a_load_does_not_get_is_still_told() -> None:
    page = Exchange("GET", PAGE, 200, (("content-type", "text/html"),), b"<img src='/a b|c'>")
    (found,) = findings(Site("s", PAGE, (page,)))
    assert found.severity is Severity.BROKEN
    assert found.message == "refers to https://shop.test/a%20b%7Cc, which is not in the archive"


@contextmanager
def listening(page: bytes, asked: set[str]) -> Iterator[str]:
    """A server that has one page, and notes what is asked for, byte for byte."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.add(self.path)
            body = page if self.path == "/" else b""
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.skipif(
    browser_or_none() is None,
    reason=f"none of {', '.join(BROWSERS)} is in PATH; `apt-get install chromium` brings one",
)
def test_chromium_asks_for_urls_as_is_said() -> None:
    written = [f"/p{at}-{one}-x" for at, one in enumerate(ODD)]
    written += [f"/q{at}?-{one}-x" for at, one in enumerate(ODD)]
    images = "".join(f'<img src="{html.escape(url)}">' for url in written)
    asked: set[str] = set()
    with listening(f"<!doctype html><meta charset=utf-8>{images}".encode(), asked) as origin:
        record(f"{origin}/", Browsing())
        told = {as_asked(url, origin) for url in written}
    assert told == {f"{origin}{target}" for target in asked if target[1:2] in ("p", "q")}


CONSTRUCTS = """<!doctype html><html><head><meta charset=utf-8><title><img src=/no1></title>
<noscript><link rel=stylesheet href=/no2></noscript><template><img src=/no3></template>
<link rel=stylesheet href=/r1><link rel=stylesheet media=print href=/r2><link rel=stylesheet disabled href=/r3>
<link rel=stylesheet type=text/less href=/r4><link rel="alternate stylesheet" title=x href=/r5>
<link rel=preload href=/r6><link rel=preload as=nonsense href=/r7><link rel=preload as=font crossorigin href=/r8>
<link rel=preload as=image href=/r9><link rel=preload as=image type=image/jxl href=/r10>
<link rel=preload as=image imagesrcset="/r11 1x, /r12 2x" href=/r13><link rel=preload as=script media=print href=/r14>
<link rel=modulepreload href=/r15><link rel=modulepreload as=image href=/r16><link rel=preload as=fetch crossorigin href=/r17>
<link rel=preload as=track crossorigin href=/r18><link rel=preload as=video href=/r19><link rel=preload as=style type=text/x href=/r20>
<style>@import "/c1"; @import url(/c2) print; @import "/c3" layer(a) supports(display: grid);
 p { background: url(/c4) } .none { background: url(/c5) } @import "/c6"; @media print { p { background: url(/c7) } }
 @font-face { font-family: F; src: url(/c8) format("embedded-opentype"), url(/c9) format("woff2"), url(/c10) format("svg") }
 p { font-family: F } b { background: image-set("/c11" 1x, "/c12" 2x) }</style>
<style media=print>@import "/c13";</style><style type=text/less>@import "/c14";</style></head>
<body background=/b1><p>text<b>bold</b></p><img src=/i1><image src=/i2><img loading=lazy src=/i3>
<img src=/i4 srcset="/i5 2x"><img src=/i6 srcset="/i7 300w, /i8 600w" sizes=300px><img srcset="/i9 nonsense, /i10 1x">
<picture><source srcset=/i11 type=image/webp><img src=/i12></picture>
<picture><source srcset=/i13 type=image/jxl><source srcset=/i14 media=print><img src=/i15></picture>
<picture><source srcset=/i16 media="(min-width: 1px)"><img src=/i17></picture><picture><source src=/i18><img src=/i19></picture>
<picture><img src=/i20><source srcset=/i21></picture><div style="display:none"><img src=/i22></div>
<script nomodule src=/s1></script><script type=importmap src=/s2></script><script type=text/template src=/s3></script>
<script type=application/json src=/s4></script><script language=vbscript src=/s5></script><script type="" src=/s6></script>
<script type=module src=/s7></script><script language=javascript1.5 src=/s8></script><script event=onclick for=x src=/s9></script>
<script event=onload for=window src=/s10></script><script type=module nomodule src=/s11></script>
<svg><use href="/v1#a"/><use xlink:href="/v2#a"/><image href=/v3 /><filter id=f><feImage href=/v4 /></filter>
<rect width=9 height=9 filter="url(#f)"/><script href=/v5></script><script type=x href=/v6></script>
<linearGradient href="/v7#a"/><foreignObject><img src=/v8></foreignObject></svg>
<iframe srcdoc="<img src=/f1><noscript><img src=/f2></noscript>" src=/f3></iframe><iframe src=/f4></iframe>
<object data=/o1></object><object data=/o2 type=application/x-shockwave-flash><img src=/o3></object>
<embed src=/o4><embed type=application/x-java src=/o5><input type=image src=/o6><input src=/o7>
<video poster=/m1 src=/m2><track src=/m3 srclang=a></video><video preload=none src=/m4></video>
<video><source src=/m5 type="video/nonsense"><source src=/m6 type="video/webm"></video><audio src=/m7></audio>
<video src=/m8><track default src=/m9 srclang=a></video>
<div><template shadowrootmode=open><img src=/t1><style>@import "/t2";</style></template></div>
<textarea><img src=/no4></textarea><!-- <img src=/no5> --><a href=/no6 ping=/no7>a</a></body></html>"""


@pytest.mark.skipif(
    browser_or_none() is None,
    reason=f"none of {', '.join(BROWSERS)} is in PATH; `apt-get install chromium` brings one",
)
def test_chromium_asks_for_what_documents_refer_to() -> None:
    """All that is certain, and nothing that is neither certain nor possible."""
    asked: set[str] = set()
    with listening(CONSTRUCTS.encode(), asked) as origin:
        record(f"{origin}/", Browsing())
        references = list(html_references(CONSTRUCTS, f"{origin}/"))
    loaded = {f"{origin}{target}" for target in asked} - {f"{origin}/", f"{origin}/favicon.ico"}
    certain = {one.url for one in references if one.is_certain}
    assert not certain - loaded
    assert not loaded - {one.url for one in references}
    for one in references:
        assert not one.others or loaded & set(one.others), one
