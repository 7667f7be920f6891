"""A page with the structure of the ETSI Kepler Web Reference Page, and no content of it.

Number, order, kinds, sizes, and places in the HTML are those of the page that Kosek et al. 2022 loaded;
`kepler.csv` has them and their source. All bytes are generated.
"""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from headway.instruments.corpus.gif import gif
from headway.instruments.corpus.keystream import Keystream
from headway.instruments.corpus.png import grey_png
from headway.instruments.corpus.response import CONTENT_TYPES, response
from headway.instruments.corpus.subresources import filled_stylesheet
from headway.instruments.corpus.words import paragraphs, text, words
from headway.sites.site import Exchange, Site
from headway.tables import table

NAME = "kepler"
STRUCTURE = "generated after ETSI's Kepler page"
"""What the site is, in a few words."""

_PAGE = f"https://{NAME}.test/"
_LINE_CHARACTERS = 80
_SHORTEST_SECTION = 150
_COLOURS = ("#346", "#643", "#364", "#636", "#663", "#366", "#333", "#463", "#436")
_LAYOUT = (
    "body{margin:8px;font:12px/18px sans-serif;color:#222;background:#fff}"
    "main{width:800px;margin:auto}h1{font-size:24px;line-height:32px}p{margin:8px 0}\n"
)
_HEAD = '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Kepler</title>\n'
_HEAD_END = (
    '\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    '<link rel="icon" href="data:,">\n</head>\n<body>\n<main>\n<h1>Kepler</h1>\n<p>'
)
_DOCUMENT_END = "</p>\n</main>\n</body>\n</html>\n"


@dataclass(frozen=True)
class KeplerObject:
    """What is known of an object.

    Attributes:
        kind: html, css, txt, png or gif, which is its file's suffix, too.
        path: of its URL, relative to the page's.
        bytes: size.
        width: in pixels: of an image, or of the frame that shows the object; 0 if it has none.
        height: likewise.
        sized: the HTML gives width and height.
        offset: of the reference to it, in bytes from the start of the HTML.
    """

    kind: str
    path: str
    bytes: int
    width: int
    height: int
    sized: bool
    offset: int


@cache
def kepler_objects() -> tuple[KeplerObject, ...]:
    """All objects, first the page itself, then the others in the order of its HTML."""
    rows = table("headway.instruments.corpus", f"{NAME}.csv")
    return tuple(_object(number, row) for number, row in enumerate(rows))


def _object(number: int, row: dict[str, str]) -> KeplerObject:
    kind = row["kind"]
    return KeplerObject(
        kind,
        f"{kind}/{number:02}.{kind}" if number else "",
        int(row["bytes"]),
        int(row["width"] or 0),
        int(row["height"] or 0),
        row["sized"] == "yes",
        int(row["offset"] or 0),
    )


def kepler_site() -> Site:
    """The page with all its objects, from one origin."""
    page, *others = kepler_objects()
    document = _document(page.bytes, others)
    first = response(_PAGE, CONTENT_TYPES["html"], document.encode(), document=True)
    return Site(
        NAME,
        _PAGE,
        (first, *(_exchange(kepler_object) for kepler_object in others)),
        STRUCTURE,
    )


def _exchange(kepler_object: KeplerObject) -> Exchange:
    return response(
        f"{_PAGE}{kepler_object.path}", CONTENT_TYPES[kepler_object.kind], _body(kepler_object)
    )


def _body(kepler_object: KeplerObject) -> bytes:
    stream = Keystream(f"{NAME}/{kepler_object.path}")
    if kepler_object.kind == "png":
        return grey_png(
            kepler_object.width, kepler_object.height, kepler_object.bytes, kepler_object.path
        )
    if kepler_object.kind == "gif":
        return gif(
            kepler_object.width, kepler_object.height, kepler_object.bytes, kepler_object.path
        )
    if kepler_object.kind == "css":
        return _stylesheet(kepler_object, stream).encode()
    if kepler_object.kind == "txt":
        return textwrap.fill(text(stream, kepler_object.bytes), _LINE_CHARACTERS).encode()
    return _noise(kepler_object.bytes, stream).encode()


def _stylesheet(kepler_object: KeplerObject, stream: Keystream) -> str:
    """The first has the layout; each has the colour of a heading."""
    number = [sheet for sheet in kepler_objects() if sheet.kind == "css"].index(kepler_object)
    heading = f"h2:nth-of-type({number + 1}){{color:{_COLOURS[number]}}}\n"
    return filled_stylesheet(heading if number else _LAYOUT + heading, kepler_object.bytes, stream)


def _noise(size_bytes: int, stream: Keystream) -> str:
    """A document of random letters, which compress by no more than a quarter."""
    start, end = "<!DOCTYPE html>\n<title>Noise</title>\n<pre>\n", "</pre>\n"
    room = size_bytes - len(start) - len(end)
    letters = base64.encodebytes(stream.take(room)).decode()
    return start + letters[: room - 1] + "\n" + end


def _document(size: int, objects: Sequence[KeplerObject]) -> str:
    """The HTML, in ASCII: each reference where it was, text in between as far as there is room."""
    stream = Keystream(f"{NAME}/document")
    sheets = [kepler_object for kepler_object in objects if kepler_object.kind == "css"]
    parts = [_HEAD]
    length = len(_HEAD)
    for reference in objects:
        if reference is objects[len(sheets)]:
            parts.append(_HEAD_END)
            length += len(_HEAD_END)
        parts += [_between(stream, reference.offset - length), _reference(reference)]
        length = reference.offset + len(parts[-1])
    rest = size - length - len(_DOCUMENT_END)
    return "".join((*parts, _between(stream, rest), _DOCUMENT_END))


def _reference(kepler_object: KeplerObject) -> str:
    if kepler_object.kind == "css":
        return f'<link rel="stylesheet" href="{kepler_object.path}">'
    size = (
        f' width="{kepler_object.width}" height="{kepler_object.height}"'
        if kepler_object.sized
        else ""
    )
    if kepler_object.kind in ("png", "gif"):
        return f'<img src="{kepler_object.path}" alt=""{size}>'
    return f'<iframe src="{kepler_object.path}"{size}></iframe>'


def _between(stream: Keystream, characters: int) -> str:
    """A heading and text within what is between two references, or white space."""
    if characters < _SHORTEST_SECTION:
        return ("\n" + " " * characters)[:characters]
    heading = f"</p>\n<h2>{words(stream, 2)}</h2>\n<p>"
    end = "</p>\n<p>"
    return heading + paragraphs(stream, characters - len(heading) - len(end)) + end
