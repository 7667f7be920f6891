"""Small sites that lab tests load and replay."""

from __future__ import annotations

from pathlib import Path

from headway.sites.site import Exchange, Header, Site
from headway.sites.warc import write_archive

PAGE = "https://a.test/"
HTML, SVG = "text/html; charset=utf-8", "image/svg+xml"


def exchange(url: str, kind: str, body: str | bytes, *more: Header, status: int = 200) -> Exchange:
    """A recorded GET; without a content type of its own if that is empty."""
    content = body.encode() if isinstance(body, str) else body
    headers = (("content-type", kind), *more) if kind else more
    return Exchange("GET", url, status, headers, content)


def picture(colour: str) -> str:
    """An image of one colour."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90">'
        f'<rect width="90" height="90" fill="{colour}"/></svg>'
    )


def archive(directory: Path, *exchanges: Exchange) -> str:
    """Path of an archive of these exchanges, the page's first."""
    file = directory / "site.warc.gz"
    write_archive(Site("site", PAGE, exchanges), file)
    return str(file)


def two_hosts(directory: Path) -> str:
    """A page with images, a style sheet, a worker that fetches, and a frame of another host."""
    fresh = ("cache-control", "max-age=3600")
    images = [
        exchange(f"{PAGE}{number}.svg", SVG, picture(colour) + " " * 20_000, fresh)
        for number, colour in enumerate(("red", "green", "blue", "orange"))
    ]
    page = (
        "<!doctype html><title>a</title><link rel=stylesheet href=/a.css>"
        f"{''.join(f'<img src=/{number}.svg>' for number in range(len(images)))}"
        "<iframe src=https://b.test/frame width=200 height=200></iframe>"
        "<script>new Worker('/worker.js').onmessage = told => "
        "document.body.append(told.data)</script>"
    )
    worker = "fetch('/data').then(got => got.text()).then(text => postMessage(text))"
    return archive(
        directory,
        exchange(PAGE, HTML, page),
        exchange(f"{PAGE}a.css", "text/css", "body { background: #eef }", fresh),
        *images,
        exchange(f"{PAGE}worker.js", "text/javascript", worker, fresh),
        exchange(f"{PAGE}data", "text/plain", "told by the worker", fresh),
        exchange("https://b.test/frame", HTML, "<!doctype html><img src=/b.svg>", fresh),
        exchange("https://b.test/b.svg", SVG, picture("purple"), fresh),
    )
