"""Contenders: their order, what is compared with what, and what each of them is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import polars as pl

from headway.analysis.axes import key_words
from headway.analysis.columns import COLUMNS, Condition
from headway.analysis.contest import Pairing
from headway.analysis.pathconditions import in_words
from headway.records.manifest import ArchivedExperiment

DEFAULT_BASELINE = "h2"
_USUAL_ORDER = ("h1", "h2", "h3")

_TRAITS = {
    "protocol": "protocol",
    "tls": "encryption",
    "client": "client",
    "client_cc": "client's congestion control",
    "client_iw": "client's initial window",
    "client_kernel": "client's kernel",
    "proxy": "proxy",
    "bypass": "bypassed",
    "proxy_cc": "proxy's congestion control",
    "proxy_iw": "proxy's initial window",
    "proxy_upstream_cc": "proxy's congestion control towards the server",
    "proxy_upstream_iw": "proxy's initial window towards the server",
    "upstream_protocol": "protocol between proxy and server",
    "server": "server",
    "server_cc": "server's congestion control",
    "server_iw": "server's initial window",
    "server_kernel": "server's kernel",
    "hop_kernels": "hops' kernels",
}
"""Columns that make a contender, from client to server, and what they are in words."""
GIVEN = "settings in the study"
_NONE = "none"
_ABSENT = {
    "client_iw": "the program's own",
    "server_iw": "the program's own",
    "client_kernel": "not told",
    "server_kernel": "not told",
}
"""What null means, if not that there is no such thing."""


@dataclass(frozen=True)
class Trait:
    """Something that contenders are made of: what it is, and its value for each of them.

    Attributes:
        name: what it is, in words.
        values: in the order of the contenders; several values of one, from different cells,
            are joined by `` / ``, and what it has not is ``none``.
    """

    name: str
    values: tuple[str, ...]

    @property
    def telling(self) -> bool:
        """Whether it tells contenders apart."""
        return len(set(self.values)) > 1


def ordered_contenders(experiment: ArchivedExperiment, runs: pl.DataFrame) -> tuple[str, ...]:
    """The contenders that have runs: in the study's order, else versions of HTTP, then by name."""
    return ordered_names(experiment, set(runs["contender"].unique().to_list()))


def ordered_names(experiment: ArchivedExperiment, results: Set[str]) -> tuple[str, ...]:
    """These contenders in the same order."""
    given = list(experiment.contenders)
    places = {name: place for place, name in enumerate(given or _USUAL_ORDER)}
    return tuple(sorted(results, key=lambda name: (places.get(name, len(places)), name)))


def baseline_of(experiment: ArchivedExperiment, contenders: Sequence[str]) -> str:
    """The experiment's baseline, else h2, else the first contender."""
    for name in (experiment.baseline, DEFAULT_BASELINE):
        if name in contenders:
            return str(name)
    return contenders[0]


def pairings_of(experiment: ArchivedExperiment, contenders: Sequence[str]) -> tuple[Pairing, ...]:
    """What is compared: what the experiment names, else each contender with the baseline."""
    base = baseline_of(experiment, contenders)
    usual = tuple(Pairing(name, base) for name in contenders if name != base)
    there = set(contenders)
    named = (Pairing(*pair) for pair in experiment.comparisons if set(pair) <= there)
    return tuple(named) if experiment.comparisons else usual


def traits(
    experiment: ArchivedExperiment, runs: pl.DataFrame, contenders: Sequence[str]
) -> tuple[Trait, ...]:
    """What each contender is, from client to server; then conditions that are only its own."""
    runs, columns = in_words(runs, COLUMNS)
    names = {*_TRAITS, *(column.column for column in columns)}
    values = runs.group_by("contender").agg(pl.col(name).unique().sort() for name in sorted(names))
    by_name = {row["contender"]: row for row in values.to_dicts()}
    of = [by_name[contender] for contender in contenders]
    usual = (
        Trait(name, tuple(_text(column, row[column]) for row in of))
        for column, name in _TRAITS.items()
    )
    given = _given(experiment.contenders, contenders)
    return (*filter(_anything, usual), *_conditions(of, columns), *given)


def _conditions(
    of: Sequence[Mapping[str, list[object]]], columns: Sequence[Condition]
) -> Iterator[Trait]:
    """Conditions that each contender has one of, but not all of them the same."""
    for column in columns:
        result = [row[column.column] for row in of]
        if column.column not in _TRAITS and all(len(values) == 1 for values in result):
            trait = Trait(column.name, tuple(column.text(value) for (value,) in result))
            if trait.telling:
                yield trait


def _text(column: str, values: Sequence[object]) -> str:
    known = [value for value in values if value is not None]
    if column == "tls":
        return " / ".join("TLS" if on else "no TLS" for on in known)
    absent = [_ABSENT.get(column, _NONE)] if len(known) < len(values) else []
    return " / ".join([*map(str, known), *absent])


def _anything(trait: Trait) -> bool:
    return set(trait.values) != {_NONE}


def own_settings(
    made: Mapping[str, object], contenders: Sequence[str], *, but: str = ""
) -> tuple[str, ...]:
    """The settings of each contender that its study states, as far as they differ, in words; empty if none do.

    Args:
        made: the contenders as the study has them.
        contenders: those that are told, in this order.
        but: a part of the study whose settings are told otherwise, such as ``flows``.
    """
    settings = [
        {
            key: value
            for key, value in _settings(made.get(name) or {})
            if key.partition(".")[0] != but
        }
        for name in contenders
    ]
    differing = [
        key
        for key in dict.fromkeys(key for setting in settings for key in setting)
        if len({setting.get(key) for setting in settings}) > 1
    ]
    if not differing:
        return ()
    texts = (
        ", ".join(f"{key_words(key)} {setting[key]}".strip() for key in differing if key in setting)
        for setting in settings
    )
    return tuple(text or _NONE for text in texts)


def _given(made: Mapping[str, object], contenders: Sequence[str]) -> tuple[Trait, ...]:
    """The settings as the study states them: knobs of programs have no column."""
    texts = own_settings(made, contenders)
    return (Trait(GIVEN, texts),) if texts else ()


def _settings(made: object, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Settings by dotted names: ``proxy.program`` and ``envoy``."""
    if not isinstance(made, Mapping):
        yield prefix, _value_in_words(made)
        return
    for key, value in made.items():
        yield from _settings(value, f"{prefix}.{key}" if prefix else str(key))


def _value_in_words(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return ", ".join(map(_value_in_words, value)) if isinstance(value, list) else str(value)
