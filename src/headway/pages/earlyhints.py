"""Early Hints of a page load (RFC 8297): what the browser fetched by them, before it had the page's document.

The browser tells nothing of such a request. When the page asks for the resource, the browser tells of it as of one from its
cache: without a connection, without bytes of the network. It marks it, and has the moment at which the response came.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urldefrag, urljoin

from headway.pages.resource import Chunk, Resource, Timing
from headway.sites.site import Header

_LINK = re.compile(r"<([^>]*)>([^<]*)")
_FETCHED = re.compile(r";\s*rel\s*=\s*\"?(module)?preload\b", re.IGNORECASE)
_AT_ONCE_MS = 5.0
"""A page that asks for what is whole has it after so long at most."""
_INITIATOR = "early-hints"
"""As Resource Timing calls it (initiatorType)."""
_IGNORED_OVER = "http/1.1"


@dataclass(frozen=True)
class EarlyHints:
    """What a document's Early Hints said, and when.

    Attributes:
        document: whose they are.
        links: URLs that the browser fetches by them.
    """

    document: Resource
    links: frozenset[str]

    @property
    def at_ms(self) -> float:
        """The first byte of any response to the document's request: theirs."""
        document = self.document
        at_ms = document.response_start_ms
        return document.started_ms if at_ms is None else at_ms

    @classmethod
    def of(cls, document: Resource, fields: Sequence[Header]) -> EarlyHints:
        """Those of a document with these fields; browsers follow none over HTTP/1.1."""
        values = [value for name, value in fields if name == "link"]
        links = _links(document.url, values) if document.protocol != _IGNORED_OVER else ()
        return cls(document, frozenset(links))

    def handed_over(self, asked: Resource, came_ms: float) -> Resource:
        """A resource that came by them, from what the browser tells of it when the page asks for it.

        Args:
            asked: with the times at which the page asked for it and had it.
            came_ms: the first byte of its response.
        """
        early = replace(self._early(asked), response_start_ms=came_ms)
        if asked.ended_ms is None or came_ms > asked.started_ms:
            return early
        if asked.ended_ms > asked.started_ms + _AT_ONCE_MS:
            return early
        # The page did not wait for it, so the document was the last to come.
        document_ms = self.document.ended_ms
        whole_ms = asked.started_ms if document_ms is None else min(asked.started_ms, document_ms)
        return _ended(early, max(came_ms, whole_ms))

    def thrown_away(self, again: Resource, cached: bool) -> Resource | None:
        """What the browser fetched by them and could not keep; None if it fetched nothing.

        Args:
            again: the page's own request.
            cached: whether the browser had a copy before, which the server then validated twice.
        """
        if again.url not in self.links or not again.from_network:
            return None
        early = self._early(again)
        if again.status == 304 and not cached:
            length = announced_bytes(again.headers) or 0
            early = replace(early, status=200, body_bytes=length, encoded_bytes=length)
        # The browser sends the second request when it has the fields of the first response.
        return _ended(replace(early, response_start_ms=None), again.sent_ms)

    def _early(self, resource: Resource) -> Resource:
        """As the browser asked for it: of that there are no phases, and no connection."""
        return replace(
            resource,
            connection_id=None,
            started_ms=self.at_ms,
            timing=Timing(),
            initiator_type=_INITIATOR,
            initiator_url=self.document.url,
        )


def announced_bytes(fields: Sequence[Header]) -> int | None:
    """Length of a response's content, as its fields have it."""
    length = dict(fields).get("content-length", "")
    return int(length) if length.isdigit() else None


def _ended(resource: Resource, at_ms: float) -> Resource:
    """The resource, all of whose content had come by then."""
    content_bytes = resource.body_bytes
    chunks = (Chunk(at_ms, content_bytes),) if content_bytes else ()
    return replace(resource, ended_ms=at_ms, chunks=chunks)


def _links(base: str, fields: Sequence[str]) -> Iterator[str]:
    for field in fields:
        for target, attributes in _LINK.findall(field):
            if _FETCHED.search(attributes):
                yield urldefrag(urljoin(base, target)).url
