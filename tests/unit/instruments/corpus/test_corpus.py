"""Sites without the Internet: exact, the same everywhere, whole."""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
import zlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFont

from headway.errors import HeadwayError, WrongInputError
from headway.instruments.corpus import derivation, packages
from headway.instruments.corpus.catalogue import (
    Objects,
    PageModel,
    corpus_names,
    generate,
    is_corpus_name,
    make_site,
)
from headway.instruments.corpus.font import MIN_FONT_BYTES, font
from headway.instruments.corpus.geometry import GAP, grid_cell
from headway.instruments.corpus.gif import gif
from headway.instruments.corpus.kepler import kepler_objects
from headway.instruments.corpus.keystream import Keystream
from headway.instruments.corpus.localpage import local_page
from headway.instruments.corpus.packages import PACKAGES, Package
from headway.instruments.corpus.plan import plan_page
from headway.instruments.corpus.png import MIN_PNG_BYTES, grey_png, png
from headway.instruments.corpus.presets import liu_sites, sander_sites
from headway.instruments.corpus.references import filter_css, filter_html
from headway.instruments.corpus.sizes import lognormal_sizes
from headway.instruments.corpus.subresources import filled_script, script
from headway.instruments.corpus.summary import summary
from headway.instruments.corpus.words import paragraphs, text
from headway.sites.site import Exchange, Site
from headway.study.units import Size

MODEL = PageModel(
    "shop",
    seed=1,
    html_bytes=20_000,
    stylesheets=Objects(3, 20_000),
    scripts=Objects(9, 40_000),
    images=Objects(30, 200_000),
    fonts=Objects(2, 30_000),
    blocking_stylesheets=2,
    blocking_scripts=2,
    inserted_scripts=4,
    script_depth=3,
    background_images=6,
    inserted_images=5,
    above_fold_images=12,
    third_parties=3,
    third_party_objects=15,
)


def site_hash(site: Site) -> str:
    state = hashlib.sha256()
    for exchange in site.exchanges:
        state.update(f"{exchange.url} {exchange.headers} {len(exchange.body)}\n".encode())
        state.update(exchange.body)
    return state.hexdigest()


def path(exchange: Exchange) -> str:
    return urlsplit(exchange.url).path


def references(exchange: Exchange) -> set[str]:
    """URLs that a browser would load for a made body."""
    patterns = {
        "text/html": r'<(?:img|script|script async) src="([^"]+)"|rel="stylesheet" href="([^"]+)"',
        "text/css": r"url\(([^)]+)\)",
        "text/javascript": r'(?:insert\(|fill\(\d+,)"([^"]+)"',
    }
    pattern = patterns.get((exchange.header("content-type") or "").split(";")[0])
    if pattern is None:
        return set()
    found = re.findall(pattern, exchange.body.decode("ascii"))
    texts = ["".join(match) if isinstance(match, tuple) else match for match in found]
    return {urljoin(exchange.url, reference) for reference in texts}


def reached(site: Site) -> dict[str, int]:
    """Every URL that leads from the page, with the number of requests one after the other."""
    by_url = {exchange.url: exchange for exchange in site.exchanges}
    depth, waiting = {site.page: 1}, [site.page]
    for url in waiting:
        for reference in references(by_url[url]) - depth.keys():
            depth[reference] = depth[url] + 1
            waiting.append(reference)
    return depth


# The key stream and what is made of it.


def test_a_key_decides_the_stream() -> None:
    expected = hashlib.shake_128(b"key/1").digest(8)
    assert Keystream("key").take(8) == expected
    stream = Keystream("key")
    assert stream.take(3) + stream.take(5) == expected


@given(st.text(), st.integers(1, 10**12))
def test_draws_stay_below_their_limit(key: str, limit: int) -> None:
    stream = Keystream(key)
    assert all(0 <= stream.below(limit) < limit for _ in range(10))


def test_lognormal_deviates_have_their_logarithms_standard_deviation() -> None:
    stream = Keystream("lognormal")
    draws = sorted(stream.lognormal(1.0) / 2**32 for _ in range(4000))
    # Quantiles of exp(N(0, 1)): the median is 1, those of one standard deviation e and 1/e.
    assert draws[2000] == pytest.approx(1, rel=0.1)
    assert draws[int(4000 * 0.8413)] == pytest.approx(2.718, rel=0.1)
    assert draws[int(4000 * 0.1587)] == pytest.approx(0.368, rel=0.1)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=50), st.integers(0, 10**6))
def test_sizes_have_their_sum_and_floors(floors: list[int], extra: int) -> None:
    total = sum(floors) + extra
    sizes = lognormal_sizes(Keystream("sizes"), total, floors, 1.0, "images")
    assert sum(sizes) == total
    assert all(size >= floor for size, floor in zip(sizes, floors, strict=True))


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(WrongInputError, match="images: must be at least 200 bytes, not 199"):
        lognormal_sizes(Keystream("sizes"), 199, [100, 100], 1.0, "images")
    with pytest.raises(WrongInputError, match="fonts: no object is there to have 1 bytes"):
        lognormal_sizes(Keystream("sizes"), 1, [], 1.0, "fonts")


@given(st.integers(0, 3000))
def test_text_has_its_length(characters: int) -> None:
    assert len(text(Keystream("text"), characters)) == characters
    assert len(paragraphs(Keystream("text"), characters)) == characters


# Images and fonts.


@settings(max_examples=40, deadline=None)
@given(st.one_of(st.integers(MIN_PNG_BYTES, 3000), st.integers(3000, 400_000)))
def test_images_are_valid_and_exact(size: int) -> None:
    body = png(size, "key")
    assert len(body) == size
    image = Image.open(io.BytesIO(body))
    image.load()
    assert image.width <= 320 and image.height <= 240
    if 1000 <= size <= 230_000:
        assert image.width * image.height * 3 > 0.75 * size


def test_an_image_of_10_mb_is_small_in_pixels_and_paints_as_it_arrives() -> None:
    body = png(10_000_000, "key")
    assert len(body) == 10_000_000
    image = Image.open(io.BytesIO(body))
    assert image.size == (320, 240)
    # Half of the bytes have half of the rows: 1 + 3 * 320 bytes each, in IDAT from byte 41 on.
    rows = zlib.decompressobj().decompress(body[41:5_000_000])
    assert len(rows) == pytest.approx(120 * 961, rel=0.01)


@pytest.mark.parametrize(
    ("width", "height", "size", "bits"),
    [
        # 80 bytes without rows; in each 5 of its block and 1 of its filter besides the pixels.
        (20, 15, 80 + 15 * 26, 8),
        (20, 15, 80 + 15 * 26 - 1, 4),
        (17, 10, 80 + 10 * 9, 1),
        (500, 375, 46_336, 1),
    ],
)
def test_grey_images_have_their_pixels_and_bytes(
    width: int, height: int, size: int, bits: int
) -> None:
    body = grey_png(width, height, size, "key")
    image = Image.open(io.BytesIO(body))
    image.load()
    assert (len(body), image.size, body[24]) == (size, (width, height), bits)
    darkest, lightest = image.convert("L").getextrema()
    assert darkest != lightest


def test_a_grey_image_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="17x10 cannot have 169 bytes"):
        grey_png(17, 10, 169, "key")


@pytest.mark.parametrize("size", [40, 46, 98, 294])
def test_small_gifs_are_valid_and_exact(size: int) -> None:
    body = gif(4, 6, size, "key")
    image = Image.open(io.BytesIO(body))
    image.load()
    assert (len(body), image.size, image.format) == (size, (4, 6), "GIF")


@pytest.mark.parametrize("size", [39, 295])
def test_a_gif_that_cannot_be(size: int) -> None:
    with pytest.raises(ValueError, match=f"cannot have {size} bytes"):
        gif(4, 6, size, "key")


def test_images_of_different_keys_differ() -> None:
    assert png(1000, "a") != png(1000, "b")
    assert grey_png(10, 10, 1000, "a") != grey_png(10, 10, 1000, "b")
    assert gif(4, 6, 46, "a") != gif(4, 6, 46, "b")


@pytest.mark.parametrize("size", [MIN_FONT_BYTES, 20_001, 20_002, 20_003, 100_000])
def test_fonts_are_valid_and_exact(size: int) -> None:
    body = font(size, "key")
    assert len(body) == size
    loaded = ImageFont.truetype(io.BytesIO(body), 100)
    assert loaded.getlength("AB") == 120
    assert loaded.getbbox("a") == loaded.getbbox("A")
    # All words of a file but its head's sum up to a constant (ISO/IEC 14496-22, section 4.3).
    padded = body + bytes(-len(body) % 4)
    words = (int.from_bytes(padded[at : at + 4]) for at in range(0, len(padded), 4))
    assert sum(words) % 2**32 == 0xB1B0AFBA


@given(st.integers(1, 1000))
def test_a_grid_holds_its_cells(count: int) -> None:
    cell = grid_cell(count, 1320, 680)
    columns, rows = 1320 // (cell.width + GAP), 680 // (cell.height + GAP)
    assert columns * rows >= count


# Pages of images.


@pytest.mark.parametrize(
    ("name", "count", "size"),
    [
        ("objects-1x1kB", 1, 1000),
        ("objects-1x10MB", 1, 10_000_000),
        ("objects-10x10KB", 10, 10_000),
        ("objects-5x1KiB", 5, 1024),
        ("objects-200x5kB", 200, 5000),
        ("objects-1000x100B", 1000, 100),
    ],
)
def test_pages_of_images(name: str, count: int, size: int) -> None:
    site = make_site(name)
    document, *images = site.exchanges
    assert (len(images), {len(image.body) for image in images}) == (count, {size})
    assert len({image.body for image in images}) == count
    assert references(document) == {image.url for image in images}
    assert site.hosts == (f"{name.lower()}.test",)
    assert b"<script" not in document.body


def test_names() -> None:
    names = corpus_names()
    assert len(set(names)) == len(names)
    assert all(is_corpus_name(name) for name in (*names, "objects-3x7kB"))
    assert not is_corpus_name("example")


# Generated pages.


@pytest.fixture(scope="module")
def shop() -> Site:
    return generate(MODEL)


def test_a_generated_page_is_what_its_model_says(shop: Site) -> None:
    assert shop.size_bytes == MODEL.total_bytes == 310_000
    assert len(shop.exchanges) == MODEL.resources == 45
    assert len(shop.hosts) == 4
    outside = [one for one in shop.exchanges if one.host != "shop.test"]
    assert len(outside) == 15
    for suffix, kind in (("css", MODEL.stylesheets), ("js", MODEL.scripts), ("png", MODEL.images)):
        bodies = [one.body for one in shop.exchanges if path(one).endswith(suffix)]
        assert (len(bodies), sum(map(len, bodies))) == (kind.count, kind.total_bytes)


def test_every_object_of_a_generated_page_is_reached(shop: Site) -> None:
    depth = reached(shop)
    assert depth.keys() == {exchange.url for exchange in shop.exchanges}
    scripts = [depth[one.url] for one in shop.exchanges if path(one).endswith(".js")]
    assert max(scripts) == 1 + MODEL.script_depth
    by_path = {path(one): one for one in shop.exchanges}
    found_by = {"html": "/", "css": "/css/", "js": "/js/"}
    images = {
        kind: sum(
            len({url for url in references(one) if url.endswith(".png")})
            for where, one in by_path.items()
            if (where == "/" if prefix == "/" else where.startswith(prefix))
        )
        for kind, prefix in found_by.items()
    }
    assert images == {"html": 19, "css": 6, "js": 5}


def test_what_blocks_is_in_the_head(shop: Site) -> None:
    head, body = shop.exchanges[0].body.decode().split("</head>")
    assert (head.count('rel="stylesheet"'), body.count('rel="stylesheet"')) == (2, 1)
    assert (head.count("<script src"), body.count("<script async src")) == (2, 3)


def test_the_images_above_the_fold_come_first(shop: Site) -> None:
    fold = shop.exchanges[0].body.decode().split("<div class=fold>")[1].split("<section")[0]
    assert len(re.findall(r'class="?i\b', fold)) == 12


def test_documents_say_what_they_are() -> None:
    for site in (make_site("objects-1x1kB"), generate(MODEL)):
        document = site.exchanges[0].body.decode("ascii")
        for part in ("<!DOCTYPE html>", '<html lang="en">', '<meta charset="utf-8">', "<title>"):
            assert part in document
        assert '<meta name="viewport"' in document


def test_fields_of_responses(shop: Site) -> None:
    page, *others = shop.exchanges
    assert page.header("content-type") == "text/html; charset=utf-8"
    assert page.header("cache-control") == "no-cache"
    assert {one.header("cache-control") for one in others} == {"max-age=3600"}
    tags = {one.header("etag") for one in shop.exchanges}
    assert len(tags) == len(shop.exchanges)
    fonts = [one for one in others if one.header("content-type") == "font/ttf"]
    assert {one.header("access-control-allow-origin") for one in fonts} == {"*"}


def test_another_seed_is_another_page(shop: Site) -> None:
    other = generate(replace(MODEL, seed=2))
    assert other.size_bytes == shop.size_bytes
    assert site_hash(other) != site_hash(shop)


def test_what_a_script_does() -> None:
    model = replace(
        MODEL,
        scripts=Objects(2, 1800),
        blocking_scripts=0,
        inserted_scripts=1,
        script_depth=2,
        inserted_images=2,
    )
    plan = plan_page(model)
    before, after = script(plan, plan.scripts[0])
    (place,) = plan.scripts[0].fills
    assert before.startswith('(function () {\n"use strict";\nvar table = [')
    assert after.splitlines()[-3:] == [
        f'fill({place},"{plan.images[place]}");',
        f'insert("{plan.scripts[1].url}");',
        "})();",
    ]
    filled = filled_script((before, after), 1000, Keystream("filling"))
    assert len(filled) == 1000
    table = filled.split("[")[1].split("]")[0]
    assert re.fullmatch(r"([0-9]{1,5},\n?)+/\*-*\*/", table)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"html_bytes": 3000}, "html_bytes: must be at least"),
        ({"blocking_scripts": 10}, "blocking_scripts: must be 0 to 9"),
        ({"inserted_scripts": 7}, "inserted_scripts: must be 2 to 6"),
        ({"script_depth": 1}, "inserted_scripts: must be 0 to 0"),
        ({"above_fold_images": 31}, "above_fold_images: must be 0 to 30"),
        ({"background_images": 26}, "inserted_images: must be 0 to 4"),
        ({"third_parties": 16}, "third_parties: must be 0 to 15"),
        ({"stylesheets": Objects(), "blocking_stylesheets": 0}, "fonts: need a stylesheet"),
        ({"images": Objects(30, 2999)}, "images: must be at least 3000 bytes"),
        ({"name": "Shop"}, "name: must be fit for a host name"),
    ],
)
def test_models_that_cannot_be(change: dict[str, Any], why: str) -> None:
    with pytest.raises(WrongInputError, match=f"page [Ss]hop: {why}"):
        generate(replace(MODEL, **change))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_model_gives_a_whole_page(data: st.DataObject) -> None:
    def at_most(most: int, least: int = 0) -> int:
        return data.draw(st.integers(least, most))

    scripts, images = at_most(8), at_most(20)
    sheets = at_most(4)
    blocking = at_most(scripts)
    depth = at_most(max(1, scripts - blocking), 1)
    inserted = at_most(scripts - blocking - 1, depth - 1) if depth > 1 else 0
    backgrounds = at_most(images) if sheets else 0
    outside = at_most(scripts + images + sheets)
    model = PageModel(
        "any",
        seed=at_most(1000),
        html_bytes=12_000,
        stylesheets=Objects(sheets, 5000 * sheets),
        scripts=Objects(scripts, 4000 * scripts),
        images=Objects(images, 1000 * images),
        blocking_stylesheets=at_most(sheets),
        blocking_scripts=blocking,
        inserted_scripts=inserted,
        script_depth=depth,
        background_images=backgrounds,
        inserted_images=at_most(images - backgrounds) if scripts > blocking else 0,
        above_fold_images=at_most(images),
        third_parties=at_most(outside, 1) if outside else 0,
        third_party_objects=outside,
    )
    site = generate(model)
    assert site.size_bytes == model.total_bytes
    depths = reached(site)
    assert depths.keys() == {exchange.url for exchange in site.exchanges}
    levels = [depths[one.url] - 1 for one in site.exchanges if path(one).endswith(".js")]
    assert max(levels, default=1) == depth


# Presets.


def test_kepler_has_75_objects_from_one_origin() -> None:
    site = make_site("kepler")
    assert (len(site.exchanges), site.size_bytes, site.hosts) == (75, 815_804, ("kepler.test",))
    counts = Counter(one.kind for one in kepler_objects())
    assert counts == {"html": 2, "css": 9, "txt": 32, "png": 30, "gif": 2}


def test_every_object_of_kepler_is_what_the_table_says() -> None:
    site = make_site("kepler")
    for one, exchange in zip(kepler_objects(), site.exchanges, strict=True):
        assert exchange.url == f"https://kepler.test/{one.path}"
        assert len(exchange.body) == one.bytes
        if one.kind in ("png", "gif"):
            image = Image.open(io.BytesIO(exchange.body))
            assert (image.format, image.size) == (one.kind.upper(), (one.width, one.height))


def test_kepler_refers_to_its_objects_where_the_table_says() -> None:
    document = make_site("kepler").exchanges[0].body.decode("ascii")
    tags = {"css": "link", "txt": "iframe", "html": "iframe", "png": "img", "gif": "img"}
    _, *others = kepler_objects()
    for one in others:
        tag = document[one.offset :].split(">")[0]
        assert tag.startswith(f"<{tags[one.kind]} ")
        assert f'"{one.path}"' in tag
        assert (f'width="{one.width}" height="{one.height}"' in tag) == one.sized
    assert document.split("</head>")[0].count('rel="stylesheet"') == 9
    assert len(re.findall("<(?:iframe|img) |stylesheet", document)) == len(others)


def test_the_34_sites_span_what_the_papers_show() -> None:
    models = list(sander_sites().values())
    assert [model.name for model in models] == [f"sander-{number:02}" for number in range(1, 35)]
    sizes = [model.total_bytes for model in models]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (100_000, 10_000_000)
    resources = [model.resources for model in models]
    assert (min(resources), max(resources)) == (10, 300)


def test_the_table_of_sites_is_what_its_derivation_gives() -> None:
    table = Path(derivation.__file__).with_name("sites.csv")
    assert table.read_text() == derivation.csv_text()


def test_liu_sites_are_18_of_the_34() -> None:
    sites = liu_sites()
    assert len(sites) == len({model.name for model in sites.values()}) == 18
    assert (sites["liu-01"].name, sites["liu-18"].name) == ("sander-01", "sander-34")
    one, same = make_site("liu-02"), make_site("sander-02")
    assert (one.name, one.exchanges) == ("liu-02", same.exchanges)


def test_liu_sites_are_on_one_host_with_the_same_objects_and_bytes() -> None:
    others = 0
    for name, model in liu_sites().items():
        original = sander_sites()[model.name]
        assert (model.resources, model.total_bytes) == (original.resources, original.total_bytes)
        assert summary(name).hosts == 1
        others += original.third_parties > 0
    assert others == 8
    site, original = make_site("liu-12"), make_site("sander-22")
    assert len(original.hosts) == 6
    assert len(site.hosts) == 1
    assert (len(site.exchanges), site.size_bytes) == (len(original.exchanges), original.size_bytes)


@pytest.mark.parametrize(
    "name", ["sander-01", "sander-11", "sander-21", "sander-29", "sander-34", "liu-09"]
)
def test_preset_sites_are_whole(name: str) -> None:
    site = make_site(name)
    assert reached(site).keys() == {exchange.url for exchange in site.exchanges}
    assert all(host.endswith(".test") for host in site.hosts)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("objects-10x10kB", "f303ca8e2a896d6d96689ba6e3b513c41e4b6cd2e2de25f30457a17c9301cddc"),
        ("kepler", "761172af85c609a1b31def919a39a830f0c121f623609f92288d84a0d14b3229"),
        ("sander-11", "4407c66e83899067b73afaaeb61335e7cae25a139986069dc3b1271941600728"),
        ("sander-34", "c2f7e0a8cb09cfa2dcf378fc08e6ce749bc8b24b528df089db174f48866befd0"),
    ],
)
def test_bytes_are_the_same_on_every_machine(name: str, expected: str) -> None:
    assert site_hash(make_site(name)) == expected


# Pages of packages.


def dropped(reference: str) -> bool:
    return "away" not in reference


def test_references_of_css() -> None:
    css = "a{background:url( 'here.png' )}b{background:url(away.png)}@import 'away.css';"
    assert filter_css(css, dropped) == (
        'a{background:url( \'here.png\' )}b{background:url("data:,")}@import "data:,";'
    )


def test_references_of_html() -> None:
    html = (
        '<head><link rel="preconnect" href="https://away.test">'
        '<link rel=stylesheet href="away.css"><link rel=stylesheet href="here.css">'
        "<style>a{background:url(away.png)}</style></head>"
        '<img src="away.png" srcset="here.png 1x, away2.png 2x"><a href="away.html">'
        '<script src="away.js"></script><p style="background:url(away.png)">'
    )
    assert filter_html(html, dropped) == (
        '<head><link rel=stylesheet href="here.css">'
        '<style>a{background:url("data:,")}</style><link rel="icon" href="data:,">\n</head>'
        '<img src="data:," srcset="here.png 1x, data:, 2x"><a href="away.html">'
        '</script><p style="background:url("data:,")">'
    )


PACKAGE = {
    "docs/page.html": b'<link rel="icon" href="i.ico"><link rel="stylesheet" href="s/a.css?v=1">'
    b'<img src="/top.png#x"><img src="gone.png"><script src="https://else.test/x.js"></script>',
    "docs/s/a.css": b"@import 'b.css'; p{color:red}\xff",
    "docs/s/b.css": b"a{background:url(../../top.png)}@import url(a.css?v=1);",
    "docs/i.ico": b"icon",
    "top.png": b"png",
    "unused.png": b"png",
}


def test_a_page_among_files() -> None:
    site = local_page("demo", PACKAGE, "docs/page.html", "a page")
    assert {one.url.removeprefix("https://demo.test/"): one.body for one in site.exchanges} == {
        "docs/page.html": b'<link rel="icon" href="i.ico">'
        b'<link rel="stylesheet" href="s/a.css?v=1"><img src="/top.png#x">'
        b'<img src="data:,"></script>',
        "docs/s/a.css?v=1": PACKAGE["docs/s/a.css"],
        "docs/s/b.css": PACKAGE["docs/s/b.css"],
        "docs/i.ico": b"icon",
        "top.png": b"png",
    }
    assert site.page == "https://demo.test/docs/page.html"
    assert site.description == (
        "a page; taken out: 1 references to other hosts, 1 to files that are missing"
    )


def archive(tmp_path: Path) -> Package:
    """A package whose archive is in the directory of downloads already."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as content:
        for name, data in PACKAGE.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(data)
            content.addfile(member, io.BytesIO(data))
    sha256 = hashlib.sha256(buffer.getvalue()).hexdigest()
    package = Package("npm-demo", "npm", "demo", "1.0.0", sha256, "docs/page.html")
    (tmp_path / f"npm-demo-1.0.0-{sha256[:16]}.tar.gz").write_bytes(buffer.getvalue())
    return package


def test_an_archive_that_is_there_is_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = archive(tmp_path)
    monkeypatch.setattr(packages, "_CLIENTS", {})
    assert len(package.site(tmp_path).exchanges) == 5


def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put another npm in PATH."""
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")


def test_an_archive_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = archive(tmp_path)
    source = next(tmp_path.glob("*.tar.gz")).rename(tmp_path / "source")
    stand_in(tmp_path, monkeypatch, f'cp {source} "$5/demo-1.0.0.tgz"')
    assert len(package.site(tmp_path / "downloads").exchanges) == 5
    (tmp_path / "bin" / "npm").unlink()
    assert len(package.site(tmp_path / "downloads").exchanges) == 5


def test_another_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, 'echo other > "$5/demo-1.0.0.tgz"')
    with pytest.raises(HeadwayError, match="demo@1 is not what it was"):
        Package("npm-demo", "npm", "demo", "1", "0" * 64, "x").site(tmp_path / "downloads")
    assert not list((tmp_path / "downloads").glob("*.tar.gz"))


def test_a_client_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "echo no such package >&2; exit 1")
    with pytest.raises(HeadwayError, match="fetching demo 1 with npm failed: no such package"):
        Package("npm-demo", "npm", "demo", "1", "0" * 64, "x").site(tmp_path / "downloads")


def test_a_machine_without_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WrongInputError, match=r"npm-agency: is fetched by npm, .*pypi-alembic"):
        make_site("npm-agency", downloads=tmp_path)


def test_pages_of_packages_are_pinned() -> None:
    assert all(re.fullmatch("[0-9a-f]{64}", package.sha256) for package in PACKAGES.values())
    assert {package.name.split("-")[0] for package in PACKAGES.values()} == {"pypi", "npm"}


def test_the_size_of_a_name_is_the_projects() -> None:
    assert len(make_site("objects-1x2KiB").exchanges[1].body) == Size.parse("2 KiB")
