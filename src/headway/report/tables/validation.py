"""Validation: what control pings, captures and counters tell of the paths, beside what was configured."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from headway.analysis.numbers import significant
from headway.analysis.validated import Validated
from headway.diagnosis.validation.judge import (
    CONTROL_LOSS,
    CONTROL_RTT,
    LEAST_DELAY,
    LINK_RATE,
    LOSS,
    STEADY_GOODPUT,
)
from headway.errors import counted
from headway.report.section import Section
from headway.report.tables.kind import TableKind
from headway.report.tables.table import NONE, Table
from headway.selftest.check import Check

FILE = "validation.csv"


def validation_table(validations: Sequence[Validated]) -> Table:
    """A row for each contender in each cell: configured and measured values, and a verdict."""
    several = len({validated.experiment for validated in validations}) > 1
    return Table(
        headings=(
            *(("experiment",) if several else ()),
            *("cell", "contender", "verdict", "runs"),
            *("RTT [ms]", "pinged [ms]", "pings lost"),
            *("delay down [ms]", "fastest [ms]", "loss down [%]", "lost [%]"),
            *("link used [%]", "goodput [% of payload rate]"),
        ),
        rows=tuple(
            (
                (
                    *((validated.experiment,) if several else ()),
                    validated.title or "all",
                    *_row(validated),
                ),
            )
            for validated in validations
        ),
        labels=4 if several else 3,
    )


def failed_checks_table(validations: Sequence[Validated]) -> Table:
    """Every check that failed; no rows if all passed."""
    return Table(
        headings=("of", "checked", "between", "configured", "measured", "allowed", "how"),
        rows=tuple(
            (
                (
                    *(validated.place, check.name, check.path),
                    f"{_number(check.expected)} {check.unit}",
                    f"{_number(check.measured)} {check.unit}",
                    f"{check.bounds()} {check.unit}",
                    check.note,
                ),
            )
            for validated in validations
            for check in validated.failed
        ),
        labels=7,
    )


def _row(validated: Validated) -> tuple[str, ...]:
    failed = f"{len(validated.failed)} of {counted(len(validated.checks), 'check')} failed"
    verdict = failed if validated.failed else "as configured"
    rtt, lost = _named(validated, CONTROL_RTT), _named(validated, CONTROL_LOSS)
    delays, losses = _named(validated, f"{LEAST_DELAY} down"), _named(validated, f"{LOSS} down")
    return (
        *(validated.contender, verdict, str(validated.runs)),
        *_sums(rtt),
        lost[0].note.split(" round")[0] if lost else NONE,
        *_sums(delays),
        *_losses(losses),
        *(_used(_named(validated, name)) for name in (LINK_RATE, STEADY_GOODPUT)),
    )


def _named(validated: Validated, name: str) -> list[Check]:
    """Checks of this name; where connections are split, there is one for each section."""
    return [check for check in validated.checks if check.name == name]


def _sums(checks: Sequence[Check]) -> tuple[str, str]:
    """Expected and measured, of all sections together."""
    return (
        _number(math.fsum(check.expected for check in checks) if checks else None),
        _number(_sum([check.measured for check in checks])),
    )


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if known and len(known) == len(values) else None


def _losses(checks: Sequence[Check]) -> tuple[str, str]:
    """Expected and measured loss of all sections one after the other, in percent."""
    if not checks:
        return NONE, NONE
    measured = [check.measured for check in checks]
    if None in measured:
        return _number(_chained([check.expected for check in checks])), NONE
    return (
        _number(_chained([check.expected for check in checks])),
        _number(_chained([value or 0.0 for value in measured])),
    )


def _chained(shares: Sequence[float]) -> float:
    return 100 * (1 - math.prod(1 - share / 100 for share in shares))


def _used(checks: Sequence[Check]) -> str:
    """Measured over expected."""
    if not checks or checks[0].measured is None or not checks[0].expected:
        return NONE
    return f"{100 * checks[0].measured / checks[0].expected:.1f}"


def _number(value: float | None) -> str:
    return NONE if value is None else significant(value, 6 if value >= 100 else 3)


def validation_frame(validations: Sequence[Validated]) -> pl.DataFrame:
    """Every check with every number."""
    rows = [
        {
            "experiment": validated.experiment,
            "cell": validated.cell,
            "title": validated.title,
            "contender": validated.contender,
            "runs": validated.runs,
            "check": check.name,
            "between": check.path,
            "configured": check.expected,
            "measured": check.measured,
            "low": check.low,
            "high": check.high,
            "unit": check.unit,
            "passed": check.passed,
            "note": check.note,
        }
        for validated in validations
        for check in validated.checks
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


FAILED = TableKind(
    place=10,
    section=Section.VALIDATION,
    name="failed-checks",
    caption="Checks that failed",
    table=lambda matter: failed_checks_table(matter.validated),
    said=lambda _: (
        "What the runs' own packets met is not what was configured. Do not rely on the results.",
    ),
    looks="prose",
)
KIND = TableKind(
    place=20,
    section=Section.VALIDATION,
    caption="Configured and measured, by cell and contender",
    remark=(
        "RTT and lost pings are of ICMP echoes before the workload; of the RTTs it is the one farthest off, beside "
        "what the path of its own run was to have: each repetition draws its own. Delay and loss are those towards the "
        "client, all sections of the way together, from captures at both of their ends and from drop counters. The "
        "link is the narrowest one: the most that it carried over a second. Goodput is the median second of the second "
        "half of bulk downloads, of what the link can carry less headers. validation.csv has every check with its "
        "bounds."
    ),
    table=lambda matter: validation_table(matter.validated),
    said=lambda matter: (
        ()
        if any(validated.failed for validated in matter.validated)
        else ("What the runs' own packets met is what was configured.",)
    ),
    file=FILE,
    frame=lambda matter: validation_frame(matter.validated),
)
