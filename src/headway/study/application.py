"""Requests for an application behind a server, and not for its files."""

from __future__ import annotations

from dataclasses import dataclass

from headway.study.units import Duration

_NONE = Duration(0)


@dataclass(frozen=True)
class Application:
    """What answers requests.

    Attributes:
        path: that they ask for.
        service: what it takes for each answer, one after the other, as one worker does.
        delay: what each answer takes besides, whatever else goes on.
        streams: whether it makes its answers over time.
    """

    path: str
    service: Duration = _NONE
    delay: Duration = _NONE
    streams: bool = False
