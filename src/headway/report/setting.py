"""The setting in full: what each contender is, the conditions, and what was set in the programs."""

from __future__ import annotations

from dataclasses import dataclass

from headway.analysis import Analysis, StudyResults
from headway.analysis.contenders import Trait
from headway.report.tables.table import NONE

_PROGRAMS = ("client", "proxy", "server")
"""Traits whose values are programs, which have versions."""
_HTTP = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}
_PROTOCOLS = ("protocol", "protocol between proxy and server")
OF_CONTENDERS = (
    *_PROGRAMS,
    "protocol",
    "encryption",
    "upstream",
    "bypassed",
    *(
        f"{role}'s {what}"
        for role in _PROGRAMS
        for what in ("CC", "IW", "CC up", "IW up", "kernel")
    ),
    "hops' kernels",
)
"""Constants that what is said of the contenders states."""
_OWN = "the program's own"
_ABSENT = ("none", "no upstream", "no profile", "no knobs set")
"""Values that say that there is no such thing."""


@dataclass(frozen=True)
class Fact:
    """A line of the setting or the provenance: what, its value, and a remark."""

    name: str
    value: str
    remark: str = ""


def study_name(results: StudyResults) -> str:
    """The study's name; empty if nothing tells it."""
    return results.manifest.study.name or next(iter(results.runs["study"].drop_nulls()), "")


def shared_facts(results: StudyResults, analysis: Analysis) -> tuple[Fact, ...]:
    """What is the same for all contenders."""
    return tuple(
        Fact(trait.name, texts(results, trait)[0]) for trait in analysis.traits if not trait.telling
    )


def texts(results: StudyResults, trait: Trait) -> tuple[str, ...]:
    """A trait's values: programs with their versions, versions of HTTP with their standards."""
    versions = results.manifest.versions

    def text(value: str) -> str:
        if value in _ABSENT:
            return NONE
        if value == _OWN:
            return "own"
        if trait.name in _PROTOCOLS:
            return " / ".join(_HTTP.get(part, part) for part in value.split(" / "))
        if trait.name in _PROGRAMS:
            return " / ".join(
                f"{part} {versions.get(part, '')}".strip() for part in value.split(" / ")
            )
        return value

    return tuple(map(text, trait.values))


def path_facts(analysis: Analysis) -> tuple[Fact, ...]:
    """The conditions of the cells: what varied, what followed from that, what was constant."""
    conditions = analysis.conditions
    varied = [
        Fact(factor.name, ", ".join(factor.levels), "varied") for factor in conditions.factors
    ]
    followed = [
        Fact(dependent.name, ", ".join(dependent.levels), "follows from the above")
        for dependent in conditions.dependents
    ]
    drawn = [
        Fact(fact.name, fact.value, "drawn anew for every repetition") for fact in conditions.drawn
    ]
    proxied = any(trait.name == "proxy" for trait in analysis.traits)
    constant = [
        Fact(fact.name, fact.value)
        for fact in conditions.constants
        if fact.name not in OF_CONTENDERS
        and fact.value not in _ABSENT
        and (proxied or not fact.name.startswith("upstream"))
    ]
    return (*varied, *followed, *drawn, *constant)
