"""Files that a lab left: any program in it may have put anything there, so one module opens them all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from headway.errors import HeadwayError, WrongInputError
from headway.foreign.files import open_regular

MOST_BYTES = 2**30
"""Of a file that is read at once, since texts take several times their size in memory."""
MOST_LINE_BYTES = 2**26
"""Of a line of a file that is read line by line."""
_SHOWN = 60


class SpoiltError(HeadwayError):
    """A lab left something else than what Headway reads.

    Args:
        name: of the file or the directory.
        reason: what is wrong with it, as the end of a sentence.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{readable(name)} {reason}")


def readable(text: str, most: int = _SHOWN) -> str:
    """What a program chose, cut, and without what a terminal or a file of UTF-8 would not take."""
    plain = "".join(character if character.isprintable() else "\ufffd" for character in text)
    return plain if len(plain) <= most else f"{plain[:most]}..."


def open_artifact(file: Path) -> IO[bytes]:
    """Open a file for reading, which does not wait for a pipe's other end and follows no link.

    Raises:
        FileNotFoundError: it is not there.
        SpoiltError: it is no file.
    """
    try:
        return open_regular(file, os.O_NOFOLLOW)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SpoiltError(file.name, f"cannot be read: {error.strerror}") from error
    except WrongInputError:
        raise SpoiltError(file.name, "is no file") from None


def read_bytes(file: Path) -> bytes:
    """The content of a file.

    Raises:
        FileNotFoundError: it is not there.
        SpoiltError: it is no file, or too large.
    """
    with open_artifact(file) as opened:
        size = os.fstat(opened.fileno()).st_size
        if size > MOST_BYTES:
            most = f"more than the {MOST_BYTES / 1e9:.1f} GB that are read"
            raise SpoiltError(file.name, f"has {size / 1e9:.1f} GB, {most}")
        return opened.read(MOST_BYTES)


def read_text(file: Path, *, exact: bool = True) -> str:
    """The same as a text.

    Args:
        file: the file.
        exact: whether bytes that are no UTF-8 are an error; otherwise U+FFFD stands for them.

    Raises:
        FileNotFoundError: it is not there.
        SpoiltError: it is no file, too large, or no text.
    """
    data = read_bytes(file)
    try:
        text = data.decode(errors="strict" if exact else "replace")
    except UnicodeDecodeError as error:
        raise SpoiltError(file.name, f"is no UTF-8 from byte {error.start} on") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_lines(file: Path) -> Iterator[bytes]:
    """The lines of a file with their ends, one after the other, however large the file is.

    Raises:
        FileNotFoundError: it is not there.
        SpoiltError: it is no file, or a line is too long.
    """
    with open_artifact(file) as opened:
        while line := opened.readline(MOST_LINE_BYTES + 1):
            if len(line) > MOST_LINE_BYTES:
                most = f"{MOST_LINE_BYTES / 1e6:.0f} MB"
                raise SpoiltError(file.name, f"has a line of more than {most}")
            yield line
