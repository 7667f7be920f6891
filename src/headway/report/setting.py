"""The setting in full: each contender's programs and transport, and the path."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from headway.analysis import Analysis, Results
from headway.analysis.numbers import counted
from headway.report.tables import Table

_HTTP = {
    "h1": "HTTP/1.1 over TCP (RFC 9112)",
    "h2": "HTTP/2 over TCP (RFC 9113)",
    "h3": "HTTP/3 over QUIC (RFC 9114, RFC 9000)",
}
_OF_CONTENDERS = (
    "server",
    "client",
    "proxy",
    "encryption",
    "server's CC",
    "client's CC",
    "server's IW",
    "client's IW",
)
"""Constants that the table of contenders states."""
_PROGRAMS_OWN = "the program's own"


@dataclass(frozen=True)
class Fact:
    """A line of the setting or the provenance: what, its value, and a remark."""

    name: str
    value: str
    remark: str = ""


def contenders_table(results: Results, analysis: Analysis) -> Table:
    """What each contender is: a column per contender, a row per thing that must be like."""
    versions = dict(results.manifest.versions)
    columns = [
        _contender(results.runs.filter(pl.col("contender") == name), versions)
        for name in analysis.contenders
    ]
    names = list(columns[0])
    rows = [(name, *(column[name] for column in columns)) for name in names]
    kept = [row for row in rows if any(text != "none" for text in row[1:])]
    return Table(("", *analysis.contenders), (tuple(kept),), 1 + len(columns))


def _contender(runs: pl.DataFrame, versions: dict[str, str]) -> dict[str, str]:
    def program(column: str) -> str:
        found = _distinct(runs, column)
        return ", ".join(f"{one} {versions.get(one, '')}".strip() for one in found) or "none"

    def several(column: str, absent: str) -> str:
        found = _distinct(runs, column)
        return ", ".join([*found, *([absent] if runs[column].null_count() else [])])

    tls = {True: "TLS", False: "no TLS"}
    return {
        "HTTP": ", ".join(_HTTP.get(one, one) for one in _distinct(runs, "protocol")),
        "encryption": ", ".join(tls[on] for on in sorted(runs["tls"].drop_nulls().unique())),
        "client": program("client"),
        "server": program("server"),
        "proxy": program("proxy"),
        "server's congestion control": several("server_cc", _PROGRAMS_OWN),
        "client's congestion control": several("client_cc", _PROGRAMS_OWN),
        "server's initial window [segments]": several("server_iw", _PROGRAMS_OWN),
        "client's initial window [segments]": several("client_iw", _PROGRAMS_OWN),
    }


def _distinct(runs: pl.DataFrame, column: str) -> list[str]:
    return [str(value) for value in runs[column].drop_nulls().unique().sort().to_list()]


def path_facts(analysis: Analysis) -> tuple[Fact, ...]:
    """The conditions of the cells: what varied, what followed from that, what was constant."""
    found = analysis.conditions
    varied = [Fact(one.name, ", ".join(one.levels), "varied") for one in found.factors]
    followed = [
        Fact(one.name, ", ".join(one.levels), "follows from the above") for one in found.dependents
    ]
    constant = [
        Fact(one.name, one.value) for one in found.constants if one.name not in _OF_CONTENDERS
    ]
    return (*varied, *followed, *constant)


def provenance_facts(results: Results) -> tuple[Fact, ...]:
    """Where the numbers come from."""
    manifest, runs = results.manifest, results.runs
    versions = ", ".join(f"{name} {version}" for name, version in manifest.versions)
    facts = (
        Fact("programs", versions),
        Fact("lab kernel", manifest.kernel),
        Fact("image", manifest.image),
        Fact("host", manifest.host),
        Fact("date", manifest.created),
        Fact("runs", _runs(runs)),
        Fact("seeds", _seeds(runs)),
        Fact("time", _time(runs)),
    )
    return tuple(fact for fact in facts if fact.value)


def _runs(runs: pl.DataFrame) -> str:
    cells, contenders = runs["cell"].n_unique(), runs["contender"].n_unique()
    of = f"{counted(cells, 'cell')}, {counted(contenders, 'contender')}"
    return f"{runs.height}: {of}, {counted(runs['rep'].n_unique(), 'repetition')}"


def _seeds(runs: pl.DataFrame) -> str:
    seeds = runs["seed"].unique().sort().to_list()
    if len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def _time(runs: pl.DataFrame) -> str:
    lab, wall = runs["virtual_s"].sum(), runs["wall_s"].sum()
    if not lab or not wall:
        return ""
    return f"{lab:.0f} s in the lab, {wall:.0f} s of wall time, runs added up"
