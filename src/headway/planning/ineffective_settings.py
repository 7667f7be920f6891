"""Vain conditions: what a study's paths name and what is certain not to take place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.planning.runs import Run
from headway.study.path import Direction


def vain(runs: Sequence[Run]) -> tuple[str, ...]:
    """Remarks about disturbances that no run of an experiment can meet."""
    by_experiment: dict[str, list[Run]] = {}
    for run in runs:
        by_experiment.setdefault(run.experiment, []).append(run)
    return tuple(
        f"{name}: {what}" if name else what
        for name, own in by_experiment.items()
        for what in (*_jitter(own), *_spans(own))
    )


def _directions(run: Run) -> Iterator[Direction]:
    for path in run.setting.network.crossed:
        for link in path.links:
            yield from (link.down, link.up)


def _jitter(runs: Sequence[Run]) -> Iterator[str]:
    """That one value of an axis has no jitter is usual; that none has any is a mistake."""
    reordering = [way for run in runs for way in _directions(run) if way.jitter_reorders]
    if reordering and not any(map(_varies, reordering)):
        yield "jitter_reorders reorders nothing, because no path with it has jitter"


def _varies(direction: Direction) -> bool:
    return bool(direction.jitter) or any(change.jitter for change in direction.changes)


def _spans(runs: Sequence[Run]) -> Iterator[str]:
    late = {
        f"the {name} from {window.start} begins after the runs, which end at "
        f"{run.setting.limits.virtual} (limits.virtual)"
        for run in runs
        for direction in _directions(run)
        for name, windows in (
            ("blackout", direction.blackouts),
            ("contact", direction.contacts.spans if direction.contacts else ()),
        )
        for window in windows
        if window.start >= run.setting.limits.virtual
    }
    yield from sorted(late)
