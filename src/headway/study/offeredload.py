"""The load that a workload offers over time, whatever its path has."""

from __future__ import annotations

from dataclasses import dataclass

from headway.study.units import Duration, Rate

_NONE = Duration(0)


@dataclass(frozen=True, slots=True)
class OfferedLoad:
    """When a workload sends, and how fast. Without arguments: at once, as fast as the path lets it.

    Attributes:
        sends: how long it sends, from its start; None if that follows from what it carries.
        last_start: when the last of its flows starts.
        leaves: when its user is done with it, from its start; None if nobody decides that.
        takes: how long it takes at the least beside: what servers take, or until an address changes.
        rate: the most that it has as long as it sends; None if the path alone limits it.
        is_controlled: whether its senders slow down when the path is full (RFC 8085, section 3.1).
    """

    sends: Duration | None = None
    last_start: Duration = _NONE
    leaves: Duration | None = None
    takes: Duration = _NONE
    rate: Rate | None = None
    is_controlled: bool = True

    @property
    def ends(self) -> Duration | None:
        """When it is over at the earliest, or has to be, from its start; None if the path alone decides."""
        return self.sends if self.leaves is None else self.leaves

    @property
    def least(self) -> Duration:
        """How long it takes at the least, whatever its path has."""
        return max(self.last_start if self.ends is None else self.ends, self.takes)


AT_ONCE = OfferedLoad()
"""Of a workload whose path alone decides."""
