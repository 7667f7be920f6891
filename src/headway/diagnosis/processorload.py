"""Loads of hosts' processors, from sample to sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from headway.diagnosis.samples import Sample


@dataclass(frozen=True)
class ProcessorLoad:
    """How busy a host's processor was.

    Attributes:
        host: its name.
        at_s: ends of the spans, seconds from the workload's start.
        share: of each span in which it was busy, 0 to 1; of several cores the busiest.
    """

    host: str
    at_s: tuple[float, ...]
    share: tuple[float, ...]


def processor_loads(samples: Sequence[Sample]) -> tuple[ProcessorLoad, ...]:
    """Of each host that has one, in the order of the samples."""
    hosts = dict.fromkeys(host for sample in samples for host in sample.processors)
    return tuple(_load(host, samples) for host in hosts)


def _load(host: str, samples: Sequence[Sample]) -> ProcessorLoad:
    spans = list(_spans(host, samples))
    return ProcessorLoad(host, tuple(at_s for at_s, _ in spans), tuple(value for _, value in spans))


def _spans(host: str, samples: Sequence[Sample]) -> Iterator[tuple[float, float]]:
    for before, after in pairwise(samples):
        span_ns = (after.at_s - before.at_s) * 1e9
        if span_ns <= 0:
            continue
        cores = zip(before.processors[host].busy_ns, after.processors[host].busy_ns, strict=True)
        yield after.at_s, max((last - first) / span_ns for first, last in cores)
