"""Made sites on disk: made once, never read half-written or by another generator."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headway.errors import WrongInputError
from headway.instruments.corpus.catalogue import make_site
from headway.sites import generated_cache as made
from headway.sites.generated_cache import made_outline, made_site
from headway.sites.outline import Outline
from headway.sites.site import Exchange, Site

NAME = "objects-3x1kB"


class Maker:
    """Makes sites, and counts how often."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self, name: str) -> Site:
        self.names.append(name)
        return make_site(name)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    return tmp_path


def files(cache: Path) -> list[Path]:
    return [file for file in cache.rglob("*") if file.is_file()]


def test_a_site_is_made_once_and_read_as_it_was() -> None:
    maker = Maker()
    first, second = made_site(NAME, maker), made_site(NAME, maker)
    assert first == second == make_site(NAME)
    assert made_outline(NAME, maker) == Outline.of(first)
    assert maker.names == [NAME]


def test_bodies_and_fields_of_all_kinds_are_kept() -> None:
    exchanges = (
        Exchange("GET", "https://a.test/", 200, (("x", "1"), ("x", "é")), b"\x00\n{}"),
        Exchange("GET", "https://b.test/empty", 304, (), b""),
    )
    site = Site("odd", "https://a.test/", exchanges, "a description")
    assert made_site("odd", lambda _: site) == made_site("odd", Maker()) == site


@pytest.mark.parametrize("damage", ["cut", "emptied", "garbage"])
def test_a_damaged_file_is_made_again(cache: Path, damage: str) -> None:
    maker = Maker()
    site = made_site(NAME, maker)
    (file,) = files(cache)
    whole = file.read_bytes()
    file.write_bytes({"cut": whole[:-1], "emptied": b"", "garbage": b"[]\n"}[damage])
    assert made_outline(NAME, maker) == Outline.of(site)
    assert made_site(NAME, maker) == site
    assert maker.names == [NAME, NAME] and files(cache) == [file]


def test_another_generator_makes_its_own(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = Maker()
    made_site(NAME, maker)
    monkeypatch.setattr(made, "_generator", lambda: "another")
    made_site(NAME, maker)
    assert maker.names == [NAME, NAME] and len(files(cache)) == 2


def test_writers_at_the_same_time_do_not_disturb_each_other(cache: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: made_site(NAME, make_site), range(16)))
    assert set(found) == {make_site(NAME)} and len(files(cache)) == 1
    assert made_site(NAME, Maker()) == found[0]


def test_a_site_that_cannot_be_leaves_nothing(cache: Path) -> None:
    with pytest.raises(WrongInputError):
        made_site("objects-9999x1kB", make_site)
    assert not files(cache)


def test_a_cache_that_cannot_be_written_to_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "file" / "below"))
    assert made_site(NAME, make_site) == make_site(NAME)
