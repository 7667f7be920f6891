"""`headway video make`: what is refused before anything is encoded, and what a preset is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headway import cli
from headway.lab import videofiles
from headway.lab.links import copy_all
from headway.study.units import Rate
from headway.videos.content import Content


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["headway", "video", "make", *words])
    try:
        cli.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Content]:
    """The videos that were made, of one file each."""
    asked: list[Content] = []

    def make(video: Content, say: object) -> Path:
        asked.append(video)
        (tmp_path / "made").mkdir()
        (tmp_path / "made/video.mpd").write_text("<MPD/>")
        return tmp_path / "made"

    monkeypatch.setattr(videofiles, "made_video", make)
    return asked


def test_a_preset_is_the_video_that_was_measured(
    made: list[Content],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "films/perna"
    assert run(monkeypatch, "perna", "--out", str(out)) == 0
    assert (out / "video.mpd").read_text() == "<MPD/>"
    (video,) = made
    assert (video.count, video.segment.s, video.audio) == (159, 4, Rate(67071))
    assert "159 segments in 10 qualities" in capsys.readouterr().out


def test_a_video_in_chunks_has_no_sound_of_its_preset(
    made: list[Content], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(monkeypatch, "perna", "--chunk", "500 ms", "--out", str(tmp_path / "film")) == 0
    (video,) = made
    assert (video.chunks, video.audio) == (8, None)


def test_what_is_written_is_no_part_of_the_cache(
    made: list[Content], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "film"
    assert run(monkeypatch, "perna", "--out", str(out)) == 0
    (out / "video.mpd").write_text("edited")
    assert (tmp_path / "made/video.mpd").read_text() == "<MPD/>"


def test_holes_of_files_are_copied_as_holes(tmp_path: Path) -> None:
    (tmp_path / "made/video-0").mkdir(parents=True)
    file = tmp_path / "made/video-0/1.m4s"
    with file.open("wb") as new:
        new.write(b"begin")
        new.seek(3 * 2**20)
        new.write(b"amid" * 300_000)
        new.truncate(64 * 2**20)
    (tmp_path / "made/empty").touch()
    copy_all(tmp_path / "made", tmp_path / "film")
    copy = tmp_path / "film/video-0/1.m4s"
    assert copy.read_bytes() == file.read_bytes()
    assert copy.stat().st_blocks * 512 < 8 * 2**20
    assert (tmp_path / "film/empty").read_bytes() == b""


def test_a_segment_may_be_long(
    made: list[Content], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("1 Mbit/s", "--segment", "20 s", "--duration", "40 s")
    assert run(monkeypatch, *words, "--out", str(tmp_path / "film")) == 0
    assert (made[0].segment.s, made[0].count) == (20, 2)


def test_rates_are_a_ladder_of_their_own(
    made: list[Content], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("1 Mbit/s", "4 Mbit/s", "--duration", "8 s", "--out", str(tmp_path / "film"))
    assert run(monkeypatch, *words) == 0
    assert [int(rate) for rate in made[0].ladder] == [1_000_000, 4_000_000]
    assert (made[0].count, made[0].audio) == (2, None)
