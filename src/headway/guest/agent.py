"""The agent: carries out a lab's orders and writes its outcome."""

import heapq
import os
import signal
import subprocess
import time
from collections.abc import Callable

from headway.contract.orders import (
    CAPTURE_BUFFER_MIB,
    ORDERS_FILE,
    OUTCOME_FILE,
    Change,
    Ended,
    Orders,
    Outcome,
    Program,
    Round,
    Spins,
    dump,
    load,
)
from headway.guest import process
from headway.guest.body import digest
from headway.guest.counters import DirectionCounter
from headway.guest.migration import migrate, time_to_migration
from headway.guest.mounts import RUN_DIRECTORY, Views, write_file
from headway.guest.network import Network
from headway.guest.pings import ping
from headway.guest.process import ProgramError
from headway.guest.qlogs import take_qlogs
from headway.guest.sampler import Sampler
from headway.guest.spins import in_words, spins_since, spins_so_far
from headway.guest.tracelink import start_trace_link
from headway.guest.udpdrops import UdpDrops

_FINISH_LIMIT_NS = 5 * 10**9
_POLL_NS = 10_000_000
_CAPTURE_FLUSH_S = 1.5


class Lab:
    """One boot's network, programs and clockwork."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._network = Network(orders)
        self._services: dict[int, Program] = {}
        self._captures: list[int] = []
        self._tc: dict[str, subprocess.Popen[str]] = {}
        self._pings_ns: tuple[int | None, ...] = ()
        self._spun = Spins(0, 0)
        self._udp_drops = UdpDrops(orders, self._network)
        self._begin_round(orders.rounds[0])

    def run(self) -> None:
        """Start everything, carry out the workload, end everything; outcomes are in files."""
        try:
            self._prepare()
            if self._orders.pings:
                self._pings_ns = ping(self._orders.pings, self._network)
            for number, one in enumerate(self._orders.rounds):
                if number:
                    self._begin_round(one)
                    self._await_services()
                self._network.renew(one.tc)
                self._schedule()
                status, reason = self._until_done()
                self._conclude(status, reason)
        except ProgramError as error:
            self._conclude("failed", str(error))
        self._finish()

    def _begin_round(self, one: Round) -> None:
        """Forget what came of the round before."""
        self._round = one
        self._directory = _directory(one)
        os.makedirs(self._directory, exist_ok=True)
        self._workload: dict[int, Program] = {}
        self._helpers: set[int] = set()
        self._ended: list[Ended] = []
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._sampler: Sampler | None = None
        self._counters: dict[str, DirectionCounter] = {}
        self._migrated_ns: int | None = None
        self._began_ns = 0

    def _conclude(self, status: str, reason: str | None) -> None:
        """End a round, and write its outcome, whole or not at all."""
        duration_ns = self._now() if self._began_ns else 0
        counts = {name: counter.read() for name, counter in self._counters.items()}
        if self._sampler:
            self._sampler.sample(self._now())
            self._sampler.close()
        process.end([*self._workload, *self._helpers], signal.SIGKILL)
        if self._directory != RUN_DIRECTORY:
            take_qlogs(RUN_DIRECTORY, self._directory)
        spun = spins_since(self._spun)
        self._spun = spins_so_far()
        outcome = Outcome(
            status,
            None if reason is None else reason + in_words(spun),
            duration_ns,
            os.uname().release,
            tuple(self._ended),
            self._migrated_ns,
            tuple(digest(path) for path in self._orders.bodies if os.path.exists(path)),
            self._pings_ns,
            counts,
            spun,
            self._udp_drops.since(),
        )
        file = f"{self._directory}/{OUTCOME_FILE}"
        with open(f"{file}.new", "w") as new:
            new.write(dump(outcome))
        os.rename(f"{file}.new", file)

    def _now(self) -> int:
        return time.monotonic_ns() - self._began_ns

    def _prepare(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        for path, text in self._orders.files.items():
            write_file(path, text)
        self._views = Views(self._orders.views)
        changes = [change for one in self._orders.rounds for change in one.changes]
        for namespace in dict.fromkeys(change.namespace for change in changes):
            self._tc[namespace] = self._open_tc(namespace)
        process.drop_privileges_of_children(self._orders.allowed)
        for capture in self._orders.captures:
            self._captures.append(
                self._start_capture(capture.namespace, capture.device, capture.file)
            )
        for program in self._orders.programs:
            if program.service:
                self._services[self._started(program, RUN_DIRECTORY)] = program
        self._await_services()

    def _open_tc(self, namespace: str) -> "subprocess.Popen[str]":
        with self._network.inside(namespace):
            return subprocess.Popen(["tc", "-batch", "-"], stdin=subprocess.PIPE, text=True)

    def _start_capture(self, namespace: str, device: str, file: str) -> int:
        kept = ("-B", str(CAPTURE_BUFFER_MIB * 1024), "-w", f"{RUN_DIRECTORY}/{file}")
        argv = ("tcpdump", "-Z", "root", "-i", device, "--nano", *kept)
        return process.start(Program(f"tcpdump-{device}", namespace, argv), self._network)

    def _await_services(self) -> None:
        began_ns = time.monotonic_ns()
        for program in list(self._services.values()):
            for sign in program.listens:
                while not process.is_ready(sign, self._network, program.namespace):
                    if time.monotonic_ns() > began_ns + program.ready_within_ns:
                        raise ProgramError(f"{program.name} did not open {sign}")
                    self._wait(_POLL_NS)

    def _schedule(self) -> None:
        grid_ns = self._orders.start_grid_ns
        start_ns = (time.monotonic_ns() // grid_ns + 1) * grid_ns + self._round.start_after_ns
        self._began_ns = start_ns
        traces = {
            link.name: start_trace_link(link, self._network, start_ns)
            for link in self._orders.trace_links
        }
        self._helpers |= {trace.pid for trace in traces.values()}
        self._counters = {
            one.name: DirectionCounter(one, self._network, traces.get(one.trace))
            for one in self._orders.counted
        }
        for change in self._round.changes:
            self._at(change.at_ns, lambda c=change: self._change(c))  # type: ignore[misc]
        if self._orders.sampling:
            self._sampler = Sampler(self._orders.sampling, self._network, self._directory)
            self._at(0, self._sample)
        if self._orders.migration:
            self._at(0, self._migrate_when_due)
        for program in self._orders.programs:
            if not program.service:
                self._at(program.at_ns, lambda p=program: self._start(p))  # type: ignore[misc]

    def _at(self, at_ns: int, action: Callable[[], None]) -> None:
        heapq.heappush(self._events, (at_ns, len(self._events), action))

    def _start(self, program: Program) -> None:
        self._workload[self._started(program, self._directory)] = program

    def _started(self, program: Program, directory: str) -> int:
        with self._views.inside(program.namespace):
            return process.start(program, self._network, directory)

    def _change(self, change: Change) -> None:
        if change.line in self._counters:
            self._counters[change.line].turn(change.blackout)
        pipe = self._tc[change.namespace].stdin
        assert pipe is not None
        pipe.write(f"{change.tc}\n")
        pipe.flush()

    def _sample(self) -> None:
        assert self._sampler is not None
        now = self._now()
        self._sampler.sample(now)
        self._at(self._sampler.next_after(now), self._sample)

    def _migrate_when_due(self) -> None:
        migration = self._orders.migration
        assert migration is not None
        wait_ns = time_to_migration(migration, self._network)
        if wait_ns:
            self._at(self._now() + wait_ns, self._migrate_when_due)
            return
        self._migrated_ns = self._now()
        migrate(migration, self._network)
        for pid, program in self._workload.items():
            if program.migration_signal:
                os.kill(pid, program.migration_signal)

    def _until_done(self) -> tuple[str, str | None]:
        waiting = sum(not program.service for program in self._orders.programs)
        while len(self._ended) < waiting:
            now = self._now()
            if now >= self._orders.limit_ns:
                return "timeout", f"the limit of {self._orders.limit_ns / 1e9:g} s was reached"
            if self._events and self._events[0][0] <= now:
                heapq.heappop(self._events)[2]()
                continue
            until = min(self._orders.limit_ns, self._events[0][0] if self._events else 2**62)
            self._wait(until - now)
        return "ok", None

    def _wait(self, span_ns: int) -> None:
        """Sleep until a child ends or the span is over."""
        if signal.sigtimedwait({signal.SIGCHLD}, span_ns / 1e9) is None:
            return
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._reap(pid, process.exit_status(status))

    def _reap(self, pid: int, status: int) -> None:
        if program := self._workload.pop(pid, None):
            self._ended.append(Ended(program.name, status, self._now(), program.namespace))
        elif program := self._services.pop(pid, None):
            said = process.last_words(program.name, self._views.directory(program.namespace))
            raise ProgramError(f"{program.name} ended early, {_how(status)}{said}")
        elif pid in self._helpers or pid in self._captures:
            raise ProgramError(f"a capture or trace link ended early, {_how(status)}")

    def _finish(self) -> None:
        if self._captures:
            # tcpdump forgets the packets that the kernel has not handed over yet; it does so
            # once a second.
            time.sleep(_CAPTURE_FLUSH_S)
        process.end(self._captures, signal.SIGTERM)
        for pid in self._captures:
            os.waitpid(pid, 0)
        self._await_finishing()
        process.end([*self._services], signal.SIGKILL)

    def _await_finishing(self) -> None:
        finishing = {pid for pid, program in self._services.items() if program.finishes}
        process.end([*finishing], signal.SIGTERM)
        give_up = time.monotonic_ns() + _FINISH_LIMIT_NS
        while finishing and (left_ns := give_up - time.monotonic_ns()) > 0:
            signal.sigtimedwait({signal.SIGCHLD}, left_ns / 1e9)
            ended = {pid for pid in finishing if os.waitpid(pid, os.WNOHANG)[0]}
            finishing -= ended
            for pid in ended:
                del self._services[pid]


def _how(status: int) -> str:
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"with exit status {status}"


def _directory(one: Round) -> str:
    return f"{RUN_DIRECTORY}/{one.directory}" if one.directory else RUN_DIRECTORY


def run() -> None:
    """Carry out the orders in the boot's directory."""
    with open(f"{RUN_DIRECTORY}/{ORDERS_FILE}") as file:
        orders = load(Orders, file.read())
    Lab(orders).run()
