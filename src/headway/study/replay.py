"""The replay of a recorded page: its site, its hosts, and what of it a client knows before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headway.study.hints import Hints
from headway.study.waits import Waits


@dataclass(frozen=True, slots=True)
class Replay:
    """What servers replay. Without arguments: nothing, as of all workloads but pages.

    Attributes:
        site: the site; None if servers have bodies instead.
        own_addresses: whether each of its hosts has an address of its own.
        one_connection: whether all hosts share a certificate, and so a connection.
        mixes_versions: whether its hosts speak versions of HTTP of their own.
        visited_before: whether its client was there once before what is measured.
        needs_tickets: whether it resumes a TLS session of that visit, and has nothing else of it.
        advertises: whether responses over HTTP/3 advertise that (RFC 7838).
        hints: links of the document beside those that were recorded.
        waits: what servers take before they answer; None if they answer at once.
        columns: what a run's record has of it, by column.
    """

    site: str | None = None
    own_addresses: bool = False
    one_connection: bool = False
    mixes_versions: bool = False
    visited_before: bool = False
    needs_tickets: bool = False
    advertises: bool = False
    hints: Hints | None = None
    waits: Waits | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def draws_waits(self) -> bool:
        """Whether the waits differ, by the run's seed."""
        return self.waits is not None and bool(self.waits.spread)


NO_REPLAY = Replay()
"""Of a workload that loads no page."""
