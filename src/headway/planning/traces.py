"""Traces of a study's paths: what they hold, and whether their queues have room for their bursts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headway.planning.deployment import Deployment
from headway.planning.runs import Run
from headway.study.path import Direction, Path
from headway.study.queue import FRAME_BYTES
from headway.study.rates import TraceRate
from headway.study.setting import Setting
from headway.study.units import Duration, Rate, Size


def trace_lines(runs: Iterable[Run]) -> tuple[str, ...]:
    """A sentence on every trace of the paths of runs, with the queue before it."""
    settings = {id(run.setting): run.setting for run in runs}.values()
    lines = (_line(rate, way, path) for setting in settings for path, way, rate in _traced(setting))
    return tuple(dict.fromkeys(lines))


def short_queues(deployment: Deployment) -> Iterator[str]:
    """Queues that hold fewer packets than a trace lets pass at once."""
    for path, way, rate in _traced(deployment.setting):
        best, size = rate.best(path.rtt), way.queue_bytes(path.rtt)
        if best and size is not None and size < best.burst_bytes:
            yield (
                f"the queue of {Size(size)} before trace {rate.trace} holds {size // FRAME_BYTES} packets, and "
                f"{best.burst_bytes // FRAME_BYTES} may pass at once: most of such a burst finds nothing to carry. Leave "
                "path.queue out, or state a larger one"
            )


def _traced(setting: Setting) -> Iterator[tuple[Path, Direction, TraceRate]]:
    for path in setting.network.paths:
        for link in path.links:
            for way in (link.down, link.up):
                if isinstance(way.rate, TraceRate) and way.rate.opportunities_ms:
                    yield path, way, way.rate


def _line(rate: TraceRate, way: Direction, path: Path) -> str:
    account = rate.account
    assert account is not None
    mean, highest = Rate(account.mean_bit_per_s), Rate(account.highest_bit_per_s)
    length, gap, first = (
        Duration(ms * 10**6) for ms in (account.length_ms, account.longest_gap_ms, account.first_ms)
    )
    return (
        f"Trace {rate.trace}: {mean} in the mean over {length}, at most {highest} over a second; longest gap {gap}, first "
        f"opportunity after {first}, up to {account.largest_burst} packets at once; queue {Size(way.queue_bytes(path.rtt) or 0)}."
    )
