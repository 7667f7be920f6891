"""Vain conditions: what a study's paths name and what is certain not to take place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.planning.runs import Run
from headway.study.path import Direction, Link
from headway.study.rates import RandomRate, RateSchedule
from headway.study.satellite.link import Satellite
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
        for what in (*_jitter(own), *_late(own), *_constant(own), *_repeated(own))
    )


def _links(run: Run) -> Iterator[Link]:
    for path in run.setting.network.crossed:
        yield from path.links


def _directions(run: Run) -> Iterator[Direction]:
    for link in _links(run):
        yield from (link.down, link.up)


def _stated(run: Run) -> Iterator[Direction]:
    """Directions whose course a study states, and not a satellite's orbit."""
    for link in _links(run):
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
        for name, at, begins in _moments(run)
        if begins >= end
    }
    yield from sorted(late)


def _moments(run: Run) -> Iterator[tuple[str, str, Duration]]:
    """What paths have from a time on: what it is, and when."""
    for link in _links(run):
        if link.satellite:
            yield from _of_sky(link.satellite)
    for direction in _stated(run):
        yield from _timed(direction)
    for direction in _directions(run):
        for name, rule in (("rule for UDP", direction.udp), ("change of ECN", direction.ecn)):
            if rule:
                yield name, f"from {rule.start}", rule.start


def _of_sky(satellite: Satellite) -> Iterator[tuple[str, str, Duration]]:
    """The first of its fades; later ones, as the steps of an orbit, may be there for longer runs."""
    for part in (satellite, satellite.forward, satellite.return_):
        for step in (part.attenuation or ())[:1]:
            yield "attenuation", f"at {step.at}", step.at


def _timed(direction: Direction) -> Iterator[tuple[str, str, Duration]]:
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


_CHANGED = ("rate", "delay", "jitter", "loss")


def _repeated(runs: Sequence[Run]) -> Iterator[str]:
    """Changes to what is there already; that one value of an axis is changed to is usual."""
    changing: dict[Duration, bool] = {}
    for run in runs:
        for direction in _stated(run):
            for at, is_other in _changes(direction):
                changing[at] = changing.get(at, False) or is_other
    yield from (
        f"the change at {at} changes nothing: the path has these values before it"
        for at, is_other in sorted(changing.items())
        if not is_other
    )


def _changes(direction: Direction) -> Iterator[tuple[Duration, bool]]:
    """The times of a direction's changes, each with whether anything is other than before."""
    state = {key: getattr(direction, key) for key in _CHANGED}
    for change in direction.changes:
        own = {key: value for key in _CHANGED if (value := getattr(change, key)) is not None}
        yield change.at, any(state[key] != value for key, value in own.items())
        state |= own
