"""The HTML of a generated page.

Its layout is in the document itself and all places have a fixed size, so that nothing moves while
objects arrive. Down the page: a header and an introduction, a grid of the images above the fold,
then sections of text with four images each.
"""

from __future__ import annotations

from headway.errors import WrongInputError
from headway.instruments.corpus.geometry import GAP, HEIGHT, grid_cell
from headway.instruments.corpus.keystream import Keystream
from headway.instruments.corpus.plan import PagePlan
from headway.instruments.corpus.words import paragraphs, words

_PAGE_WIDTH = 1320
_HEADER, _INTRODUCTION = 64, 136
_FOLD = HEIGHT - _HEADER - _INTRODUCTION
_INTRODUCTION_CHARACTERS = 240
_SECTION_IMAGES = 4
_NARROW = 800


def document(plan: PagePlan) -> str:
    """The document, in ASCII, of exactly as many characters as its model has bytes.

    Raises:
        WrongInputError: the model's document is too small for what it has to refer to.
    """
    model = plan.model
    stream = Keystream(f"document/{model.name}/{model.seed}")
    pieces = _pieces(plan, stream)
    room = model.html_bytes - sum(len(piece) for piece in pieces)
    if room < len(pieces):
        raise WrongInputError(
            f"must be at least {model.html_bytes - room + len(pieces)}, not {model.html_bytes}",
            where=f"page {model.name}: html_bytes",
        )
    lengths = _text_lengths(room, len(pieces) - 1)
    filled = [
        piece + paragraphs(stream, length)
        for piece, length in zip(pieces, lengths, strict=False)  # none after the last piece
    ]
    return "".join((*filled, pieces[-1]))


def _text_lengths(room: int, texts: int) -> list[int]:
    """Characters of each text: a short introduction, since it is above the fold, then even ones."""
    introduction = min(room // texts, _INTRODUCTION_CHARACTERS)
    rest, others = room - introduction, texts - 1
    even = [rest * (n + 1) // others - rest * n // others for n in range(others)]
    return [introduction, *even]


def _pieces(plan: PagePlan, stream: Keystream) -> list[str]:
    """The document cut where text is to be filled in: after each piece but the last."""
    model = plan.model
    title = words(stream, 3)
    fold, rest = model.above_fold_images, len(plan.images)
    starts = range(fold, max(rest, fold + 1), _SECTION_IMAGES)
    pieces = [f"{_head(plan, title)}<div class=intro><h1>{title}</h1>\n<p>"]
    for number, start in enumerate(starts, start=1):
        before = _fold(plan, fold) if number == 1 else "</section>\n"
        places = range(start, min(start + _SECTION_IMAGES, rest))
        heading = f'<section id="section-{number}" class="t{number % 7}">\n<h2>{words(stream, 2)}'
        cards = "".join(_place(plan, place) for place in places)
        pieces.append(f"</p>\n{before}{heading}</h2>\n<div class=row>\n{cards}</div>\n<p>")
    pieces.append(f"</p>\n</section>\n</main>\n{_tail(plan)}</body>\n</html>\n")
    return pieces


def _head(plan: PagePlan, title: str) -> str:
    model = plan.model
    sheets = "".join(_link(sheet.url) for sheet in plan.stylesheets[: model.blocking_stylesheets])
    scripts = "".join(
        f'<script src="{script.url}"></script>\n'
        for script in plan.scripts[: model.blocking_scripts]
    )
    menu = "".join(f'<a href="#section-{number}">Part {number}</a>' for number in (1, 2, 3))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title}</title>\n<link rel="icon" href="data:,">\n{_layout(model.above_fold_images)}'
        f"{sheets}{scripts}</head>\n<body>\n<header><b>{model.name}</b>{menu}</header>\n<main>\n"
    )


def _layout(fold_images: int) -> str:
    cell = grid_cell(max(1, fold_images), _PAGE_WIDTH, _FOLD)
    return (
        "<style>\n*{box-sizing:border-box}body{margin:0;font:16px/24px sans-serif;color:#222}\n"
        f"header{{height:{_HEADER}px;padding:20px 24px;background:#346;color:#fff}}"
        "header a{color:#fff;margin-left:24px}\n"
        f"main{{width:{_PAGE_WIDTH}px;max-width:100%;margin:auto;padding:0 4px}}\n"
        f".intro{{height:{_INTRODUCTION}px;overflow:hidden;padding:8px 0}}"
        "h1{font-size:32px;line-height:40px;margin:0}h2{margin:16px 0}p{margin:8px 0}\n"
        f".fold,.row{{display:flex;flex-wrap:wrap;gap:{GAP}px}}"
        f".fold{{height:{_FOLD}px;overflow:hidden;align-content:flex-start}}\n"
        ".i{display:block;width:320px;max-width:100%;height:240px;background:#dde center/100% 100%}"
        f".fold .i{{width:{cell.width}px;height:{cell.height}px}}\n"
        ".i img{display:block;width:100%;height:100%}section{padding:8px 4px}"
        "section p{max-width:1200px}\n"
        f"@media(max-width:{_NARROW}px){{.intro,.fold{{height:auto}}.row .i{{width:100%}}}}\n"
        "</style>\n"
    )


def _fold(plan: PagePlan, count: int) -> str:
    places = "".join(_place(plan, place) for place in range(count))
    return f"</div>\n<div class=fold>\n{places}</div>\n"


def _place(plan: PagePlan, place: int) -> str:
    if place in plan.background_places:
        return f'<div class="i b{place}"></div>\n'
    if place in plan.filled_places:
        return f'<div class=i id="i{place}"></div>\n'
    return f'<div class=i><img src="{plan.images[place]}" alt=""></div>\n'


def _link(url: str) -> str:
    return f'<link rel="stylesheet" href="{url}">\n'


def _tail(plan: PagePlan) -> str:
    model = plan.model
    sheets = "".join(_link(sheet.url) for sheet in plan.stylesheets[model.blocking_stylesheets :])
    scripts = "".join(
        f'<script async src="{script.url}"></script>\n'
        for script in plan.document_scripts[model.blocking_scripts :]
    )
    return sheets + scripts
