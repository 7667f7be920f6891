"""Sources of senders' states: qlog, compact traces, and what the kernel says of its TCP."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from pathlib import Path

from headway.contract.samples import TcpInfo
from headway.diagnosis.nativetrace import SUFFIX, read_native_trace
from headway.diagnosis.qlog import read_qlog, read_quic_traces
from headway.diagnosis.qlog_account import read_qlog_account
from headway.diagnosis.qlog_trace import QuicTrace
from headway.diagnosis.rampup import bottleneck
from headway.diagnosis.samples import Samples, read_samples
from headway.diagnosis.segment import begins_s, connection_of
from headway.diagnosis.sender import Phase, is_filling, tcp_sender
from headway.diagnosis.transfer import SampledSegment, Transfer
from headway.errors import HeadwayError, WrongInputError, counted
from headway.foreign.kinds.documents import QLOG
from headway.foreign.kinds.refusing import check_kind
from headway.instruments.states.statepath import (
    INITIAL,
    MachineKind,
    StatePath,
    state_name,
    visits_of,
)

_CA_STATES = {1: "Disorder", 2: "Cwr", 3: "Recovery", 4: "Loss"}
"""Of enum tcp_ca_state (linux/tcp.h); 0 is Open, which says nothing of the window."""
_UNIT = 256
"""BBR's gain of 1."""


def read_state_file(file: Path) -> list[StatePath]:
    """The states in a qlog file of any program, or in a compact trace of Headway's own.

    Raises:
        WrongInputError: it is neither, or tells no states.
    """
    if file.suffix != SUFFIX:
        check_kind(file, "a qlog file", QLOG)
    try:
        paths = [_native(file)] if file.suffix == SUFFIX else _logged(file)
    except OSError as error:
        raise WrongInputError(f"cannot be read: {error.strerror}", where=str(file)) from None
    except WrongInputError:
        raise
    except HeadwayError as error:
        raise WrongInputError(str(error).removeprefix(f"{file} "), where=str(file)) from None
    if not paths:
        raise WrongInputError(_without_states(file), where=str(file))
    return paths


def _without_states(file: Path) -> str:
    """What a file holds that tells no states."""
    if file.suffix == SUFFIX:
        return "tells no states"
    account = read_qlog_account(file)
    if not account.events:
        return f"is {account.kind} without a whole event that says its time"
    if account.state_changes:
        return (
            f"is {account.kind}, and {counted(account.state_changes, 'event')} of changed states name no state "
            "that was entered (new)"
        )
    return (
        f"is {account.kind} and has no event congestion_state_updated or connection_state_updated among "
        f"{counted(account.events, 'event')}: its program logs no states, or not at this level"
    )


def _native(file: Path) -> StatePath:
    rows = read_native_trace(file).rows
    changes = rows.filter(rows["from_state"].is_not_null())
    entered = list(zip(changes["at_s"], changes["state"], strict=True))
    first = [(rows["at_s"][0], changes["from_state"][0])] if entered else []
    visits = visits_of([*first, *entered], rows["at_s"][-1] if len(rows) else 0.0)
    return StatePath(file.stem, MachineKind.CONGESTION, "hwtrace", visits)


def _logged(file: Path) -> list[StatePath]:
    traces = read_qlog(file, file.stem)
    return [path for trace in traces for path in paths_of(trace, 0.0)]


def paths_of(trace: QuicTrace, begins_at_s: float) -> list[StatePath]:
    """The states that a trace tells of, of each machine.

    Args:
        trace: what a program logged.
        begins_at_s: when the trace begins, on the clock that is wanted.
    """
    if not trace.points:
        return []
    end_s = begins_at_s + trace.points[-1].at_s
    state_paths = []
    for machine in MachineKind:
        state_changes = [change for change in trace.states if change.machine == machine]
        if not state_changes:
            continue
        entered = [
            (begins_at_s + state_change.at_s, state_name(state_change.after))
            for state_change in state_changes
        ]
        first = state_name(state_changes[0].before) if state_changes[0].before else INITIAL
        visits = visits_of([(begins_at_s, first), *entered], end_s)
        state_paths.append(StatePath(trace.host, machine, "qlog", visits))
    return state_paths


def run_state_paths(run_directory: Path, transfer: Transfer) -> list[StatePath]:
    """How the senders in front of a run's narrowest link went through their states while it ran.

    Args:
        run_directory: of a run or a flow.
        transfer: of the same.
    """
    if transfer.end_s is None or not transfer.segments:
        return []
    segment = transfer.segments[bottleneck(transfer.segments)[0]]
    samples = read_samples(run_directory)
    if any(sample.tcp.get(segment.sender) for sample in samples.taken):
        paths = list(_tcp_paths(samples, segment.sender, _earlier(samples, segment, transfer)))
    else:
        paths = [
            path
            for trace in read_quic_traces(run_directory)
            if trace.host == segment.sender and trace.vantage == "server"
            for path in paths_of(trace, begins_s(trace, segment, samples))
            if path.machine is MachineKind.CONGESTION
        ]
    during = (path.between(transfer.began_s, transfer.end_s) for path in paths)
    return [path for path in during if path.visits]


def _earlier(samples: Samples, segment: SampledSegment, transfer: Transfer) -> Collection[Hashable]:
    """Connections of an earlier load of the same page, which may still be there."""
    if transfer.page is None or segment is not transfer.segments[0] or not samples.taken:
        return ()
    return {connection_of(info) for info in samples.taken[0].tcp.get(segment.sender, ())}


def _tcp_paths(samples: Samples, host: str, without: Collection[Hashable]) -> Iterator[StatePath]:
    entered: dict[Hashable, list[tuple[float, str]]] = {}
    last_s: dict[Hashable, float] = {}
    for sample in samples.taken:
        for info in sample.tcp.get(host, ()):
            connection = connection_of(info)
            if connection not in without:
                entered.setdefault(connection, []).append((sample.at_s, tcp_state(info)))
                last_s[connection] = sample.at_s
    for connection, changes in entered.items():
        visits = visits_of(changes, last_s[connection])
        yield StatePath(host, MachineKind.CONGESTION, "tcp_info", visits, sampled=True)


def tcp_state(info: TcpInfo) -> str:
    """The state of Linux's TCP: of its recovery, or if that is open, of its window.

    The names are those of QUIC's states where they mean the same. Loss is Linux's for what follows a
    retransmission time-out.
    """
    if info.ca_state in _CA_STATES:
        return _CA_STATES[info.ca_state]
    if not info.data_segs_out:
        return INITIAL
    if info.cwnd_gain:
        return _bbr_mode(info)
    sender = tcp_sender(info)
    slow = sender.phase is Phase.SLOW_START
    if not sender.full and not (slow and is_filling(sender.cwnd_bytes, sender.in_flight_bytes)):
        return "ApplicationLimited"
    return "SlowStart" if slow else "CongestionAvoidance"


def _bbr_mode(info: TcpInfo) -> str:
    """By the gains that Linux's BBR has in its modes (net/ipv4/tcp_bbr.c): 2.89 and 2.89, 0.35 and 2.89, 1 and 1."""
    if info.cwnd_gain > 2 * _UNIT:
        return "Startup" if info.pacing_gain > _UNIT else "Drain"
    return "ProbeRtt" if info.cwnd_gain == _UNIT else "ProbeBw"
