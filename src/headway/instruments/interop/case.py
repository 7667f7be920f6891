"""A test case: its name, its scenario, what is asked for, and its check."""

from __future__ import annotations

import string
from abc import ABC
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import ClassVar

from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.scenario import Scenario, draws

KIB, MIB = 1 << 10, 1 << 20
HQ, H3 = "hq-interop", "h3"
"""HTTP/0.9 over QUIC, as the runner has it, and HTTP/3, by their ALPN."""
_NAME_LETTERS = 12


class EndpointRole(StrEnum):
    """Which end of a connection an endpoint is."""

    CLIENT = "client"
    SERVER = "server"


@dataclass(frozen=True)
class ServedFile:
    """A file that the server has and the client asks for: its name and its size in bytes."""

    name: str
    size: int


class InteropCase(ABC):
    """A test case, whose check raises a `CheckError` that says why it fails.

    Attributes:
        name: what `TESTCASE` is for both endpoints, unless `client_name` or `server_name` is another.
        abbreviation: in the matrix and in ``result.json``.
        description: what it shows, in a sentence.
        scenario: the path.
        sizes: of the files, in bytes.
        protocols: what the endpoints may speak over QUIC; the first that both have is spoken.
        needs_keys: whether its check reads what is encrypted.
        handshakes: how many the client has to complete.
        timeout_s: how long it may take, in virtual time.
        host: the name that the client asks for.
        measures: whether it is a measurement, and what its check returns begins with a number.
        place: in the order of cases.
        differs: in what it differs from the runner's case of this name; empty if in nothing.
    """

    name: ClassVar[str]
    abbreviation: ClassVar[str]
    description: ClassVar[str]
    client_name: ClassVar[str] = ""
    server_name: ClassVar[str] = ""
    scenario: ClassVar[Scenario] = Scenario()
    sizes: ClassVar[tuple[int, ...]] = ()
    protocols: ClassVar[tuple[str, ...]] = (HQ, H3)
    needs_keys: ClassVar[bool] = False
    handshakes: ClassVar[int] = 1
    timeout_s: ClassVar[int] = 60
    host: ClassVar[str] = "server4"
    differs: ClassVar[str] = ""
    measures: ClassVar[bool] = False
    place: ClassVar[int] = 100

    def told(self, role: EndpointRole) -> str:
        """What `TESTCASE` is for an endpoint."""
        return (self.client_name if role is EndpointRole.CLIENT else self.server_name) or self.name

    @property
    def name_letters(self) -> int:
        """How long the files' names are."""
        return _NAME_LETTERS

    def files(self, seed: int) -> tuple[ServedFile, ...]:
        """What the client asks for in a run of a seed, in this order."""
        draw = draws(seed, f"files of {self.name}")
        return tuple(ServedFile(self._drawn_name(draw), size) for size in self.sizes)

    def _drawn_name(self, draw: Random) -> str:
        return "".join(draw.choices(string.ascii_lowercase, k=self.name_letters))

    def verify(self, evidence: CaseEvidence) -> str:
        """Check a run; returns what there is to be said of one that succeeded.

        Raises:
            CheckError: it fails, or cannot be checked.
        """
        if self.needs_keys:
            evidence.check_keys()
        evidence.check_files()
        self.check_versions(evidence)
        if (handshakes := evidence.handshakes) != self.handshakes:
            raise CheckError(
                f"{self.handshakes} handshakes were to be completed, and {handshakes} were"
            )
        return self.check(evidence)

    def check_versions(self, evidence: CaseEvidence) -> None:
        """Let the server's Initials be of version 1."""
        wrong = evidence.server_versions - {1}
        if wrong:
            raise CheckError(
                f"the server sent Initials of version {', '.join(map(hex, sorted(wrong)))}"
            )

    def check(self, evidence: CaseEvidence) -> str:
        """Check what is this case's own; returns what there is to be said."""
        return ""
