"""Contenders between two others: with some causes as one has them, and the rest as the other does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from pydantic import ValidationError

from headway.errors import WrongInputError
from headway.instruments.ablation.cause import (
    SwitchedCause,
    Table,
    TransferEnds,
    causes_of,
    ends_of,
    matched_ends,
    table_at,
)
from headway.instruments.ablation.game import Causes, sets_of
from headway.programs.registry import CLIENTS
from headway.study.experiment import Coordinates, Experiment
from headway.study.merging import merged
from headway.study.setting import Setting

OURS = {"client": "headway-client", "server": "headway-server"}
_OWN_PROGRAMS = frozenset({*OURS.values(), "headway-perf", "headway-call"})
END = "the other end"
_NOT_OF_NAMES = re.compile(r"[^a-z0-9]+")


def _name(causes: Causes) -> str:
    names = [_NOT_OF_NAMES.sub("-", name.lower()).strip("-") for name in sorted(causes)]
    return "with " + (" and ".join(names) or "nothing")


@dataclass(frozen=True, eq=False)
class ComparedPair:
    """Two contenders of a cell that are taken apart.

    Attributes:
        experiment: of the study.
        cell: the cell's name.
        coordinates: the cell's.
        contender: who is compared.
        against: with whom.
    """

    experiment: Experiment
    cell: str
    coordinates: Coordinates
    contender: str
    against: str

    @cached_property
    def _tables(self) -> tuple[Table, Table]:
        return (
            self.experiment.tables(self.coordinates, self.contender),
            self.experiment.tables(self.coordinates, self.against),
        )

    @cached_property
    def settings(self) -> tuple[Setting, Setting]:
        """Conditions of both."""
        return (
            self.experiment.setting(self.coordinates, self.contender),
            self.experiment.setting(self.coordinates, self.against),
        )

    @property
    def has_several_streams(self) -> bool:
        """Whether more than one thing is asked for at a time on a connection."""
        return any(end.workload.requests > 1 for end in ends_of(self.settings[0]).values())

    @property
    def is_turned(self) -> bool:
        """Whether causes are switched from the contender towards the other: QUIC's can be like TCP's, and not the other way."""
        return any(
            there.protocol.over_quic and not end.protocol.over_quic
            for _, end, there in matched_ends(*self.settings)
        )

    @cached_property
    def is_of_others(self) -> bool:
        """Whether a program of both cannot be switched, since it is not Headway's."""
        return any(not _is_ours(setting) for setting in self.settings)

    @cached_property
    def _ends(self) -> tuple[Table, Table]:
        """The conditions that causes are switched between: those of the end with more switches, and the other's."""
        own, other = self._tables
        if self.is_of_others:
            own, other = (
                _with_ours(raw, setting)
                for raw, setting in zip((own, other), self.settings, strict=True)
            )
        return (other, own) if self.is_turned else (own, other)

    @cached_property
    def causes(self) -> tuple[SwitchedCause, ...]:
        """What the two differ in and can be switched; what changes nothing is none."""
        own, other = self._ends
        setting, against = self._resolved(own), self._resolved(other)
        every = causes_of(own, other, setting, against)
        return tuple(cause for cause in every if self._resolved(cause.undo(own)) != setting)

    def _resolved(self, raw: Table) -> Setting:
        experiment = self.experiment.beside("switched", {"it": raw}, 1)
        try:
            return experiment.setting({}, "it")
        except ValidationError as error:
            reason = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
            raise WrongInputError(
                f"cannot be switched at Headway's endpoints: {reason}", where=self.cell
            ) from None

    @property
    def sets(self) -> list[Causes]:
        """The sets of causes that are tried."""
        return sets_of([cause.name for cause in self.causes])

    @cached_property
    def _named(self) -> tuple[dict[str, Table], dict[str, str]]:
        """All that is carried out, by name; and for each name that of the contender with the same conditions."""
        own, other = self._tables
        wanted = {self.against: other, self.contender: own}
        if self.is_of_others:
            wanted[END] = self._ends[1]
        wanted |= {_name(causes): self._between(causes) for causes in self.sets}
        tables: dict[str, Table] = {}
        same: dict[str, str] = {}
        settings: list[tuple[Setting, str]] = []
        for name, raw in wanted.items():
            setting = self._resolved(raw)
            known = next((first for resolved, first in settings if resolved == setting), None)
            # Who compares a contender with itself wants to see that the results are equal.
            if known is None or name == self.contender:
                tables[name] = raw
                settings.append((setting, name))
            same[name] = name if name in tables else str(known)
        return tables, same

    @property
    def contenders(self) -> Mapping[str, Table]:
        """All contenders that are carried out, by name: both, and those between them."""
        return self._named[0]

    def name_of(self, causes: Causes) -> str:
        """The contender with these causes as they are at the end that has them."""
        return self._named[1][_name(causes)]

    @property
    def base(self) -> str:
        """The contender that no cause is switched from, at Headway's endpoints."""
        if self.is_of_others:
            return self._named[1][END]
        return self.contender if self.is_turned else self.against

    def _between(self, causes: Causes) -> Table:
        own, _ = self._ends
        for cause in self.causes:
            if cause.name not in causes:
                own = cause.undo(own)
        return own


def _is_ours(setting: Setting) -> bool:
    """Whether the programs that carry out a setting are Headway's, as far as its own can do what they do."""
    return not any(_to_be_ours(end) for end in ends_of(setting).values())


def _to_be_ours(end: TransferEnds) -> dict[str, Table]:
    """The roles whose programs are not Headway's, with those that can do the same; a page takes a browser."""
    able = CLIENTS[OURS["client"]].can(end.workload, end.protocol)
    hosts = {"server": end.server, "client": end.client}
    return {
        role: {"program": OURS[role]}
        for role, host in hosts.items()
        if host.program not in _OWN_PROGRAMS and (role == "server" or able)
    }


def _with_ours(raw: Table, setting: Setting) -> Table:
    """The same conditions with Headway's programs, which have no knobs of others."""
    for place, end in ends_of(setting).items():
        raw = merged(raw, table_at(place, _to_be_ours(end)))
    return raw
