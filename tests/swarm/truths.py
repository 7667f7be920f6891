"""What must be true of any run, whatever was drawn: safety first, then liveness."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from headway.columns import TransferLimits
from tests.swarm.carrying import Trial
from tests.swarm.drawing import Tables

_CAUSES = [name for name in TransferLimits.model_fields if name.endswith("_s")]
_SLACK_S = 0.1
"""Of causes beside the time that they explain: a sample."""
_HARMLESS = frozenset(
    ("rate", "rtt", "delay", "queue", "jitter", "jitter_distribution", "down", "up")
)
"""Keys of a path that keep no packet from arriving, but for what a queue drops."""

Truth = Callable[[Tables, Trial], Iterator[str]]


def violations(tables: Tables, trial: Trial) -> list[str]:
    """Sentences on what is wrong; none if all is as it must be."""
    return [sentence for truth in TRUTHS for sentence in truth(tables, trial)]


def no_defects(_tables: Tables, trial: Trial) -> Iterator[str]:
    """Nothing in Headway fails: a setting is refused in a line, or its run becomes a record, the same in other surroundings."""
    if trial.fault:
        yield trial.fault
    if "\n" in trial.refusal or "Traceback" in trial.refusal:
        yield f"a refusal is no line: {trial.refusal}"


def ends_with_a_reason(_tables: Tables, trial: Trial) -> Iterator[str]:
    """A run is ok, or says why not."""
    record = trial.record
    if record and record.status != "ok" and not record.error:
        yield f"is {record.status} without a reason"
    if record and record.status == "ok" and record.error:
        yield f"is ok, and has the error {record.error!r}"


def whole_bodies(tables: Tables, trial: Trial) -> Iterator[str]:
    """What came is as long as what was asked for."""
    record, workload = trial.record, tables.get("workload", {})
    if not record or record.status != "ok" or "flows" in tables or not trial.run:
        return
    if workload.get("kind") in ("download", "parallel", "migration"):
        amount = trial.run.setting.workload.amount
        asked = (amount or 0) * workload.get("count", 1)
        if record.bytes != asked:
            yield f"{record.bytes} bytes came of {asked}"


def causes_add_up(tables: Tables, trial: Trial) -> Iterator[str]:
    """What limited a transfer adds up to its time."""
    record = trial.record
    if not record or record.status != "ok" or record.total_s is None or "flows" in tables:
        return
    causes = [getattr(record, name) for name in _CAUSES if getattr(record, name) is not None]
    if causes and abs(sum(causes) - record.total_s) > _SLACK_S + record.total_s / 100:
        yield f"causes add up to {sum(causes):.3f} s of {record.total_s:.3f} s"


def sound_numbers(_tables: Tables, trial: Trial) -> Iterator[str]:
    """No count and no time is below zero, and nothing came earlier than light allows: the path's round trip."""
    record = trial.record
    if not record:
        return
    for name, value in record.model_dump().items():
        is_count = name.endswith(("_s", "_bytes", "_down", "_up", "_mbit", "_share", "_pct"))
        if is_count and isinstance(value, int | float) and value < 0:
            yield f"{name} is {value}"
    if (
        record.status == "ok"
        and record.total_s
        and record.ttfb_s
        and record.ttfb_s > record.total_s + 1e-6
    ):
        yield f"the first byte came at {record.ttfb_s} s, and the last at {record.total_s} s"


def lives(tables: Tables, trial: Trial) -> Iterator[str]:
    """Where nothing is lost but by full queues, a transfer ends well."""
    record = trial.record
    if not record or record.status == "ok" or not _is_gentle(tables):
        return
    yield f"nothing disturbs it, and it is {record.status}: {record.error}"


def _is_gentle(tables: Tables) -> bool:
    return (
        not {"fault", "flows", "discovery", "dns", "dual_stack"} & tables.keys()
        and tables.get("workload", {}).get("kind") not in ("migration", "call", "page")
        and all(_is_gentle_path(path) for path in _paths(tables))
    )


def _paths(value: object, name: str = "") -> Iterator[Tables]:
    """Every path of a setting."""
    if isinstance(value, dict):
        if name in ("path", "second_path", "access"):
            yield value
        for key, inner in value.items():
            yield from _paths(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _paths(inner, name)


def _is_gentle_path(path: Tables) -> bool:
    ways = [path, path.get("down", {}), path.get("up", {})]
    return all(way.keys() <= _HARMLESS for way in ways)


TRUTHS: tuple[Truth, ...] = (
    *(no_defects, ends_with_a_reason, whole_bodies, causes_add_up),
    *(sound_numbers, lives),
)
