"""Errors that a person reads: what is wrong, where, and what would be right."""

from __future__ import annotations

EXIT_FAILED = 1
EXIT_WRONG_INPUT = 2
EXIT_INTERRUPTED = 130


class HeadwayError(Exception):
    """A failure with a message for people; ends a command with exit status 1."""

    exit_status = EXIT_FAILED


class WrongInputError(HeadwayError):
    """The user's input cannot be right; ends a command with exit status 2.

    Args:
        message: what is wrong and what would be right.
        where: the file, and within it the key, that is wrong, as ``study.toml: path.rate``.
    """

    exit_status = EXIT_WRONG_INPUT

    def __init__(self, message: str, *, where: str | None = None) -> None:
        super().__init__(f"{where}: {message}" if where else message)
