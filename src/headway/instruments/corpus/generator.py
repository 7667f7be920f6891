"""A page from its model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from headway.instruments.corpus.font import MIN_FONT_BYTES, font
from headway.instruments.corpus.html import document
from headway.instruments.corpus.keystream import Keystream
from headway.instruments.corpus.model import Objects, PageModel
from headway.instruments.corpus.plan import PagePlan, older_hosts, plan_page
from headway.instruments.corpus.png import MIN_PNG_BYTES, png
from headway.instruments.corpus.response import CONTENT_TYPES, response
from headway.instruments.corpus.sizes import lognormal_sizes
from headway.instruments.corpus.subresources import (
    filled_script,
    filled_stylesheet,
    script,
    smallest,
    stylesheet,
)
from headway.sites.site import Exchange, Site


def generate(model: PageModel, description: str = "") -> Site:
    """The page of a model: the same bytes on every machine.

    Args:
        model: its structure and seed.
        description: of the site; what the model has if empty.

    Raises:
        WrongInputError: a kind's total of bytes is too small for what its objects must have.
    """
    plan = plan_page(model)
    page = f"https://{model.name}.test/"
    first = response(page, CONTENT_TYPES["html"], document(plan).encode(), document=True)
    return Site(
        model.name,
        page,
        (first, *_stylesheets(plan), *_scripts(plan), *_fonts(plan), *_images(plan)),
        description or f"generated: {model.resources} objects, {model.total_bytes} bytes",
    )


def _stylesheets(plan: PagePlan) -> Iterator[Exchange]:
    needed = [stylesheet(plan, sheet) for sheet in plan.stylesheets]
    floors = [smallest(content) for content in needed]
    sizes = _sizes(plan, "stylesheets", plan.model.stylesheets, floors)
    for sheet, content, size in zip(plan.stylesheets, needed, sizes, strict=True):
        body = filled_stylesheet(content, size, _stream(plan.model, sheet.url))
        yield response(sheet.url, CONTENT_TYPES["css"], body.encode())


def _scripts(plan: PagePlan) -> Iterator[Exchange]:
    needed = [script(plan, name) for name in plan.scripts]
    floors = [smallest(content) for content in needed]
    sizes = _sizes(plan, "scripts", plan.model.scripts, floors)
    for planned, content, size in zip(plan.scripts, needed, sizes, strict=True):
        body = filled_script(content, size, _stream(plan.model, planned.url))
        yield response(planned.url, CONTENT_TYPES["js"], body.encode())


def _fonts(plan: PagePlan) -> Iterator[Exchange]:
    floors = [MIN_FONT_BYTES] * len(plan.fonts)
    sizes = _sizes(plan, "fonts", plan.model.fonts, floors)
    for url, size in zip(plan.fonts, sizes, strict=True):
        yield response(url, CONTENT_TYPES["ttf"], font(size, _key(plan.model, url)))


def _images(plan: PagePlan) -> Iterator[Exchange]:
    floors = [MIN_PNG_BYTES] * len(plan.images)
    sizes = _sizes(plan, "images", plan.model.images, floors)
    if plan.model.heavy_older:
        sizes = _heavy_first(plan, sizes)
    for url, size in zip(plan.images, sizes, strict=True):
        yield response(url, CONTENT_TYPES["png"], png(size, _key(plan.model, url)))


def _heavy_first(plan: PagePlan, sizes: Sequence[int]) -> list[int]:
    """The same sizes, the largest of them those of older hosts' images."""
    older = older_hosts(plan.model)
    heavy = [urlsplit(url).hostname in older for url in plan.images]
    largest = sorted(sizes, reverse=True)
    outside, own = iter(largest[: sum(heavy)]), iter(largest[sum(heavy) :])
    return [next(outside if of_heavy else own) for of_heavy in heavy]


def _sizes(plan: PagePlan, kind: str, objects: Objects, floors: Sequence[int]) -> list[int]:
    model = plan.model
    return lognormal_sizes(
        _stream(model, f"sizes of {kind}"),
        objects.total_bytes,
        floors,
        model.size_sigma,
        f"page {model.name}: {kind}",
    )


def _key(model: PageModel, what: str) -> str:
    return f"{model.name}/{model.seed}/{what}"


def _stream(model: PageModel, what: str) -> Keystream:
    return Keystream(_key(model, what))
