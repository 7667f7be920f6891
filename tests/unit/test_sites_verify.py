"""What is found wrong with a site, and which exchange answers which request."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.sites.css_references import css_references
from headway.sites.matching import Matcher, RedirectError, followed
from headway.sites.references import html_references
from headway.sites.referring import Reference
from headway.sites.site import Exchange, Site
from headway.sites.verify import Flaw, Severity, findings

PAGE = "https://a.test/dir/page"
HTML = ("content-type", "text/html; charset=utf-8")
CSS = ("content-type", "text/css")


def page(body: str = "<p>", url: str = PAGE) -> Exchange:
    return Exchange("GET", url, 200, (HTML,), body.encode())


def redirect(url: str, target: str, status: int = 302) -> Exchange:
    return Exchange("GET", url, status, (("location", target),), b"")


def found(*exchanges: Exchange) -> list[tuple[Severity, str, str]]:
    site = Site("s", PAGE, exchanges)
    return [(finding.severity, finding.url, finding.message) for finding in findings(site)]


def test_a_site_with_nothing_wrong() -> None:
    body = gzip.compress(b'<link rel=stylesheet href="/s.css"><img src="i.png?v=1"><a href="/no">')
    style = b"@import 'dir/more.css'; p { background: url(i.png) }"
    assert not found(
        redirect("http://a.test/", PAGE),
        Exchange("GET", PAGE, 200, (HTML, ("content-encoding", "gzip")), body),
        Exchange("GET", "https://a.test/s.css", 200, (CSS,), style),
        Exchange("GET", "https://a.test/dir/more.css", 200, (CSS,), b""),
        Exchange("GET", "https://a.test/i.png", 200, (("content-type", "image/png"),), b"x"),
        # Another query than the page's: a replaying server takes it.
        Exchange("GET", "https://a.test/dir/i.png?v=2", 200, (("content-type", "i/p"),), b"x"),
    )


def test_a_page_that_is_missing_or_failed() -> None:
    assert found(page(url="https://b.test/")) == [
        (Severity.BROKEN, PAGE, "the page is not in the archive")
    ]
    assert found(Exchange("GET", PAGE, 404, (), b"")) == [
        (Severity.BROKEN, PAGE, "the page has status 404")
    ]


def test_resources_that_are_missing() -> None:
    body = """<script src="//b.test/gone.js"></script><img src="/s.png" srcset="/m.png 2x">"""
    missing = "refers to {}, which is not in the archive"
    assert found(page(body)) == [
        (Severity.BROKEN, PAGE, missing.format("https://b.test/gone.js")),
        (Severity.BROKEN, PAGE, missing.format("https://a.test/m.png")),
        (Severity.BROKEN, PAGE, missing.format("https://a.test/s.png")),
    ]
    picture = Exchange("GET", "https://a.test/m.png", 200, (("content-type", "image/png"),), b"x")
    assert found(page(body), picture)[1:] == [
        (Severity.DOUBTFUL, PAGE, missing.format("https://a.test/s.png"))
    ]


@pytest.mark.parametrize(
    ("coding", "body", "said"),
    [
        ("gzip", b"plain", "its body is not gzip-coded as content-encoding says"),
        ("gzip", gzip.compress(b"page", mtime=0)[:-9], "its body is not gzip-coded as content-encoding says"),
        ("br", b"plain", "its body is not br-coded as content-encoding says"),
        ("deflate", b"plain", "its body is not deflate-coded as content-encoding says"),
    ],
)  # fmt: skip
def test_bodies_that_do_not_decode(coding: str, body: bytes, said: str) -> None:
    exchange = Exchange("GET", PAGE, 200, (HTML, ("content-encoding", coding)), body)
    assert found(exchange) == [(Severity.BROKEN, PAGE, said)]


def test_a_coding_that_browsers_know_and_headway_does_not_is_doubtful() -> None:
    exchange = Exchange("GET", PAGE, 200, (HTML, ("content-encoding", "zstd")), b"(\xb5/\xfd")
    ((severity, _, message),) = found(exchange)
    assert severity is Severity.DOUBTFUL
    assert "content coding zstd is known to browsers, and not to Headway" in message


def test_redirects_that_lead_nowhere() -> None:
    a, b, c = (f"https://a.test/{letter}" for letter in "abc")
    assert found(page(), redirect(a, "b"), redirect(b, "/a"), redirect(c, "/gone")) == [
        (Severity.BROKEN, a, f"redirects in a loop, back to {a}"),
        (Severity.BROKEN, b, f"redirects in a loop, back to {b}"),
        (Severity.BROKEN, c, "redirects to https://a.test/gone, which is not in the archive"),
    ]


def test_a_chain_of_redirects_may_be_long_but_not_endless() -> None:
    chain = [redirect(f"https://a.test/{hop}", f"/{hop + 1}") for hop in range(21)]
    end = page(url="https://a.test/21")
    matcher = Matcher([*chain, end])
    assert followed(matcher, chain[1]) == end  # 20 of them
    with pytest.raises(RedirectError, match="more than 20 times"):
        followed(matcher, chain[0])


def test_what_is_odd() -> None:
    url = "https://a.test/x"
    assert found(
        page(),
        Exchange("GET", url, 200, (), b"x"),
        Exchange("GET", url, 206, (CSS,), b"x"),
        Exchange("GET", "https://a.test/y", 304, (), b""),
    ) == [
        (Severity.DOUBTFUL, url, "GET is there 2 times; the first is replayed"),
        (Severity.DOUBTFUL, url, "no content-type"),
        (Severity.DOUBTFUL, url, "206: only a range was recorded"),
        (
            Severity.BROKEN,
            "https://a.test/y",
            "304 without the content: it was recorded with a warm cache",
        ),
    ]
    assert isinstance(findings(Site("s", PAGE, ()))[0], Flaw)


@pytest.mark.parametrize(
    ("text", "certain", "possible"),
    [
        ('<img src="a.png">', ["https://a.test/dir/a.png"], []),
        ('<IMG SRC=../a.png#f>', ["https://a.test/a.png"], []),
        ('<base href="//c.test/x/"><script src=s.js></script>', ["https://c.test/x/s.js"], []),
        ('<img src="data:x"><img src=""><img><a href="/a"><object data="blob:x">', [], []),
        ('<noscript><img src="/a"></noscript><template><img src="/b"></template><img src="/c">',
         ["https://a.test/c"], []),
        ('<img src="/a" loading="lazy">', [], ["https://a.test/a"]),
        ('<img srcset="/a 1x, /b,c 2x">', [], ["https://a.test/a", "https://a.test/b,c"]),
        ('<img src=/a srcset="/b 300w, /c 600w">', [], ["https://a.test/b", "https://a.test/c"]),
        ('<img src=/a srcset="/b 1x">', ["https://a.test/b"], []),
        ('<img src=/a srcset="/b nonsense, data:x 3x">', [], ["https://a.test/a"]),
        ('<img src=/a srcset="/b 2x" loading=lazy>', [], ["https://a.test/b", "https://a.test/a"]),
        # The first source of a picture that is shown and matches decides.
        ('<picture><source srcset=/a type=image/webp><img src=/b></picture>', ["https://a.test/a"], []),
        ('<picture><source srcset=/a type=image/x-pict><img src=/b></picture>', ["https://a.test/b"], []),
        ('<picture><source srcset=/a media=print><img src=/b></picture>', ["https://a.test/b"], []),
        ('<picture><source srcset=/a media="(min-width: 9px)"><img src=/b></picture>',
         [], ["https://a.test/a", "https://a.test/b"]),
        ('<picture><img src=/b><source srcset=/a></picture>', ["https://a.test/b"], []),
        ('<picture><source src=/a><img src=/b></picture>', ["https://a.test/b"], []),
        # Scripts that no browser of today fetches, and those that it does.
        ('<script nomodule src=/a></script><script type=text/template src=/b></script>', [], []),
        ('<script type=importmap src=/a></script><script type=speculationrules src=/b></script>', [], []),
        ('<script type=application/json src=/a></script><script language=vbscript src=/b></script>', [], []),
        ('<script type=module nomodule src=/a></script><script type="" src=/b></script>'
         '<script type=" Text/JavaScript " src=/c></script><script language=javascript1.5 src=/d></script>',
         [f"https://a.test/{one}" for one in "abcd"], []),
        # Links by what they are for.
        ('<link rel=preload href=/a><link rel=preload as=nonsense href=/b><link rel=preload as=video href=/c>'
         '<link rel=preconnect href=/d><link rel=stylesheet disabled href=/e><link rel=alternate href=/f>'
         '<link rel=stylesheet type=text/less href=/g><link rel=preload as=image type=image/x-pict href=/h>'
         '<link rel=preload as=style media=print href=/i><link rel="modulepreload" as=image href=/j>', [], ["https://a.test/j"]),
        ('<link rel=preload as=font href=/a><link rel=modulepreload href=/b>'
         '<link rel=stylesheet media=screen type="text/css; charset=utf-8" href=/c>',
         [f"https://a.test/{one}" for one in "abc"], []),
        ('<link rel=preload as=image imagesrcset="/a 1x, /b 2x" href=/c><link rel=manifest href=/d>',
         [], [f"https://a.test/{one}" for one in "abd"]),
        # Pictures and others of SVG, where an image is not one of HTML.
        ('<svg><use href="i.svg#a"/><use xlink:href="#b"/><image href=/c /><filter><feImage href=/d /></filter>'
         '<script href=/e></script><script type=x href=/f></script><img src=/g></svg><image src=/h>',
         ["https://a.test/dir/i.svg", *(f"https://a.test/{one}" for one in "cdegh")], ["https://a.test/f"]),
        ('<svg><use href="/dir/page#a"/><a href=/x><linearGradient href=/y#a></a></svg>', [], []),
        ('<svg><style>p{background:url(/a)}</style><foreignObject><img src=/b></foreignObject></svg>',
         ["https://a.test/b"], ["https://a.test/a"]),
        # Frames, plugins and media.
        ('<iframe src=/a srcdoc="<img src=b><script nomodule src=/c></script>"></iframe>', ["https://a.test/dir/b"], []),
        ('<iframe loading=lazy src=/a></iframe><iframe src="about:blank"></iframe>', [], ["https://a.test/a"]),
        ('<object data=/a></object><object data=/b type=application/x-shockwave-flash><img src=/c></object>'
         '<embed src=/d type=application/x-java><object data=/e><object data=/f></object></object>',
         [f"https://a.test/{one}" for one in "ace"], ["https://a.test/f"]),
        ('<video preload=none src=/a poster=/b></video><audio><source src=/c type=audio/ogg></audio>',
         ["https://a.test/b", "https://a.test/c"], []),
        ('<video><source src=/a type="video/webm"><source src=/b></video>', [], ["https://a.test/a", "https://a.test/b"]),
        ('<video src=/v><track src=/a><track default src=/b></video>', ["https://a.test/v", "https://a.test/b"], []),
        # The first base with a URL; documents in templates; what is text.
        ('<img src=a><base><base href=/x/><base href=/y/><img src=b>', ["https://a.test/dir/a", "https://a.test/x/b"], []),
        ('<div><template shadowrootmode=open><img src=/a></template></div><template><img src=/b></template>',
         ["https://a.test/a"], []),
        ('<textarea><img src=/a></textarea><title><img src=/b></title><svg><![CDATA[<img src=/c>]]></svg>'
         '<xmp><img src=/d></xmp><iframe><img src=/e></iframe><!--><img src=/f><!-- <img src=/g>',
         ["https://a.test/f"], []),
        ('<style media=print>@import "/a"; p{b:url(/c)}</style><style type=text/less>@import "/d";</style>', [], ["https://a.test/a", "https://a.test/d"]),
        ('<body background=/a><input type=IMAGE src=/b><input type=text src=/c>', ["https://a.test/b"], ["https://a.test/a"]),
        ('<link rel="stylesheet" href="/a"><link rel="Icon" href="/b"><link rel=canonical href=/c>',
         ["https://a.test/a"], ["https://a.test/b"]),
        ('<link rel="stylesheet" media="print" href="/a">', [], ["https://a.test/a"]),
        ('<video src="/v" poster="/p"><source src="/s"></video>',
         ["https://a.test/p", "https://a.test/v"], []),
        ('<input type="image" src="/a"><iframe src="/b"></iframe>',
         ["https://a.test/a", "https://a.test/b"], []),
        ('<p style="background:url(/a)">', [], ["https://a.test/a"]),
        ("<style>@import '/a'; b{c:url('/b')}</style><p>@import '/c'",
         ["https://a.test/a"], ["https://a.test/b"]),
        ("<script>'<img src=/no>'</script><!-- <img src=/no> -->", [], []),
        ('<img src="http://[">', [], []),
    ],
)  # fmt: skip
def test_what_documents_refer_to(text: str, certain: list[str], possible: list[str]) -> None:
    references = list(html_references(text, PAGE))
    assert [r.url for r in references if r.is_certain] == certain
    assert [r.url for r in references if not r.is_certain] == possible


@pytest.mark.parametrize(
    ("text", "references"),
    [
        ("p { background: url( \"a b.png\" ) }", [Reference("https://a.test/dir/a%20b.png", False)]),
        ("p { x: url(a) } /* url(b) */ q { x: URL('c') }",
         [Reference("https://a.test/dir/a", False), Reference("https://a.test/dir/c", False)]),
        ('@import url("a.css"); @import "b.css" screen;',
         [Reference("https://a.test/dir/a.css", True), Reference("https://a.test/dir/b.css", True)]),
        ("/* first */ @charset 'utf-8'; @layer a, b;\n@IMPORT url(a.css) layer(x);p {}",
         [Reference("https://a.test/dir/a.css", True)]),
        # Browsers ignore these.
        ('p { color: red } @import "a.css"; @import url(b.css);', []),
        ('@layer a { p { x: url(a) } } @import "b.css";', [Reference("https://a.test/dir/a", False)]),
        ('@namespace url(http://www.w3.org/1999/xhtml); @import "a;.css"; p { x: url(b) }',
         [Reference("https://a.test/dir/b", False)]),
        ("@namespace url(http://www.w3.org/1999/xhtml); p { fill: url(#gradient) }", []),
        ("p { x: url(data:image/png;base64,AA==) }", []),
        ("p { content: 'url(a)'; x: url('a\\)b') } @media print { q { x: url(c) } }",
         [Reference("https://a.test/dir/a)b", False)]),
        ("@import 'a' print; @import 'b' layer supports(display: grid); @import url(c) (width < 9px);",
         [Reference("https://a.test/dir/a", False), Reference("https://a.test/dir/b", False), Reference("https://a.test/dir/c", False)]),
        ("p { x: image-set('a.png' 1x, url(b.png) 2x, linear-gradient(red, blue)); y: -webkit-image-set(url(c) 1x) }",
         [Reference(f"https://a.test/dir/{one}", False) for one in ("a.png", "b.png", "c")]),
        ("@font-face { src: url(a.eot); src: url(a.eot?x) format('embedded-opentype'), local(A),"
         " url(a.woff2) format('woff2'), url(a.woff) format(woff) }",
         [Reference("https://a.test/dir/a.woff2", False)]),
        ("@media screen { @supports (x: y) { @font-face { src: url(a) } } p { x: url(b); & q { y: url(c) } } }",
         [Reference(f"https://a.test/dir/{one}", False) for one in "abc"]),
    ],
)  # fmt: skip
def test_what_style_sheets_refer_to(text: str, references: list[Reference]) -> None:
    assert list(css_references(text, PAGE)) == references


def test_elements_of_xhtml_close_themselves() -> None:
    text = '<script src="/a" /><div title="a/>b" /><img src="/b"/>'
    urls = ["https://a.test/a", "https://a.test/b"]
    assert [one.url for one in html_references(text, PAGE, is_xml=True)] == urls
    assert [one.url for one in html_references(text, PAGE)] == urls[:1]


HOSTILE = (
    "<div>" * 20_000, "<svg/>" * 20_000, '<a "' * 50_000, "<b>" * 2000 + "<p>" * 2000,
    "<img srcset='" + ",".join(f"a{at} {at}w" for at in range(5000)) + "'>",
    "<picture>" + "<source srcset=a media=x><img src=b>" * 500, "<iframe srcdoc='" * 2000,
    "<template shadowrootmode=open>" * 2000, "<style>" + "a{" * 20_000,
)  # fmt: skip
HOSTILE_STYLES = (
    "url(" * 20_000,
    "x(url(a)" * 20_000,
    "@layer a{@supports (x){" * 1500 + "b{c:url(d)}",
    "@import 'a';" * 2000,
)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12])
def test_hostile_documents_end(text: str) -> None:
    for is_xml in (True, False):
        assert len(list(html_references(text, PAGE, is_xml=is_xml))) <= 5000


@pytest.mark.parametrize("text", HOSTILE_STYLES, ids=lambda text: text[:12])
def test_hostile_style_sheets_end(text: str) -> None:
    assert len(list(css_references(text, PAGE))) <= 20_000


@given(st.text(max_size=80))
def test_any_text_can_be_looked_through(text: str) -> None:
    list(html_references(text, PAGE))
    list(css_references(text, PAGE))


def answer(exchanges: list[Exchange], method: str, url: str) -> bytes | None:
    match = Matcher(exchanges).find(method, url)
    return match.body if match else None


def get(url: str, body: bytes, method: str = "GET") -> Exchange:
    return Exchange(method, url, 200, (), body)


def test_matching() -> None:
    recorded = [
        get("https://a.test/x?a=1&b=2", b"1"),
        get("https://a.test/x?a=1&b=3", b"2"),
        get("https://a.test/x", b"3"),
        get("https://a.test:8443/x?a=1&b=2", b"4"),
        get("https://a.test/x?a=1&b=2", b"5", "POST"),
        get("http://a.test/y", b"6"),
        get("http://a.test/x?a=9", b"7"),
    ]
    assert answer(recorded, "GET", "https://a.test/x?a=1&b=3") == b"2"
    assert answer(recorded, "GET", "https://a.test/x") == b"3"
    assert answer(recorded, "GET", "https://a.test/x?a=1&b=34") == b"2"  # the longest common start
    assert answer(recorded, "GET", "https://a.test/x?a=1") == b"1"  # of equals the first
    assert answer(recorded, "GET", "https://a.test/x?z") == b"1"
    assert answer(recorded, "GET", "https://A.test:99/x?a=1&b=2") == b"1"
    assert answer(recorded, "HEAD", "https://a.test/x") == b"3"
    assert answer(recorded, "POST", "https://a.test/x") == b"5"
    assert answer(recorded, "PUT", "https://a.test/x") is None
    assert answer(recorded, "GET", "https://a.test/y") == b"6"  # of the other scheme
    assert answer(recorded, "GET", "http://a.test/x?a=1&b=2") == b"7"  # of its own scheme
    assert answer(recorded, "GET", "https://a.test/z") is None
    assert answer(recorded, "GET", "https://b.test/x") is None
