"""`headway video make`: what is refused before anything is encoded, and what a preset is."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from headway import cli
from headway.lab import videofiles
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


def test_rates_are_a_ladder_of_their_own(
    made: list[Content], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("1 Mbit/s", "4 Mbit/s", "--duration", "8 s", "--out", str(tmp_path / "film"))
    assert run(monkeypatch, *words) == 0
    assert [int(rate) for rate in made[0].ladder] == [1_000_000, 4_000_000]
    assert (made[0].count, made[0].audio) == (2, None)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["4 Mbit/s", "1 Mbit/s"], "ladder: .*go up"),
        (["4 Mbit"], "ladder: 'Mbit' is not a unit"),
        (["1 Mbit/s", "--duration", "7 s"], "duration: .*multiple of 4 s"),
        (["1 Mbit/s", "--audio", "loud"], "audio: .*loud"),
        (["perna", "--out", "."], "is there already"),
    ],
)
def test_what_is_wrong_is_named(
    made: list[Content],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    out = () if "--out" in words else ("--out", str(tmp_path / "film"))
    assert run(monkeypatch, *words, *out) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not made
