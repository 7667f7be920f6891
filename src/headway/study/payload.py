"""The payload of requests and responses, and what answers requests."""

from __future__ import annotations

from dataclasses import dataclass

from headway.study.application import Application
from headway.study.units import Size


@dataclass(frozen=True, slots=True)
class Payload:
    """What requests and responses carry. Without arguments: nothing whose size is known beforehand.

    Attributes:
        body: size of each body that is asked for; None if they are not of one size, or not known.
        bodies: sizes of the bodies that are asked for, where they are of several.
        content: size of each request's content (RFC 9110, section 6.4); None if requests have none.
        application: what answers requests; None if a server's files do.
    """

    body: Size | None = None
    bodies: tuple[Size, ...] = ()
    content: Size | None = None
    application: Application | None = None

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Sizes of all that servers must have, or clients send."""
        return tuple(size for size in (*self.bodies, self.body, self.content) if size is not None)

    @property
    def has_known_bodies(self) -> bool:
        """Whether every byte of what is asked for is known: it is no page, and no application makes it."""
        return self.application is None and bool(self.bodies or self.body is not None)

    @property
    def amount(self) -> Size | None:
        """What each carries in the direction of the workload; None if nobody says so beforehand."""
        return self.body if self.content is None else self.content

    @property
    def is_taken(self) -> bool:
        """Whether what answers takes all content of requests, if they have any."""
        application = self.application
        return self.content is None or application is None or application.takes_content

    @property
    def needs_application(self) -> bool:
        """Whether a server of files does not do: what only counts content, a server is given beside."""
        application = self.application
        return application is not None and not (
            self.content is not None and application.only_counts
        )


NO_PAYLOAD = Payload()
"""Of a workload that asks for nothing of a size."""
