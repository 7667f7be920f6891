"""The main thread of a page: long tasks, layout shifts, and how it answered a user.

Definitions are those of the Web Performance APIs, and of the metrics made from them on web.dev; docs/web-metrics.md has
the sources. Times are in milliseconds after navigation start.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LONG_TASK_MS = 50.0
"""What a task takes beyond this keeps a user waiting (Long Tasks API, section 1)."""
_SHIFT_GAP_MS, _SHIFT_WINDOW_MS = 1000.0, 5000.0
_INTERACTIONS_PER_OUTLIER = 50


@dataclass(frozen=True)
class LongTask:
    """A task of 50 ms or more."""

    start_ms: float
    duration_ms: float

    @property
    def end_ms(self) -> float:
        """When it was over."""
        return self.start_ms + self.duration_ms


@dataclass(frozen=True)
class Shift:
    """A layout shift: its score, and whether it came within half a second of a user's input."""

    at_ms: float
    score: float
    upon_input: bool


@dataclass(frozen=True)
class AnsweredInput:
    """What a user did, and how long the page took to answer it.

    Attributes:
        start_ms: when it was done.
        duration_ms: until the next paint, in multiples of 8 ms.
        handled_ms: when the first of its handlers began.
        processed_ms: when the last one ended.
    """

    start_ms: float
    duration_ms: float
    handled_ms: float
    processed_ms: float

    @property
    def phases_ms(self) -> tuple[float, float, float]:
        """Input delay, processing, and presentation delay, which add up to the duration."""
        painted_ms = self.start_ms + self.duration_ms
        handled_ms = min(self.handled_ms, painted_ms)
        processed_ms = min(max(self.processed_ms, handled_ms), painted_ms)
        return handled_ms - self.start_ms, processed_ms - handled_ms, painted_ms - processed_ms


@dataclass(frozen=True)
class MainThread:
    """What it did during a load.

    Attributes:
        long_tasks: in order of time.
        shifts: in order of time.
        interactions: clicks, taps and keys.
        first_gesture_ms: when the user did something first; infinite if never.
    """

    long_tasks: tuple[LongTask, ...]
    shifts: tuple[Shift, ...]
    interactions: tuple[AnsweredInput, ...] = ()
    first_gesture_ms: float = math.inf

    @property
    def own_tasks(self) -> tuple[LongTask, ...]:
        """Long tasks from before the user did anything: those of the load."""
        return tuple(task for task in self.long_tasks if task.start_ms < self.first_gesture_ms)


def read_main_thread(values: Mapping[str, Any], origin_ms: float) -> MainThread | None:
    """What a load's file tells; None if it tells nothing of it.

    Args:
        values: the file.
        origin_ms: navigation start, after the epoch.
    """
    if "long_tasks" not in values:
        return None
    gestures = [gesture["at_s"] * 1e3 - origin_ms for gesture in values.get("gestures", ())]
    return MainThread(
        tuple(
            sorted(
                (LongTask(*task) for task in values["long_tasks"]), key=lambda task: task.start_ms
            )
        ),
        tuple(Shift(*shift) for shift in values["layout_shifts"]),
        _interactions(values.get("events", ())),
        min(gestures, default=math.inf),
    )


def total_blocking_ms(tasks: Iterable[LongTask], since_ms: float) -> float:
    """What tasks took beyond 50 ms each, after a moment; a task that was under way then counts from there."""
    lasted_ms = (task.end_ms - max(task.start_ms, since_ms) for task in tasks)
    return math.fsum(max(0.0, duration_ms - LONG_TASK_MS) for duration_ms in lasted_ms)


def cumulative_shift(shifts: Sequence[Shift]) -> float:
    """The largest session window's sum: shifts less than a second apart, over 5 s at the most.

    Those upon a user's input do not count.
    """
    largest = total = 0.0
    first_ms = last_ms = -math.inf
    for shift in shifts:
        if shift.upon_input:
            continue
        ended = shift.at_ms - last_ms >= _SHIFT_GAP_MS or shift.at_ms - first_ms >= _SHIFT_WINDOW_MS
        if ended:
            total, first_ms = 0.0, shift.at_ms
        total, last_ms = total + shift.score, shift.at_ms
        largest = max(largest, total)
    return largest


def slowest_interaction(interactions: Sequence[AnsweredInput]) -> AnsweredInput | None:
    """The one that stands for all: the longest, but that one of every 50 is left out; None without any."""
    longest_first = sorted(
        interactions, key=lambda interaction: interaction.duration_ms, reverse=True
    )
    outliers = len(interactions) // _INTERACTIONS_PER_OUTLIER
    return longest_first[min(outliers, len(interactions) - 1)] if interactions else None


def _interactions(entries: Iterable[Mapping[str, Any]]) -> tuple[AnsweredInput, ...]:
    """Events of one interaction together: from the first of them, and as long as the longest takes.

    The first input is told of however short it is, beside the same event if that is long.
    """
    groups: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    for entry in entries:
        if entry["interaction"]:
            groups[entry["interaction"]].append(entry)
    return tuple(map(_interaction, groups.values()))


def _interaction(events: Sequence[Mapping[str, Any]]) -> AnsweredInput:
    longest = max(events, key=lambda event: event["duration_ms"])
    same_frame = [event for event in events if event["start_ms"] >= longest["start_ms"]]
    return AnsweredInput(
        start_ms=longest["start_ms"],
        duration_ms=longest["duration_ms"],
        handled_ms=longest["processing_start_ms"],
        processed_ms=max(event["processing_end_ms"] for event in same_frame),
    )
