"""The account of an MPD: its periods, qualities, segments and bytes."""

from __future__ import annotations

from pathlib import Path

from headway.foreign.kinds.model import Identity
from headway.look.account import FileContents, FileFact, Listing
from headway.look.quantities import rate, seconds, size
from headway.study.mpdaccount import MpdTrack, read_mpd_account

_MOST_ROWS = 16


def content(path: Path, _identity: Identity) -> FileContents:
    """What an MPD holds, whether it can be played or not.

    Raises:
        WrongInputError: it is none.
    """
    mpd = read_mpd_account(path)
    facts = (
        FileFact("title", mpd.title or "none"),
        FileFact("type", "live (dynamic)" if mpd.is_live else "on demand (static)"),
        FileFact("plays", "not told" if mpd.seconds is None else seconds(mpd.seconds)),
        FileFact("periods", str(mpd.periods)),
        FileFact("segments", str(mpd.segments)),
        FileFact("files", size(mpd.size_bytes)),
    )
    columns = ("kind", "quality", "rate", "picture", "codecs", "segments", "plays", "files")
    listing = Listing(
        columns,
        tuple(map(_row, mpd.tracks[:_MOST_ROWS])),
        frozenset(("rate", "segments", "plays", "files")),
        max(len(mpd.tracks) - _MOST_ROWS, 0),
    )
    return FileContents(facts, (listing,), lacks=(mpd.lacks,) if mpd.lacks else ())


def _row(track: MpdTrack) -> tuple[str, ...]:
    missing = f", {track.missing} missing" if track.missing else ""
    return (
        track.kind or "-",
        track.name or "-",
        "-" if track.bit_per_s is None else rate(track.bit_per_s),
        track.picture or "-",
        track.codecs or "-",
        "-" if track.segments is None else str(track.segments),
        seconds(track.seconds),
        f"{size(track.size_bytes)}{missing}",
    )
