"""A small film as a user has one: an MPD and the files that it names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

SPACE = 'xmlns="urn:mpeg:dash:schema:mpd:2011"'
TEMPLATE = (
    '<SegmentTemplate timescale="1000" duration="2000" startNumber="1"'
    ' initialization="$RepresentationID$/init.mp4" media="$RepresentationID$/$Number$.m4s"/>'
)


def quality(name: str, rate: int, inner: str = "", **attributes: str) -> str:
    """A Representation of pictures."""
    told = {"codecs": "avc1.64001f", **attributes}
    said = " ".join(f'{key}="{value}"' for key, value in told.items())
    return f'<Representation id="{name}" bandwidth="{rate}" {said}>{inner}</Representation>'


def mpd(body: str, length: str = "PT6S", **attributes: str) -> str:
    """An MPD of one period."""
    told = {"type": "static", "mediaPresentationDuration": length, **attributes}
    said = " ".join(f'{key}="{value}"' for key, value in told.items())
    return f"<MPD {SPACE} {said}><Period>{body}</Period></MPD>"


def pictures(*inner: str, cut: str = TEMPLATE) -> str:
    """An AdaptationSet of pictures."""
    return f'<AdaptationSet mimeType="video/mp4">{cut}{"".join(inner)}</AdaptationSet>'


USUAL = mpd(pictures(quality("low", 8000), quality("high", 16000)))
FILES = {f"{name}/init.mp4": 7 for name in ("low", "high")} | {
    f"{name}/{number}.m4s": size + number
    for name, size in (("low", 2000), ("high", 4000))
    for number in (1, 2, 3)
}


def write_film(directory: Path, text: str = USUAL, files: Mapping[str, int] | None = None) -> Path:
    """Write an MPD and files of these sizes; returns the MPD."""
    for name, size in (FILES if files is None else files).items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(b"x" * size)
    file = directory / "film.mpd"
    directory.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file
