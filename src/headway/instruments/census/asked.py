"""Questions of a census. Nothing here loads an engine, so that the command line knows them at once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from headway.errors import WrongInputError, nearest


class Key(StrEnum):
    """What answers are told apart by, in the order of an answer's columns."""

    MONTH = "month"
    CLIENT = "client"
    RANK = "rank"
    PROVIDER = "provider"
    SERVER = "server"
    CDN = "cdn"


class Question(StrEnum):
    """What is counted."""

    ADOPTION = "adoption"
    VERSIONS = "versions"
    DRAFTS = "drafts"
    DISCOVERY = "discovery"
    PAGES = "pages"


class Dialect(StrEnum):
    """An engine's SQL."""

    DUCKDB = "duckdb"
    BIGQUERY = "bigquery"


@dataclass(frozen=True)
class Asked:
    """A question, and of what.

    Attributes:
        question: what is counted.
        keys: what answers are told apart by.
        months: only these (2024-06); all if empty.
        secondary: other pages of a site than its home page, too.
    """

    question: Question = Question.ADOPTION
    keys: tuple[Key, ...] = (Key.MONTH, Key.CLIENT)
    months: tuple[str, ...] = ()
    secondary: bool = False


_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


def keys_of(words: Iterable[str]) -> tuple[Key, ...]:
    """Keys as people write them, separated by commas, in the order of an answer's columns.

    Raises:
        WrongInputError: there is no such key.
    """
    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    known = [str(key) for key in Key]
    for name in names:
        if name not in known:
            raise WrongInputError(
                f"no such key{nearest(name, known, then='there are ' + ', '.join(known))}",
                where=f"--by {name}",
            )
    return tuple(key for key in Key if key in names)


def months_of(words: Iterable[str]) -> tuple[str, ...]:
    """Months as people write them, 2024-06, separated by commas, in order.

    Raises:
        WrongInputError: one is no month.
    """
    months = sorted({part.strip() for word in words for part in word.split(",") if part.strip()})
    for month in months:
        if not _MONTH.fullmatch(month):
            raise WrongInputError("is no month; write it as 2024-06", where=f"--month {month}")
    return tuple(months)


def span(month: str) -> tuple[date, date]:
    """The first day of a month, and that of the next one."""
    year, number = map(int, month.split("-"))
    return date(year, number, 1), date(year + number // 12, number % 12 + 1, 1)
