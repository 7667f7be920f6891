"""Verification of the cached image: all of its parts, or those of a lab that crashed."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headway.errors import HeadwayError
from headway.image.image import Layout
from headway.image.infos import INFO_FILE
from headway.image.options import ImageOptions
from headway.sealed import CONTENT_FILE, damages, seal

REMEDY = "`headway image build` makes it anew"
_SHOWN = 3


@dataclass(frozen=True)
class Verified:
    """An entry of the cache, and what is wrong with it.

    Attributes:
        entry: its directory.
        damaged: the files that are others than when it was made.
        is_sealed: whether it is known what it was.
    """

    entry: Path
    damaged: tuple[str, ...]
    is_sealed: bool

    @property
    def words(self) -> str:
        """What is wrong with it, and what mends it."""
        more = len(self.damaged) - _SHOWN
        names = ", ".join(self.damaged[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        return f"{self.entry}: damaged: {names}; {REMEDY}"


def verify(options: ImageOptions | None = None) -> list[Verified]:
    """Read all of an image and its layers that is there; what is damaged is no part of it any more.

    Args:
        options: where the image comes from; by default what the environment says.
    """
    layout = Layout.of_package(options or ImageOptions.from_environment())
    parts = (*layout.parts, *layout.additions.values())
    return _verified(part.entry for part in parts if part.entry.is_dir())


@cache
def check_after_crash(kernel: Path) -> None:
    """Let the image be whole whose kernel crashed, and what lies beside it; once in a process.

    Raises:
        HeadwayError: a part of it is damaged.
    """
    entries = (
        entry for entry in kernel.parent.parent.iterdir() if (entry / CONTENT_FILE).is_file()
    )
    for verified in _verified(sorted(entries)):
        if verified.damaged:
            raise HeadwayError(f"a lab crashed, and the lab image is damaged: {verified.words}")


def _verified(entries: Iterable[Path]) -> list[Verified]:
    verifications = []
    for entry in entries:
        is_sealed = (entry / CONTENT_FILE).is_file()
        wrong = tuple(damages(entry, whole=True))
        verifications.append(Verified(entry, wrong, is_sealed))
        if not is_sealed:
            with suppress(OSError):
                seal(entry)
        if wrong:
            # Without this it is not there, and whatever needs it makes it.
            with suppress(OSError):
                (entry / INFO_FILE).unlink(missing_ok=True)
    return verifications
