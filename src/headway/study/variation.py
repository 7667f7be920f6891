"""Variation that no experiment controls, drawn by a run's seed: equal for all contenders of a repetition.

A path in virtual time is exact, and so are two flows whose packets meet at the same places of its queue in
every repetition: a difference of a few percent may be due to where a packet happens to fall (Floyd and
Jacobson 1991). Beside a small change of the path it is another one. So each repetition has its own
small differences, which leave means where they are; then repetitions are samples of paths like the stated
one, and an interval says what would be found beside it.
"""

from __future__ import annotations

import hashlib
import random

from headway.study.path import Direction, Path
from headway.study.queue import FRAME_BYTES
from headway.study.setting import Setting
from headway.study.settingkeys import Variation
from headway.study.units import Duration, Size

DELAY_SHARE = 0.02
"""Delays of a direction are those stated times a factor up to this far from 1, either way."""
PROCESSING_SHARE = 0.25
"""A packet's processing takes up to this share of a full packet's time at the link's rate."""
MOST_PROCESSING_NS = 1_000_000
"""But never longer than this."""
START_WITHIN_NS = 10_000_000
"""The workload starts up to so long after the kernel's clock would have it: its timers tick so often."""


def drawn_path(setting: Setting, path: Path, name: str, seed: int) -> Path:
    """A path of a setting's network as a run of this seed meets it; its name tells its draws apart."""
    return path if setting.variation is Variation.NONE else _path(path, name, seed)


def start_after_ns(setting: Setting, seed: int) -> int:
    """How long after the usual moment the workload of a run starts."""
    if setting.variation is Variation.NONE:
        return 0
    return _draw(seed, "start").randrange(START_WITHIN_NS)


def _path(path: Path, name: str, seed: int) -> Path:
    links = tuple(
        link.model_copy(
            update={
                way: _direction(getattr(link, way), path, _draw(seed, f"{name}/{place}/{way}"))
                for way in ("down", "up")
            }
        )
        for place, link in enumerate(path.links)
    )
    return path.model_copy(update={"links": links})


def _direction(direction: Direction, path: Path, draw: random.Random) -> Direction:
    factor = 1 + DELAY_SHARE * draw.uniform(-1, 1)
    changes = tuple(
        change
        if change.delay is None
        else change.model_copy(update={"delay": Duration(round(change.delay.ns * factor))})
        for change in direction.changes
    )
    delay = Duration(round(direction.delay.ns * factor))
    update: dict[str, object] = {"delay": delay, "changes": changes}
    if direction.first_rate and direction.queue.bdp:
        # A BDP is one of the stated path.
        size = Size(direction.queue_bytes(path.rtt) or 0)
        queue = {"bdp": None, "size": size, "bursts": False}
        update["queue"] = direction.queue.model_copy(update=queue)
    if not direction.jitter and not any(change.jitter for change in direction.changes):
        least = min([delay, *(change.delay for change in changes if change.delay is not None)])
        update["jitter"] = Duration(min(_processing_ns(direction) // 2, least.ns))
    return direction.model_copy(update=update)


def _processing_ns(direction: Direction) -> int:
    """The longest that a packet's processing takes: uniform from 0, with its mean in the delay."""
    rate = direction.first_rate
    if not rate:
        return 0
    packet_ns = FRAME_BYTES * 8 * 10**9 / rate
    return min(round(PROCESSING_SHARE * packet_ns), MOST_PROCESSING_NS)


def _draw(seed: int, purpose: str) -> random.Random:
    text = f"{seed}/variation/{purpose}"
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]))
