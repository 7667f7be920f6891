"""Losses in bursts, where they act on data and on their acknowledgments."""

from __future__ import annotations

from collections.abc import Iterator

from headway.study.path import Direction
from headway.study.setting import Setting

_HARMLESS = 2
"""Bursts of so many packets cost nothing: docs/findings/same-controller.md."""


def bursts_both_ways(setting: Setting) -> Iterator[str]:
    """That bursts in both directions keep senders waiting for acknowledgments for long."""
    links = [link for path in setting.network.paths for link in path.links]
    downs, ups = (link.down for link in links), (link.up for link in links)
    if any(map(_in_bursts, downs)) and any(map(_in_bursts, ups)):
        yield (
            "losses come in bursts in both directions, and a burst lasts for packets, not for time: a sender that waits "
            "for acknowledgments may wait for minutes, because each probe, and each acknowledgment of one, brings the "
            "burst's end nearer by a packet while its timer doubles. In one direction (`path.down.loss`) that is rarer; "
            "`blackouts` last for a time"
        )


def _in_bursts(direction: Direction) -> bool:
    losses = (direction.loss, *(change.loss for change in direction.changes))
    return any(loss.burst > _HARMLESS and loss.mean > 0 for loss in losses if loss)
