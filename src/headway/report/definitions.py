"""Definitions of contenders, in sentences for a paper: programs, versions, transports, congestion control, windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import polars as pl

from headway.analysis import Analysis, StudyResults
from headway.analysis.contenders import GIVEN, own_settings
from headway.analysis.numbers import listed, plain

_SPOKEN = {
    "h1": "HTTP/1.1 over TCP",
    "h2": "HTTP/2 over TCP",
    "h3": "HTTP/3 over QUIC",
    "tcp": "TCP",
    "quic": "QUIC",
    "udp": "UDP",
}
_OWN = "the program's own"
_UNSAID = frozenset({"client's kernel", "server's kernel", "hops' kernels"})
"""What all have alike is said of the hosts."""
_VARIED = ""
"""What flows of a name have that is not the same in all contenders."""
_NOTHING = frozenset({"none", "no knobs set", "no proxy", "not told", _VARIED})
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
        texts = {name: values for name, values in self.traits.items() if not _vain(name, values)}
        alike = {name: values[0] for name, values in texts.items() if len(set(values)) == 1}
        if alike:
            yield f"{all_of_them} had {listed([_phrase(*pair) for pair in alike.items()])}."
        if any(self.apart):
            made = zip(self.names, self.apart, strict=True)
            yield "; ".join(f"{name} {_was(own)}" for name, own in made) + "."

    @property
    def apart(self) -> tuple[dict[str, str], ...]:
        """Of each thing what not all of them have alike."""
        differing = {name: values for name, values in self.traits.items() if len(set(values)) > 1}
        return tuple(
            {name: values[place] for name, values in differing.items() if not _vain(name, values)}
            for place in range(len(self.names))
        )


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


@dataclass(frozen=True)
class Definitions:
    """What the contenders were.

    Attributes:
        text: sentences; empty if there is nothing to say.
        names_each: whether they name every contender.
    """

    text: str
    names_each: bool


def definitions(results: StudyResults, analysis: Analysis) -> Definitions:
    """What the contenders of an experiment were, and the flows of those that consist of several."""
    flows = results.flows_of(analysis.experiment)
    if flows is not None:
        return Definitions(" ".join(_of_flows(flows, analysis)), names_each=True)
    traits = {trait.name: trait.values for trait in analysis.traits}
    given = traits.pop(GIVEN, None)
    made = list(zip(*traits.values(), strict=True))
    if given and len(set(made)) < len(made):  # nothing else tells all of them apart
        traits[GIVEN] = given
    every = "All contenders" if len(analysis.contenders) > 1 else analysis.contenders[0]
    made_of = _Made(analysis.contenders, traits)
    return Definitions(" ".join(made_of.sentences(every)), any(made_of.apart))


def _of_flows(flows: pl.DataFrame, analysis: Analysis) -> Iterator[str]:
    """What all flows had, what those of a name had, and of which flows each contender consists."""
    rows = flows.group_by("contender", "named", maintain_order=True).agg(
        pl.col("flow").n_unique(), *(pl.col(column).first() for column in _FLOWS)
    )
    places = {name: place for place, name in enumerate(analysis.contenders)}
    values = sorted(rows.to_dicts(), key=lambda row: places[row["contender"]])
    ways: dict[str, list[dict[str, str]]] = {}
    for row in values:
        way = {name: _text(column, row[column]) for column, name in _FLOWS.items()}
        ways.setdefault(row["named"], []).append(way)
    varied = {
        name: {trait for trait in _FLOWS.values() if len({way[trait] for way in of}) > 1}
        for name, of in ways.items()
    }
    traits = {
        trait: tuple(
            _VARIED if trait in varied[name] else of[0][trait] for name, of in ways.items()
        )
        for trait in _FLOWS.values()
    }
    yield from _Made(tuple(ways), traits).sentences("All flows")
    yield f"{_contenders(values, varied, analysis)}."


def _contenders(
    rows: Sequence[Mapping[str, Any]], varied: Mapping[str, Set[str]], analysis: Analysis
) -> str:
    """The flows of each contender, those that are others elsewhere with what they are here."""
    parts: dict[str, list[str]] = {}
    for row in rows:
        own = {
            trait: _text(column, row[column])
            for column, trait in _FLOWS.items()
            if trait in varied[row["named"]]
        }
        where = "" if own.pop("background", "none") in _NOTHING else " in the background"
        had = [_phrase(*pair) for pair in own.items() if pair[1] not in _NOTHING]
        count = f"{row['flow']} flows" if row["flow"] > 1 else "a flow"
        share = f"{count} of {row['named']}{where}{' with ' if had else ''}{listed(had)}"
        parts.setdefault(row["contender"], []).append(share)
    consists = {contender: listed(own) for contender, own in parts.items()}
    if len(set(consists.values())) < len(consists):  # the same flows on paths that are not
        given = own_settings(analysis.experiment.contenders, analysis.contenders, but="flows")
        settings = dict(zip(analysis.contenders, given, strict=False))
        consists |= {
            name: f"{consists[name]} ({own})" for name, own in settings.items() if name in consists
        }
    made = "; ".join(f"{name} was {what}" for name, what in consists.items())
    return f"Of the contenders, {made}" if len(consists) > 1 else made


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
        return " / ".join(_SPOKEN.get(part, part) for part in value.split(" / "))
    if name.endswith("initial window"):
        owner = name.removesuffix(" initial window")
        return (
            f"the {owner} own initial window" if value == _OWN else f"the {name} of {value} packets"
        )
    if name == "start":
        return f"a start at {value}"
    return value if name in ("encryption", "background") else f"the {name} {value}"
