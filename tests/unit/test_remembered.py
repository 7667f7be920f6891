"""A lab that is kept is the one that would be made, and is of no use when what it was made from has changed."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from headway.cli.again import for_bodies
from headway.image.keys import all_layers
from headway.lab import lab_options_cache as module
from headway.lab import shell
from headway.lab.console import ConsoleLab
from headway.lab.lab_options_cache import remember, remembered
from headway.lab.machine import Machine
from headway.study.path import Path as NetworkPath
from headway.words import body_sizes_in

OPTIONS = {"rate": "10 Mbit/s", "rtt": "100 ms", "loss": "2 %", "seed": "7", "clock": "virtual"}


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ConsoleLab:
    """A lab whose package, image and cache are files of this test."""
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    for name, place in (("_PACKAGE", "package"), ("_WORKSPACE", "native")):
        (tmp_path / place / "within").mkdir(parents=True)
        (tmp_path / place / "within" / "source.py").write_text("a = 1\n")
        monkeypatch.setattr(module, name, tmp_path / place)
    (tmp_path / "image").mkdir()
    image = SimpleNamespace(kernel=tmp_path / "image", root=tmp_path, native=tmp_path)
    path = NetworkPath.model_validate({key: OPTIONS[key] for key in ("rate", "rtt", "loss")})
    monkeypatch.setattr(shell, "served_bodies", lambda _: tmp_path)
    return shell.lab_on_path(Machine(image, tmp_path, {"extra": tmp_path}), path, seed=7)


def test_what_is_kept_is_what_was_made(lab: ConsoleLab) -> None:
    assert remembered(OPTIONS, ["true"]) is None
    remember(OPTIONS, lab, [])
    assert remembered(OPTIONS, ["true"]) == lab
    assert remembered(dict(reversed(OPTIONS.items())), ["true"]) == lab


@pytest.mark.parametrize("name", OPTIONS)
def test_other_options_are_another_lab(lab: ConsoleLab, name: str) -> None:
    remember(OPTIONS, lab, [])
    assert remembered(OPTIONS | {name: "9 %"}, ["true"]) is None
    assert remembered({key: OPTIONS[key] for key in OPTIONS if key != name}, ["true"]) is None


def test_other_bodies_are_another_lab(lab: ConsoleLab) -> None:
    small, large = ["curl", "https://server.test/7.bin"], ["curl", "https://server.test/80.bin"]
    remember(for_bodies(OPTIONS, small), lab, [])
    assert remembered(for_bodies(OPTIONS, small), small) == lab
    assert remembered(for_bodies(OPTIONS, large), large) is None
    assert remembered(for_bodies(OPTIONS, ["true"]), ["true"]) is None


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        (["curl", "https://server.test/209715200.bin"], {209715200}),
        (["sh", "-c", "curl a/1.bin; wget b/22.bin?x"], {1, 22}),
        (["cat", "x1.bin", "007.bin", "firmware-3.bin", "2.binary"], set()),
        (["curl", "https://server.test/0.bin"], {0}),
    ],
)
def test_bodies_are_known_by_the_words_of_a_command(words: list[str], sizes: set[int]) -> None:
    assert body_sizes_in(words) == sizes


@pytest.mark.parametrize("place", ["package", "native"])
@pytest.mark.parametrize("change", ["edited", "added", "removed"])
def test_a_change_of_the_sources_makes_it_useless(
    lab: ConsoleLab, tmp_path: Path, place: str, change: str
) -> None:
    remember(OPTIONS, lab, [])
    source = tmp_path / place / "within" / "source.py"
    if change == "edited":
        before = source.stat()
        source.write_text("a = 2\n")
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    elif change == "added":
        source.with_name("other.toml").write_text("")
    else:
        source.unlink()
    assert remembered(OPTIONS, ["true"]) is None


def test_what_python_compiles_is_no_change(lab: ConsoleLab, tmp_path: Path) -> None:
    remember(OPTIONS, lab, [])
    compiled = tmp_path / "package" / "within" / "__pycache__"
    compiled.mkdir()
    (compiled / "source.pyc").write_bytes(b"")
    assert remembered(OPTIONS, ["true"]) == lab


def test_another_image_makes_it_useless(
    lab: ConsoleLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(OPTIONS, lab, [])
    monkeypatch.setenv("HEADWAY_SUITE", "trixie")
    assert remembered(OPTIONS, ["true"]) is None
    monkeypatch.delenv("HEADWAY_SUITE")
    assert remembered(OPTIONS, ["true"]) == lab
    (tmp_path / "cache" / "image" / "root-0123").mkdir(parents=True)
    assert remembered(OPTIONS, ["true"]) is None


def test_a_lab_whose_image_was_removed_is_of_no_use(lab: ConsoleLab, tmp_path: Path) -> None:
    remember(OPTIONS, lab, [])
    (tmp_path / "image").rmdir()
    assert remembered(OPTIONS, ["true"]) is None


def test_a_command_that_needs_a_layer_is_not_given_a_lab_without_it(lab: ConsoleLab) -> None:
    remember(OPTIONS, lab, all_layers()["chromium"].words)
    assert remembered(OPTIONS, ["curl", "x"]) == lab
    assert remembered(OPTIONS, ["sh", "-c", "/usr/bin/chromium --headless"]) is None


def test_the_oldest_are_forgotten(lab: ConsoleLab, tmp_path: Path) -> None:
    for seed in range(module._KEPT + 3):
        remember(OPTIONS | {"seed": str(seed)}, lab, [])
    assert len([*(tmp_path / "cache" / "console").iterdir()]) == module._KEPT
    assert remembered(OPTIONS | {"seed": "0"}, ["true"]) is None
    assert remembered(OPTIONS | {"seed": str(module._KEPT)}, ["true"]) == lab
