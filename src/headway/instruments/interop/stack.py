"""A stack: what plays the client or the server of a test case."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headway.errors import WrongInputError
from headway.instruments.interop.case import H3, HQ, EndpointRole, InteropCase
from headway.study.user_programs import OutsideProgram

ENDPOINT = "run_endpoint.sh"
DECLARATION = "stack.toml"
_PLAIN = frozenset({"handshake", "transfer"})
"""Test cases that ask nothing of an endpoint but to serve, or to fetch."""
_HTTP3 = "http3"


@dataclass(frozen=True)
class Brought:
    """A program that somebody brought.

    Attributes:
        program: with its files or its root tree.
        argv: what runs it; empty if that depends on the run.
    """

    program: OutsideProgram
    argv: tuple[str, ...] = ()

    @property
    def env(self) -> Mapping[str, str]:
        """Environment that its image gives it."""
        return self.program.image.env if self.program.image else {}


@dataclass(frozen=True)
class Stack:
    """A program that follows the runner's contract, or a part of it.

    Attributes:
        name: in the matrix.
        directory: with its `run_endpoint.sh`; None of a stack whose own root tree has that.
        url: of its home.
        roles: which it can play.
        alpn: what it speaks over QUIC, if `ALPN` may choose; empty if it keeps to the runner's contract, which has
            HTTP/0.9 in all cases but ``http3``.
        cases: the values of `TESTCASE` that it knows, by role; of a role that is not there nobody knows.
        lacks: by role, names of cases that it cannot play, although `TESTCASE` has a value that it knows.
        layers: of the lab image that it needs.
        extras: compiled programs that it needs.
        memory_mib: memory of its lab, if the usual is too little.
        virtual_tsc: whether it reads the processor's time stamp counter, which has to count virtual time then.
        fetches_one: whether it fetches one file over a connection, as a client.
        brought: by role, programs of this machine's user that have another root tree than the lab's, or another command.
    """

    name: str
    directory: Path | None = None
    url: str = ""
    roles: frozenset[EndpointRole] = frozenset(EndpointRole)
    alpn: tuple[str, ...] = ()
    cases: Mapping[EndpointRole, frozenset[str]] = field(default_factory=dict)
    lacks: Mapping[EndpointRole, frozenset[str]] = field(default_factory=dict)
    layers: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    memory_mib: int = 0
    virtual_tsc: bool = False
    fetches_one: bool = False
    brought: Mapping[EndpointRole, Brought] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Whether it knows nothing of the runner's contract."""
        return any(not brought.argv for brought in self.brought.values())

    def told(self, case: InteropCase, role: EndpointRole) -> dict[str, str]:
        """What `TESTCASE` is in a role of a case, by what is spoken over QUIC; nothing for what it cannot play."""
        asked = case.told(role)
        if case.name in self.lacks.get(role, ()):
            return {}
        if self.fetches_one and role is EndpointRole.CLIENT and len(case.sizes) > case.handshakes:
            return {}
        if self.alpn:
            spoken = dict.fromkeys(self.alpn, asked)
        elif asked == _HTTP3:
            spoken = {H3: _HTTP3}
        else:
            # It is all the same to a plain case what is spoken.
            spoken = {HQ: asked, **({H3: _HTTP3} if asked in _PLAIN else {})}
        known = self.cases.get(role)
        return {
            alpn: word
            for alpn, word in spoken.items()
            if alpn in case.protocols and (known is None or word in known)
        }


def declared(directory: Path) -> Stack:
    """The stack of a directory with a `run_endpoint.sh` and, if something is to be said of it, a ``stack.toml``.

    Raises:
        WrongInputError: there is no such script, or the file cannot be read.
    """
    if not (directory / ENDPOINT).is_file():
        raise WrongInputError(f"has no {ENDPOINT}", where=str(directory))
    file = directory / DECLARATION
    if not file.is_file():
        return Stack(directory.name, directory)
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        return Stack(
            name=directory.name,
            directory=directory,
            url=str(table.get("url", "")),
            roles=frozenset(
                map(EndpointRole, table.get("roles", [role.value for role in EndpointRole]))
            ),
            alpn=tuple(table.get("alpn", ())),
            cases=_by_role(table.get("cases", {})),
            lacks=_by_role(table.get("lacks", {})),
            layers=tuple(table.get("layers", ())),
            extras=tuple(table.get("extras", ())),
            memory_mib=int(table.get("memory_mib", 0)),
            virtual_tsc=bool(table.get("virtual_tsc", False)),
        )
    except (tomllib.TOMLDecodeError, ValueError, TypeError, AttributeError) as error:
        raise WrongInputError(str(error), where=str(file)) from None


def _by_role(table: Mapping[str, list[str]]) -> dict[EndpointRole, frozenset[str]]:
    return {EndpointRole(role): frozenset(names) for role, names in table.items()}
