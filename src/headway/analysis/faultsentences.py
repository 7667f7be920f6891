"""Costs of single faults, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.analysis.analysis import Analysis
from headway.analysis.faultcosts import FaultCost, Sweep, sweeps
from headway.analysis.metric import Metric
from headway.analysis.numbers import listed, percent
from headway.errors import counted
from headway.statistics.pairs import fewest_pairs
from headway.study.fault import Fault
from headway.study.path import Way

TYPICAL_LOSS = 0.01
"""Share of packets for which the cost of single losses is added up."""
_EXACT_S = 1e-9
"""Costs that differ by less are the same in every run."""
_MOST_FATAL = 4
_SHOWN = 90
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def fault_sentences(analysis: Analysis) -> tuple[str, ...]:
    """What faults cost each contender in each cell, those first that do worst."""
    result = sorted(sweeps(analysis), key=_badness, reverse=True)
    return tuple(". ".join(_sentences(analysis, sweep)) + "." for sweep in result)


def _badness(sweep: Sweep) -> tuple[int, float]:
    return len(sweep.fatal), sweep.worst.median if sweep.worst else 0.0


def _sentences(analysis: Analysis, sweep: Sweep) -> Iterator[str]:
    where = f", {sweep.title}" if sweep.title else ""
    head = f"{sweep.contender}{where}: {_too_few(sweep)}"
    if not sweep.costs:
        yield f"{head}the fault could happen to none of {counted(sweep.unmet, 'packet')}, so nothing is known"
        return
    if sweep.fatal:
        yield head + _fatal(sweep.fatal)
        head = "Else "
    if worst := sweep.worst:
        text = analysis.metric.text
        yield (
            f"{head}{counted(len(sweep.survived), 'packet')} tried one by one: the worst costs "
            f"{signed(analysis.metric, worst.median)} ({position(worst.fault)} {_done(worst)}), the mean "
            f"{signed(analysis.metric, sweep.mean or 0.0)}; without a fault it takes {text(sweep.without)}"
        )
    if sweep.strayed:
        yield (
            f"It does not repeat exactly: before {counted(sweep.strayed, 'fault')} of {len(sweep.costs)} its packets "
            "differed from those without a fault, so numbers do not name the same packets, and costs are chance"
        )
    if sweep.unmet:
        yield f"To {counted(sweep.unmet, 'other packet')} the fault could not happen"
    expected = sweep.expected(TYPICAL_LOSS)
    if expected is not None:
        yield (
            f"With {TYPICAL_LOSS * 100:g} % of these packets lost by chance, single losses that it survives add "
            f"{signed(analysis.metric, expected)} in the mean{_dying(sweep)}"
        )


def _too_few(sweep: Sweep) -> str:
    """That costs vary by chance, and of how few runs they are; empty of exact ones, and of enough."""
    runs = max((len(cost.costs) for cost in sweep.survived), default=0)
    varies = any(
        max(cost.costs) - min(cost.costs) > _EXACT_S for cost in sweep.survived if cost.costs
    )
    if not varies or runs >= fewest_pairs():
        return ""
    return f"too few runs to be sure ({runs} of each fault; it takes {fewest_pairs()}): "


def _dying(sweep: Sweep) -> str:
    """How many transfers single losses would end."""
    return (
        f", and {percent(TYPICAL_LOSS * len(sweep.fatal))} of transfers fail" if sweep.fatal else ""
    )


def _fatal(fatal: Sequence[FaultCost]) -> str:
    """Which faults a run does not survive, and of what it dies."""
    shown = [
        f"{position(fault_cost.fault)} {_done(fault_cost)}" for fault_cost in fatal[:_MOST_FATAL]
    ]
    if left := len(fatal) - len(shown):
        shown.append(f"{left} more")
    return f"fails if {listed(shown, 'or')} ({fatal[0].reason})"


def _done(fault_cost: FaultCost) -> str:
    carried = (
        fault_cost.carried
        if len(fault_cost.carried) <= _SHOWN
        else f"{fault_cost.carried[:_SHOWN]}\u2026"
    )
    return f"{fault_cost.fault.kind.done} ({carried})" if carried else fault_cost.fault.kind.done


def signed(metric: Metric, cost: float) -> str:
    """A cost with its sign: ``+0.62 s``."""
    text = metric.text(cost)
    return text if cost < 0 else f"+{text}"


def position(fault: Fault) -> str:
    """``the 3rd packet towards the client``."""
    numbers = listed([ordinal(number) for number in fault.packets])
    whom = "client" if fault.direction is Way.DOWN else "server"
    return f"the {numbers} packet towards the {whom}"


def ordinal(number: int) -> str:
    """``3rd``, ``11th``."""
    teens = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teens else _ENDINGS.get(number % 10, 'th')}"
