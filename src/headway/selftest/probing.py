"""Measuring a path: one lab boot, two probes, and checks of what they saw."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from queue import SimpleQueue

import numpy as np

from headway.contract.counts import Counts
from headway.contract.orders import Change, Orders, Round
from headway.contract.probe_orders import RECORD, ProbeOrders
from headway.contract.program import Program
from headway.contract.text import dump
from headway.errors import HeadwayError
from headway.lab.cancel import Cancellation
from headway.lab.cores import free_core
from headway.lab.machine import Machine
from headway.lab.network import GLOBAL_SYSCTLS, two_hosts
from headway.overriding import override
from headway.selftest.carrying import CarriedPackets, access_alone, without_access
from headway.selftest.check import Check
from headway.selftest.coalescing import CoalescedFlow, CoalescedTransfer
from headway.selftest.counting import Counting
from headway.selftest.delay import OneWay, RoundTrip
from headway.selftest.ideal import NEVER, Course, Stage, directions, loses_most, planned_rates
from headway.selftest.linkcounts import judge_counts
from headway.selftest.mapping import MappedFlow, has_nat, latest_rebinding_ns, nat_alone
from headway.selftest.passing import (
    Passing,
    has_rules,
    judge_rule_counts,
    latest_rule_ns,
    rules_alone,
    without_rules,
)
from headway.selftest.rate import Depth, Standing, SteadyFlow
from headway.selftest.spans import MOST_BOUNDARIES
from headway.selftest.step import CheckStep
from headway.selftest.timed import LossChanges, Pulses, RateChanges, horizon_ns
from headway.selftest.timeline import RECORD_TYPE, Sight, Timeline
from headway.selftest.transfer import TRANSFER_BYTES, TcpTransfer
from headway.selftest.tunnelling import TunnelledTrains, has_tunnel, tunnels_alone
from headway.study.host import Host
from headway.study.kernel import Kernel
from headway.study.network import CLIENT, SERVER
from headway.study.path import Path as NetworkPath
from headway.study.path import Way
from headway.study.pathwords import path_title
from headway.study.rates import RandomRate
from headway.study.units import Duration

_RUN_PROBE = (
    "import sys; sys.path.insert(0, '/lab/code'); from headway.guest.probe import main; main()"
)
_RECORDS_BESIDE = 2000
_CPU_LIMIT = Duration(60 * 10**9)
_RATES_AHEAD_NS = 60 * 10**9
NO_COALESCING = Duration(0)

assert RECORD.size == RECORD_TYPE.itemsize


def measure_path(
    machine: Machine,
    path: NetworkPath,
    *,
    seed: int,
    directory: Path,
    cpu: int | None = None,
    cancellation: Cancellation | None = None,
    coalescing: Duration = NO_COALESCING,
) -> tuple[Check, ...]:
    """Measure a path from inside a lab, in virtual time.

    Args:
        machine: how labs are booted.
        path: the path.
        seed: seed of its random draws.
        directory: where the lab's files go.
        cpu: the core that the lab is pinned to; any if None.
        cancellation: ends the lab when it is turned on.
        coalescing: of both hosts. If there is any, that is what is measured, on a path with a rate and
            nothing random.

    Raises:
        HeadwayError: the lab or a probe failed, so that nothing was measured.
        Cancelled: the cancellation was turned on.
    """

    def measured(experiment: _Experiment, directory: Path) -> tuple[Check, ...]:
        directory.mkdir(parents=True, exist_ok=True)
        outcome = machine.boot(
            experiment.orders(directory),
            directory,
            seed=seed,
            cpu=cpu,
            cpu_limit=_CPU_LIMIT,
            cancellation=cancellation,
        )
        failed = next((ended.name for ended in outcome.ended if ended.exit_status != 0), None)
        if outcome.status != "ok" or failed:
            reason = outcome.reason or f"{failed} failed, see {directory / str(failed)}.err"
            raise HeadwayError(f"the self-test of {path_title(path)} could not be done: {reason}")
        sight = Sight(_records(directory, CLIENT), _records(directory, SERVER))
        return tuple(experiment.judge(sight, outcome.counts))

    if coalescing:
        return measured(_Coalescing(path, seed, coalescing), directory)
    checks = measured(_Emulation(without_access(without_rules(path)), seed), directory)
    if carriers := access_alone(path):
        checks += measured(_Trains(carriers, seed, CarriedPackets), directory / "access")
    if has_rules(path):
        checks += measured(_Rules(rules_alone(path), seed), directory / "rules")
    if has_tunnel(path):
        checks += measured(
            _Trains(tunnels_alone(path), seed, TunnelledTrains), directory / "tunnel"
        )
    if has_nat(path):
        checks += measured(_Nats(nat_alone(path), seed), directory / "nat")
    return tuple(check for check in checks if check.measured is not None or not loses_most(path))


def check_paths(
    machine: Machine,
    paths: Sequence[NetworkPath],
    *,
    seed: int,
    directory: Path,
    cores: Sequence[int] | None = None,
    on_path: Callable[[bool], None] = lambda _: None,
) -> tuple[Check, ...]:
    """Measure several paths, one lab per core at a time.

    Args:
        machine: how labs are booted.
        paths: the paths.
        seed: seed of their random draws.
        directory: where the labs' files go, a directory for each path.
        cores: cores to pin labs to; one lab at a time on any core if None.
        on_path: told after each path whether all its checks passed.

    Raises:
        HeadwayError: a lab or a probe failed.
    """
    free: SimpleQueue[int | None] = SimpleQueue()
    places: list[int | None] = [*cores] if cores else [None]
    for place in places:
        free.put(place)
    cancellation = Cancellation()

    def measure(number: int, path: NetworkPath) -> tuple[Check, ...]:
        core = free.get()
        try:
            with nullcontext() if core is None else free_core(core) as cpu:
                checks = measure_path(
                    machine,
                    path,
                    seed=seed,
                    directory=directory / f"path-{number:02d}",
                    cpu=cpu,
                    cancellation=cancellation,
                )
        finally:
            free.put(core)
        on_path(all(check.passed for check in checks))
        return checks

    try:
        with ThreadPoolExecutor(len(places)) as pool:
            pending = [pool.submit(measure, number, path) for number, path in enumerate(paths)]
            try:
                return tuple(check for done in pending for check in done.result())
            except BaseException:
                cancellation.cancel()
                pool.shutdown(cancel_futures=True)
                raise
    finally:
        cancellation.close()


class _Experiment(ABC):
    """The steps for one path, and the lab's orders that carry them out.

    The path's own time, which its changes refer to, begins when everything that does not change
    has been measured.
    """

    def __init__(
        self, path: NetworkPath, seed: int, horizon_ns: int, coalescing: Duration = NO_COALESCING
    ) -> None:
        self._horizon_ns = horizon_ns
        until = Duration(horizon_ns + 1)
        host = Host(program="probe", kernel=Kernel(coalescing=coalescing))
        self._network, self._leg = two_hosts(path, host, host, seed, until)
        self._timeline = Timeline(path_title(path), _courses(path, seed, NEVER))
        self._origin_ns = 0
        self._steps: list[CheckStep] = []

    def judge(self, sight: Sight, counts: Mapping[str, Counts]) -> Iterator[Check]:
        """Checks of what the probes saw, and of what links counted by the names of their queues' devices."""
        for step in self._steps:
            yield from step.judge(sight)
        by_way = {
            way: Counts.total(counts[place.queue_device] for place in self._leg.bottlenecks(way))
            for way in Way
        }
        yield from self._judge_counts(sight, by_way)

    @abstractmethod
    def _judge_counts(self, sight: Sight, by_way: Mapping[Way, Counts]) -> Iterator[Check]:
        """Checks of what the links counted."""

    def orders(self, directory: Path) -> Orders:
        """The lab's orders; those of the probes are written into the run's directory."""
        until_ns = max(self._timeline.now_ns, self._origin_ns + self._horizon_ns)
        until_ns += self._timeline.drain_ns()
        for name in (CLIENT, SERVER):
            text = dump(self._probe(name, until_ns))
            (directory / _orders_file(name)).write_text(text, encoding="utf-8")
        network = self._network
        return Orders(
            namespaces=network.namespaces,
            ip=network.ip,
            sysctls=GLOBAL_SYSCTLS,
            programs=tuple(_program(name) for name in (SERVER, CLIENT)),
            trace_links=network.trace_links,
            carrier_links=network.carrier_links,
            counted=network.counted,
            rounds=(Round(changes=self._changes()),),
            limit_ns=until_ns + 10**9,
        )

    def _changes(self) -> tuple[Change, ...]:
        return tuple(
            dataclasses.replace(change, at_ns=change.at_ns + self._origin_ns)
            for change in self._network.changes
        )

    def _probe(self, name: str, until_ns: int) -> ProbeOrders:
        network, timeline = self._network, self._timeline
        addresses = [self._leg.left_address, self._leg.right_address]
        own, peer = addresses if name == CLIENT else addresses[::-1]
        return ProbeOrders(
            device=next(ns.devices[0] for ns in network.namespaces if ns.name == name),
            address=own,
            peer=peer,
            flows=tuple(timeline.flows[Way.UP if name == CLIENT else Way.DOWN]),
            capacity=timeline.expected_records() + _RECORDS_BESIDE,
            transfer_at_ns=timeline.transfer_at_ns,
            transfer_span_ns=timeline.transfer_span_ns,
            transfer_bytes=TRANSFER_BYTES,
            connects=name == CLIENT,
            until_ns=until_ns,
            result=_records_file(name),
        )


class _Emulation(_Experiment):
    """All that a path does but for its rules."""

    def __init__(self, path: NetworkPath, seed: int) -> None:
        changing = _courses(path, seed, 0, _ahead_ns(path)).values()
        super().__init__(path, seed, max(horizon_ns(course) for course in changing))
        self._steps += [
            Counting(self._timeline),
            OneWay(self._timeline),
            RoundTrip(self._timeline),
            TcpTransfer(self._timeline),
            SteadyFlow(self._timeline),
            Depth(self._timeline),
            Standing(self._timeline),
        ]
        self._origin_ns = self._timeline.now_ns
        courses = _courses(path, seed, self._origin_ns, self._horizon_ns)
        self._timeline.changing = courses
        self._steps += [
            Pulses(self._timeline, courses),
            LossChanges(self._timeline, courses),
            RateChanges(self._timeline, courses),
        ]
        if any(len(stage.rates) > 1 for course in courses.values() for stage in course.stages):
            self._timeline.now_ns = max(self._timeline.now_ns, self._origin_ns + self._horizon_ns)
            self._steps.append(Depth(self._timeline))

    @override
    def _judge_counts(self, sight: Sight, by_way: Mapping[Way, Counts]) -> Iterator[Check]:
        return judge_counts(self._timeline.path, self._timeline.courses, sight, by_way)


class _Coalescing(_Experiment):
    """What hosts that coalesce see of a path with a rate and nothing random."""

    def __init__(self, path: NetworkPath, seed: int, coalescing: Duration) -> None:
        super().__init__(path, seed, 0, coalescing)
        self._steps += [
            CoalescedFlow(self._timeline, coalescing),
            CoalescedTransfer(self._timeline),
        ]

    @override
    def _judge_counts(self, sight: Sight, by_way: Mapping[Way, Counts]) -> Iterator[Check]:
        # Links count packets, of which hosts that coalesce see fewer.
        return iter(())


class _Rules(_Experiment):
    """A path's policers, MTUs and rules for UDP, with nothing else that could drop packets."""

    def __init__(self, path: NetworkPath, seed: int) -> None:
        super().__init__(path, seed, latest_rule_ns(path))
        passing = Passing(self._timeline)
        self._origin_ns = passing.origin_ns
        self._steps.append(passing)

    @override
    def _judge_counts(self, sight: Sight, by_way: Mapping[Way, Counts]) -> Iterator[Check]:
        return judge_rule_counts(self._timeline.path, sight, by_way)


class _Trains(_Experiment):
    """What spaces packets, with nothing else: a path's tunnels and rates, or its frames and demand."""

    def __init__(
        self, path: NetworkPath, seed: int, step: Callable[[Timeline, NetworkPath], CheckStep]
    ) -> None:
        super().__init__(path, seed, 0)
        self._steps.append(step(self._timeline, path))

    @override
    def _judge_counts(self, sight: Sight, by_way: Mapping[Way, Counts]) -> Iterator[Check]:
        return judge_rule_counts(self._timeline.path, sight, by_way)


class _Nats(_Experiment):
    """A path's NATs and delays."""

    def __init__(self, path: NetworkPath, seed: int) -> None:
        super().__init__(path, seed, latest_rebinding_ns(path))
        self._flow = MappedFlow(self._timeline, path)
        self._origin_ns = self._flow.origin_ns
        self._steps.append(self._flow)

    @override
    def _judge_counts(self, sight: Sight, by_way: Mapping[Way, Counts]) -> Iterator[Check]:
        return self._flow.judge_counts(sight, by_way)


def _courses(
    path: NetworkPath, seed: int, origin_ns: int, until_ns: int = _RATES_AHEAD_NS
) -> dict[Way, Course]:
    """The ideal path, its own time beginning at a time; one that begins never has its first rates."""
    return {way: Course(way, tuple(_stages(path, way, seed, origin_ns, until_ns))) for way in Way}


def _ahead_ns(path: NetworkPath) -> int:
    """How far ahead rates are looked at to find the first changes."""
    drawn = [d.rate for way in Way for d in directions(path, way) if isinstance(d.rate, RandomRate)]
    return max([_RATES_AHEAD_NS, *(MOST_BOUNDARIES * rate.every for rate in drawn)])


def _stages(
    path: NetworkPath, way: Way, seed: int, origin_ns: int, until_ns: int
) -> Iterator[Stage]:
    numbers = range(len(path.links))
    for number, direction in zip(
        numbers if way is Way.UP else reversed(numbers), directions(path, way), strict=True
    ):
        steps = planned_rates(direction, f"{seed}/link{number}-{way}", until_ns)
        rates = [(origin_ns + at if at > 0 else 0, rate) for at, rate in steps]
        yield Stage(
            direction, path.rtt, tuple(rates[:1] if origin_ns == NEVER else rates), origin_ns
        )


def _orders_file(name: str) -> str:
    return f"{name}.orders.json"


def _records_file(name: str) -> str:
    return f"{name}.packets"


def _program(name: str) -> Program:
    argv = ("python3", "-ISB", "-c", _RUN_PROBE, _orders_file(name))
    return Program(f"probe-{name}", name, argv)


def _records(directory: Path, name: str) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    return np.fromfile(directory / _records_file(name), RECORD_TYPE)
