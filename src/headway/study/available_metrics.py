"""Metrics that the runs of an experiment can have: known beforehand, by what each metric says of itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from headway.columns import METRICS, Needs, Of
from headway.errors import WrongInputError
from headway.study.experiment import Coordinates, Experiment
from headway.study.metricnames import hint, no_metric
from headway.study.path import Direction
from headway.study.queue import Discipline
from headway.study.rates import RateSchedule
from headway.study.setting import Setting
from headway.study.source import Source

_OF_FLOWS = frozenset(
    {
        *("total_s", "goodput_mbit", "utilisation", "queue_delay_ms", "queue_delay_p95_ms"),
        *("l4s_delay_ms", "l4s_delay_p99_ms", "classic_delay_ms", "classic_delay_p99_ms"),
    }
)
"""What flows that compete are measured by together, beside how they share."""


def those_measured(
    experiment: Experiment, places: Iterable[tuple[Coordinates, str]]
) -> tuple[str, ...]:
    """Of an experiment's metrics those that some setting has."""
    settings = _settings(experiment, places)
    return tuple(metric for metric in experiment.metrics if _is_measured(settings, metric))


def usual_ones(
    experiment: Experiment, places: Iterable[tuple[Coordinates, str]]
) -> tuple[str, ...]:
    """Of the usual metrics, which nobody asked for, those that an experiment is compared by."""
    texts = those_measured(experiment, places)
    # What the first flow gets is the question only where no other shares the path with it.
    return tuple(text for text in texts if text != "first_mbit" or "jain_index" not in texts)


def _settings(
    experiment: Experiment, places: Iterable[tuple[Coordinates, str]]
) -> tuple[Setting, ...]:
    """A setting of each kind, as far as metrics are concerned."""
    kinds = {}
    for coordinates, contender in places:
        setting = experiment.setting(coordinates, contender)
        kinds[
            _run_kinds(setting),
            _sharers(setting),
            frozenset(_needed(setting)),
        ] = setting
    return tuple(kinds.values())


def check_metrics(
    experiment: Experiment, places: Iterable[tuple[Coordinates, str]], source: Source
) -> None:
    """Some setting has every metric.

    Args:
        experiment: whose metrics they are.
        places: its cells and contenders.
        source: the study's text.

    Raises:
        WrongInputError: none has one of them, or it is there twice.
    """
    settings = _settings(experiment, places)
    where = source.where("metrics", experiment=experiment.name)
    if len(set(experiment.metrics)) < len(experiment.metrics):
        raise WrongInputError("a metric is there twice", where=where)
    for metric in experiment.metrics:
        if _is_measured(settings, metric):
            continue
        known = [text for text in METRICS if _is_measured(settings, text)]
        if metric in experiment.budget:
            where = source.where(f"budget.{metric}", experiment=experiment.name)
        raise WrongInputError(_refusal(settings, metric, known), where=where)


def _refusal(settings: Iterable[Setting], metric: str, known: Sequence[str]) -> str:
    """Why a metric is not measured, and which one may have been meant."""
    if metric not in METRICS:
        return no_metric(metric, known)
    ranking = METRICS[metric].ranking
    if ranking and any(_is_of(setting, metric) for setting in settings):
        why = f"it takes {ranking.needs.value}"
    else:
        why = f"it is of {ranking.of.value}" if ranking else ""
    return f"{metric} is not measured here{f': {why}' if why else ''}{hint(metric, known)}"


def _is_measured(settings: Iterable[Setting], metric: str) -> bool:
    if metric not in METRICS:
        return False
    return any(_is_of(setting, metric) and _has_needed(setting, metric) for setting in settings)


def _has_needed(setting: Setting, metric: str) -> bool:
    ranking = METRICS[metric].ranking
    return ranking is None or ranking.needs in (Needs.NOTHING, *_needed(setting))


def _needed(setting: Setting) -> Iterator[Needs]:
    """What a setting has of that which metrics may need."""
    if any(map(has_constant_rate, _towards_client(setting))):
        yield Needs.CONSTANT_RATE
        if setting.capture.pacing and not setting.workload.uploads:
            yield Needs.PACING
    if any(
        way.rate is not None and way.queue.discipline is Discipline.DUALPI2
        for way in _towards_client(setting)
    ):
        yield Needs.DUAL_QUEUE
    protocols = [flow.protocol for flow in setting.flows.values()] or [setting.protocol]
    if any(protocol.transport == "tcp" for protocol in protocols):
        yield Needs.TCP
    if any(protocol.over_quic for protocol in protocols):
        yield Needs.QUIC
    if any(workload.payload.is_taken for workload in setting.workloads):
        yield Needs.CONTENT_TAKEN
    for workload in setting.workloads:
        yield from workload.offers
    if setting.dns is not None:
        yield Needs.RESOLVER
    if setting.dual_stack is not None:
        yield Needs.DUAL_STACK
    if any(host.kernel.processor for _, host in setting.tables):
        yield Needs.PROCESSOR
    if any(host.hop.kernel.processor for host in setting.network.between.values()):
        yield Needs.PROXY_PROCESSOR


def _towards_client(setting: Setting) -> Iterator[Direction]:
    for path in setting.network.crossed:
        yield from (link.down for link in path.links)


def has_constant_rate(direction: Direction) -> bool:
    """Whether a direction has a rate, always the same, and sends all the time that something waits."""
    return (
        isinstance(direction.rate, RateSchedule)
        and len(direction.rate.steps) == 1
        and not any(change.rate for change in direction.changes)
        and not direction.keeps
    )


def _run_kinds(setting: Setting) -> frozenset[Of]:
    """The kinds of runs that all workloads of a setting make."""
    kinds = {kind for workload in setting.workloads for kind in workload.run_kinds}
    return frozenset(kinds if setting.tls else kinds - {Of.ENCRYPTED_REQUESTS})


def _sharers(setting: Setting) -> int:
    """How many flows compete: those in the background only load the path for others."""
    return sum(flow.count for flow in setting.flows.values() if not flow.background)


def _shared(setting: Setting) -> Iterator[Of]:
    """What runs of flows that compete tell of all of them, or of some."""
    sharers = _sharers(setting)
    if sharers > 0:
        yield Of.FOREGROUND
    if sharers > 1:
        yield Of.COMPETING
    kinds = _run_kinds(setting)
    if Of.VIDEOS in kinds:
        yield Of.COMPETING_VIDEOS
    yield from kinds & {Of.CALLS, Of.PAGES, Of.PAINTED_PAGES}


def _is_of(setting: Setting, metric: str) -> bool:
    """Whether a metric is one of such workloads."""
    ranking = METRICS[metric].ranking
    if setting.flows:
        return metric in _OF_FLOWS or bool(ranking and ranking.of in _shared(setting))
    return ranking is None or ranking.of in {Of.ALL, *_run_kinds(setting)}
