"""Vain conditions: what a study's paths name and what is certain not to take place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.planning.runs import Run
from headway.study.path import Direction
from headway.study.rates import RandomRate, RateSchedule
from headway.study.units import Duration, Rate

_OF_JITTER = {
    "jitter_reorders": "reorders nothing",
    "jitter_distribution": "is without effect",
}
"""Keys that say what kind of jitter a direction has."""


def vain(runs: Sequence[Run]) -> tuple[str, ...]:
    """Remarks about disturbances that no run of an experiment can meet."""
    by_experiment: dict[str, list[Run]] = {}
    for run in runs:
        by_experiment.setdefault(run.experiment, []).append(run)
    return tuple(
        f"{name}: {what}" if name else what
        for name, own in by_experiment.items()
        for what in (*_jitter(own), *_late(own), *_constant(own))
    )


def _directions(run: Run) -> Iterator[Direction]:
    for path in run.setting.network.crossed:
        for link in path.links:
            yield from (link.down, link.up)


def _stated(run: Run) -> Iterator[Direction]:
    """Directions whose course a study states, and not a satellite's orbit."""
    for path in run.setting.network.crossed:
        for link in path.links:
            if link.satellite is None:
                yield from (link.down, link.up)


def _jitter(runs: Sequence[Run]) -> Iterator[str]:
    """That one value of an axis has no jitter is usual; that none has any is a mistake."""
    ways = [way for run in runs for way in _directions(run)]
    for key, effect in _OF_JITTER.items():
        asking = [way for way in ways if key in way.model_fields_set and getattr(way, key)]
        if asking and not any(map(_varies, asking)):
            yield f"{key} {effect}, because no path with it has jitter"


def _varies(direction: Direction) -> bool:
    return bool(direction.jitter) or any(change.jitter for change in direction.changes)


def _late(runs: Sequence[Run]) -> Iterator[str]:
    late = {
        f"the {name} {at} begins after the runs, which end at {end} (limits.virtual)"
        for run in runs
        for end in [run.setting.limits.virtual]
        for direction in _stated(run)
        for name, at, begins in _timed(direction)
        if begins >= end
    }
    yield from sorted(late)


def _timed(direction: Direction) -> Iterator[tuple[str, str, Duration]]:
    """What a direction has from a time on: what it is, and when."""
    for window in direction.blackouts:
        yield "blackout", f"from {window.start}", window.start
    for window in direction.contacts.spans if direction.contacts else ():
        yield "contact", f"from {window.start}", window.start
    for step in direction.rate.steps if isinstance(direction.rate, RateSchedule) else ():
        yield "step of the rate", f"at {step.at}", step.at
    for change in direction.changes:
        yield "change", f"at {change.at}", change.at


def _constant(runs: Sequence[Run]) -> Iterator[str]:
    """Rates that are to change and never do; of one step is what a rate alone is."""
    constant = {
        f"the {name} leaves the rate at {rates[0]} all the time"
        for run in runs
        for direction in _stated(run)
        for name, rates in _courses(direction)
        if len(rates) > 1 and len(set(rates)) == 1
    }
    yield from sorted(constant)


def _courses(direction: Direction) -> Iterator[tuple[str, list[Rate]]]:
    match direction.rate:
        case RateSchedule(steps=steps):
            yield "schedule", [step.rate for step in steps]
        case RandomRate(low=low, high=high):
            yield "draw", [low, high]
