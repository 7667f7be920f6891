"""What the contenders were, in sentences for a paper: programs, versions, transports, congestion control, windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from headway.analysis import Analysis, StudyResults
from headway.analysis.numbers import listed, plain

_SPOKEN = {
    "h1": "HTTP/1.1 over TCP",
    "h2": "HTTP/2 over TCP",
    "h3": "HTTP/3 over QUIC",
    "tcp": "TCP",
    "quic": "QUIC",
    "udp": "UDP",
}
_GIVEN = "settings in the study"
_OWN = "the program's own"
_UNSAID = frozenset({"client's kernel", "server's kernel", "hops' kernels"})
"""What all have alike is said of the hosts."""
_NOTHING = frozenset({"none", "no knobs set", "no proxy", "not told"})
_FLOWS = {
    "protocol": "protocol",
    "tls": "encryption",
    "client": "client",
    "server": "server",
    "client_cc": "client's congestion control",
    "client_iw": "client's initial window",
    "server_cc": "server's congestion control",
    "server_iw": "server's initial window",
    "knobs": "knobs",
    "workload": "workload",
    "start_s": "start",
    "background": "background",
}
"""Columns of ``flows.parquet`` that a flow is made of, and what they are, as traits of contenders are called."""


@dataclass(frozen=True)
class _Made:
    """Things that are told apart: their names, and what each has of every trait."""

    names: tuple[str, ...]
    traits: Mapping[str, tuple[str, ...]]

    def sentences(self, all_of_them: str) -> Iterator[str]:
        """What all have, then what tells each of them apart."""
        told = {name: values for name, values in self.traits.items() if not _vain(name, values)}
        alike = {name: values[0] for name, values in told.items() if len(set(values)) == 1}
        if alike:
            yield f"{all_of_them} had {listed([_phrase(*item) for item in alike.items()])}."
        apart = [{n: v[place] for n, v in told.items() if n not in alike} for place in self._places]
        if any(apart):
            made = zip(self.names, apart, strict=True)
            yield "; ".join(f"{name} {_was(own)}" for name, own in made) + "."

    @property
    def _places(self) -> range:
        return range(len(self.names))


def _was(own: Mapping[str, str]) -> str:
    """``was QUIC with the server's congestion control bbr3``."""
    spoken = own.get("protocol")
    had = [
        _phrase(name, value)
        for name, value in own.items()
        if name != "protocol" and value not in _NOTHING
    ]
    if spoken is None:
        return f"had {listed(had) or 'none of these'}"
    return f"was {_phrase('protocol', spoken)}{' with ' if had else ''}{listed(had)}"


def definitions(results: StudyResults, analysis: Analysis) -> str:
    """What the contenders of an experiment were, and the flows of those that consist of several."""
    flows = results.flows_of(analysis.experiment)
    if flows is not None:
        return " ".join(_of_flows(flows, analysis))
    traits = {trait.name: trait.values for trait in analysis.traits}
    given = traits.pop(_GIVEN, None)
    made = list(zip(*traits.values(), strict=True))
    if given and len(set(made)) < len(made):  # nothing else tells all of them apart
        traits[_GIVEN] = given
    every = "All contenders" if len(analysis.contenders) > 1 else analysis.contenders[0]
    return " ".join(_Made(analysis.contenders, traits).sentences(every))


def _of_flows(flows: pl.DataFrame, analysis: Analysis) -> Iterator[str]:
    rows = flows.group_by("contender", "named", maintain_order=True).agg(
        pl.col("flow").n_unique(), *(pl.col(column).first() for column in _FLOWS)
    )
    places = {name: place for place, name in enumerate(analysis.contenders)}
    found = sorted(rows.to_dicts(), key=lambda row: places[row["contender"]])
    of_name: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for row in found:
        made = tuple(_text(column, row[column]) for column in _FLOWS)
        of_name.setdefault(row["named"], {}).setdefault(made, []).append(row["contender"])
    named = [
        (name if len(ways) == 1 else f"{name} of {listed(contenders)}", made)
        for name, ways in of_name.items()
        for made, contenders in ways.items()
    ]
    traits = dict(zip(_FLOWS.values(), zip(*(made for _, made in named), strict=True), strict=True))
    yield from _Made(tuple(name for name, _ in named), traits).sentences("All flows")
    parts: dict[str, list[str]] = {}
    for row in found:
        count = f"{row['flow']} flows" if row["flow"] > 1 else "a flow"
        parts.setdefault(row["contender"], []).append(f"{count} of {row['named']}")
    told = {contender: listed(own) for contender, own in parts.items()}
    if len(set(told.values())) < len(told):  # the same flows on paths that are not
        given = next((trait.values for trait in analysis.traits if trait.name == _GIVEN), ())
        settings = dict(zip(analysis.contenders, given, strict=False))
        told |= {name: f"{told[name]} ({own})" for name, own in settings.items() if name in told}
    yield f"Of the contenders, {'; '.join(f'{name} was {what}' for name, what in told.items())}."


def _text(column: str, value: object) -> str:
    if value is None:
        return _OWN if column.endswith("_iw") else "none"
    if column == "tls":
        return "TLS" if value else "no TLS"
    if column == "start_s":
        return f"{plain(float(str(value)))} s"
    if column == "background":
        return "in the background" if value else "none"
    return str(value)


def _vain(name: str, values: Sequence[str]) -> bool:
    """Whether it need not be said: nobody has it, or it is of receivers, or said elsewhere."""
    alike = len(set(values)) == 1
    if _NOTHING.issuperset(values) or (name in _UNSAID and alike):
        return True
    if name == "start":
        return alike and values[0] == "0 s"
    return alike and name in ("client's congestion control", "client's initial window")


def _phrase(name: str, value: str) -> str:
    if name == "protocol":
        return " / ".join(_SPOKEN.get(one, one) for one in value.split(" / "))
    if name.endswith("initial window"):
        owner = name.removesuffix(" initial window")
        return (
            f"the {owner} own initial window" if value == _OWN else f"the {name} of {value} packets"
        )
    if name == "start":
        return f"a start at {value}"
    return value if name in ("encryption", "background") else f"the {name} {value}"
