"""Keys that a study states where no run has what they act on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from headway.planning.runs import Run
from headway.planning.stated_part import StatedPart, without_effect
from headway.study.clock import Clock
from headway.study.dns import Dns
from headway.study.host import Protocol
from headway.study.requestseries import RequestSeries
from headway.study.setting import Setting


@dataclass(frozen=True)
class _IdleKey:
    """A key, or keys of one table, that another value of a run leaves without effect.

    Attributes:
        keys: those that a setting states.
        acts: whether they do something in a setting that states them.
        lacking: why they do not.
    """

    keys: Callable[[Setting], Iterable[str]]
    acts: Callable[[Setting], bool]
    lacking: str


def _stated(key: str, is_stated: Callable[[Setting], object]) -> Callable[[Setting], list[str]]:
    return lambda setting: [key] if is_stated(setting) else []


def _of_resolver(*names: str) -> Callable[[Setting], list[str]]:
    usual = {name: field.default for name, field in Dns.model_fields.items()}
    return lambda setting: [
        f"dns.{name}" for name in names if setting.dns and getattr(setting.dns, name) != usual[name]
    ]


def _has_tls(setting: Setting) -> bool:
    parts = [*(setting.flows.values() or [setting]), *setting.origins.values()]
    return any(
        part.protocol.over_quic or (part.tls and part.protocol not in (Protocol.TCP, Protocol.UDP))
        for part in parts
    )


def _idle_cores(setting: Setting) -> Iterator[str]:
    for key, host in setting.tables:
        processor = host.kernel.processor
        if processor and processor.cores > 1 and not (processor.costs or processor.computing):
            yield f"{key}.kernel.processor.cores"


def _idle_users(setting: Setting) -> Iterator[str]:
    for workload in setting.workloads:
        if (
            isinstance(workload, RequestSeries)
            and workload.users
            and workload.users > workload.count
        ):
            yield "workload.users"


_ROWS = (
    _IdleKey(
        _of_resolver("delay", "ttl", "cname", "https", "drops"),
        lambda setting: not (setting.dns and setting.dns.silent),
        "the resolver is silent",
    ),
    _IdleKey(
        _of_resolver("cname", "https"),
        lambda setting: not (setting.dns and setting.dns.unknown),
        "the resolver knows no name",
    ),
    _IdleKey(
        _stated("rewrite_calls", lambda setting: not setting.rewrite_calls),
        lambda setting: setting.clock is Clock.VIRTUAL,
        'calls are replaced with clock = "virtual" alone',
    ),
    _IdleKey(
        _stated("certificate_chain", lambda setting: setting.certificate_chain),
        _has_tls,
        "no run has TLS",
    ),
    _IdleKey(
        _stated("capture.secrets", lambda setting: setting.capture.secrets),
        _has_tls,
        "no run has TLS",
    ),
    _IdleKey(
        _idle_cores,
        lambda _: False,
        "nothing takes time of this processor: state a profile, or costs",
    ),
    _IdleKey(
        _idle_users,
        lambda _: False,
        "there are fewer requests than users, and some of them make none",
    ),
)


def idle_keys(runs: Iterable[Run]) -> Iterator[str]:
    """Keys that do nothing in any run that states them."""
    return without_effect(
        StatedPart(key, row.acts(run.setting), row.lacking)
        for run in runs
        for row in _ROWS
        for key in row.keys(run.setting)
    )
