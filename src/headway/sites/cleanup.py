"""Header fields of a recorded response that are not replayed, or not as they were, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from headway.sites.site import Header


@dataclass(frozen=True)
class FieldRule:
    """Fields that are treated alike.

    Attributes:
        fields: their names; a name that starts with `*` stands for all that end so.
        why: the reason, as a sentence without a stop.
    """

    fields: tuple[str, ...]
    why: str


DROPPED = (
    FieldRule(
        (
            "connection",
            "keep-alive",
            "proxy-connection",
            "te",
            "trailer",
            "upgrade",
            "proxy-authenticate",
            "proxy-authentication-info",
        ),
        "They are about the connection that was recorded (RFC 9110, section 7.6.1), as is every "
        "field that `connection` names; HTTP/2 and HTTP/3 forbid most of them (RFC 9113, section "
        "8.2.2; RFC 9114, section 4.2)",
    ),
    FieldRule(
        ("transfer-encoding", "content-length"),
        "Chunks are joined, and the replaying server frames the body as its HTTP version does; "
        "it knows the length",
    ),
    FieldRule(
        ("alt-svc",),
        "It would lead the browser to another protocol than the study's, or to servers that the "
        "lab lacks",
    ),
    FieldRule(
        ("link",),
        "Its `preload` and `preconnect` hints influence connections: browsers open them and ask "
        "for resources ahead of the document, and some servers push or send early hints upon "
        "them; Sander et al. 2022 (section IV-A1) remove it, too",
    ),
    FieldRule(
        ("date", "age", "expires"),
        "They would be judged by the lab's clock, which starts on 2026-01-01 in every run; "
        "`cache-control` keeps what they say about freshness",
    ),
    FieldRule(
        ("strict-transport-security", "public-key-pins", "expect-ct"),
        "The lab has certificates of its own, and a site may be replayed without TLS",
    ),
    FieldRule(
        ("report-to", "reporting-endpoints", "nel", "*-report-only"),
        "They only ask for reports, to servers that the lab lacks, at times of the browser's "
        "choice",
    ),
    FieldRule(
        ("clear-site-data",),
        "It would empty the cache whose state the study chooses",
    ),
)
"""What is not replayed."""

CHANGED = (
    FieldRule(
        ("cache-control",),
        "Gets `max-age` if it has none, and neither `no-store` nor `no-cache`: from `expires` less "
        "`date` (RFC 9111, section 4.2.1), else a tenth of `date` less `last-modified`, the usual "
        "heuristic (section 4.2.2). So a response is fresh for as long as it was when recorded",
    ),
    FieldRule(
        ("set-cookie",),
        "`Expires` becomes `Max-Age` (RFC 6265, section 5.2), so that the lab's clock does not "
        "decide which cookies are sent",
    ),
    FieldRule(
        ("content-security-policy",),
        "Without the directives `report-uri` and `report-to` (reports go to servers that the lab "
        "has not) and `upgrade-insecure-requests` and `block-all-mixed-content` (a site may be "
        "replayed without TLS)",
    ),
)
"""What is replayed otherwise than it was recorded."""

_DROPPED_NAMES = frozenset(name for rule in DROPPED for name in rule.fields if name[0] != "*")
_DROPPED_SUFFIXES = tuple(name[1:] for rule in DROPPED for name in rule.fields if name[0] == "*")
_DROPPED_DIRECTIVES = frozenset(
    ("report-uri", "report-to", "upgrade-insecure-requests", "block-all-mixed-content")
)
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_EXPLICIT = frozenset(("max-age", "no-store", "no-cache"))
_HEURISTIC_STATUSES = frozenset((200, 203, 206))
_HEURISTIC_FRACTION = 0.1


def cleaned(status: int, headers: Iterable[Header]) -> tuple[Header, ...]:
    """The fields of a response that are replayed; cleaned twice is cleaned once.

    Args:
        status: of the response.
        headers: as recorded, with names in any case. A value with line breaks is several fields,
            as browsers' tools write them.
    """
    recorded = tuple(_normalised(headers))
    named = frozenset(_words(_values(recorded, "connection")))
    kept = [(name, value) for name, value in recorded if not _is_dropped(name, named)]
    date = _date(_first(recorded, "date"))
    changes: dict[str, Callable[[str], str]] = {
        "set-cookie": lambda value: _cookie(value, date),
        "content-security-policy": _policy,
    }
    changed = [(name, changes.get(name, str)(value)) for name, value in kept]
    present = [(name, value) for name, value in changed if value or name not in changes]
    return _with_lifetime(present, _lifetime_s(status, recorded))


def _normalised(headers: Iterable[Header]) -> Iterable[Header]:
    """Fields that every HTTP version can send (RFC 9110, section 5); others are left out."""
    for name, value in headers:
        if _TOKEN.fullmatch(name):  # not so the pseudo-header fields of HTTP/2 and HTTP/3
            sendable = value.replace("\0", " ").encode(errors="replace").decode()
            for line in re.split(r"[\r\n]+", sendable):
                yield name.lower(), line.strip(" \t")


def _is_dropped(name: str, named_by_connection: frozenset[str]) -> bool:
    return name in _DROPPED_NAMES or name in named_by_connection or name.endswith(_DROPPED_SUFFIXES)


def _values(headers: Sequence[Header], name: str) -> list[str]:
    return [value for field, value in headers if field == name]


def _first(headers: Sequence[Header], name: str) -> str | None:
    return next(iter(_values(headers, name)), None)


def _words(values: Iterable[str]) -> list[str]:
    return [word.strip().lower() for value in values for word in value.split(",")]


def _date(value: str | None) -> datetime | None:
    """An HTTP date; None if it is none."""
    try:
        date = parsedate_to_datetime(value or "")
    except (ValueError, TypeError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _seconds_after(later: datetime, earlier: datetime) -> int:
    return max(0, int((later - earlier).total_seconds()))


def _lifetime_s(status: int, headers: Sequence[Header]) -> int | None:
    """For how long a response is fresh, if only dates tell; RFC 9111, section 4.2."""
    directives = {word.partition("=")[0] for word in _words(_values(headers, "cache-control"))}
    if directives & _EXPLICIT:
        return None
    date = _date(_first(headers, "date"))
    expires = _first(headers, "expires")
    if expires is not None:
        expiry = _date(expires)
        if expiry is None:  # as "0" or "-1": it has expired (RFC 9111, section 5.3)
            return 0
        return _seconds_after(expiry, date) if date else None
    modified = _date(_first(headers, "last-modified"))
    if not (date and modified) or "must-revalidate" in directives:
        return None
    if status not in _HEURISTIC_STATUSES or "*" in _words(_values(headers, "vary")):
        return None
    return int(_seconds_after(date, modified) * _HEURISTIC_FRACTION)


def _with_lifetime(headers: Sequence[Header], lifetime_s: int | None) -> tuple[Header, ...]:
    if lifetime_s is None:
        return tuple(headers)
    directive = f"max-age={lifetime_s}"
    for index, (name, value) in enumerate(headers):
        if name == "cache-control":
            joined = f"{value}, {directive}" if value else directive
            return (*headers[:index], (name, joined), *headers[index + 1 :])
    return (*headers, ("cache-control", directive))


def _cookie(value: str, date: datetime | None) -> str:
    """A `set-cookie` value with a relative expiry; unchanged if nobody knows when it was set."""
    attributes = value.split(";")
    names = [attribute.partition("=")[0].strip().lower() for attribute in attributes]
    if "expires" not in names[1:]:
        return value
    index = names.index("expires", 1)
    expiry = _date(attributes[index].partition("=")[2].strip())
    if "max-age" in names[1:]:  # it has precedence, so that the date says nothing
        del attributes[index]
    elif expiry and date:
        attributes[index] = f" Max-Age={_seconds_after(expiry, date)}"
    return ";".join(attributes)


def _policy(value: str) -> str:
    """A `content-security-policy` value without what would report or change schemes."""
    policies = []
    for policy in value.split(","):
        directives = [directive.strip() for directive in policy.split(";")]
        kept = [text for text in directives if text and not _is_dropped_directive(text)]
        if len(kept) == len([text for text in directives if text]):
            policies.append(policy.strip())
        elif kept:
            policies.append("; ".join(kept))
    return ", ".join(policies)


def _is_dropped_directive(directive: str) -> bool:
    return directive.split()[0].lower() in _DROPPED_DIRECTIVES
