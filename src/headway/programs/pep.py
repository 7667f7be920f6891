"""The adapter of a performance-enhancing proxy: a program that splits connections."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from headway.programs.base import Adapter, Listener, Origin, Started
from headway.study.capture import Capture
from headway.study.family import Family
from headway.study.hop import Pep
from headway.study.host import Protocol


@dataclass(frozen=True)
class Interception:
    """TCP connections that a host takes out of the traffic it routes.

    Those that come from the client's side for this port, of whatever address, and the packets
    that answer on their continuations are delivered to the host itself. A program listens with
    ``IP_TRANSPARENT`` on the port at any address, learns from ``getsockname`` whom a connection
    was meant for, and connects there from the client's address, ``IP_TRANSPARENT`` again.
    """

    namespace: str
    port: int
    family: Family


class QuicPep(Adapter):
    """A program that splits QUIC connections and maps their streams one to one.

    It is addressed: others connect to it, and it connects to what is behind it.
    """

    protocols: frozenset[Protocol] = frozenset({Protocol.H3, Protocol.QUIC})
    side_knobs: ClassVar[frozenset[str]]
    """Knobs that may differ between its sides."""

    @abstractmethod
    def split(self, listener: Listener, behind: Origin, pep: Pep, capture: Capture) -> Started:
        """How to split connections.

        Args:
            listener: where it is connected to; one protocol, always with TLS.
            behind: the next PEP, a reverse proxy or the server; by the same protocol.
            pep: what the study asks for: ``pep.towards_client`` and ``pep.towards_server`` are its
                sides, with congestion control, initial window and knobs.
            capture: whether to write qlog.
        """


class TcpPep(Adapter):
    """A program that splits TCP connections and is transparent: both ends see the other's address."""

    protocols: frozenset[Protocol] = frozenset({Protocol.H1, Protocol.H2, Protocol.TCP})
    side_knobs: ClassVar[frozenset[str]]
    """Knobs that may differ between its sides."""

    @abstractmethod
    def intercept(self, interception: Interception, pep: Pep, capture: Capture) -> Started:
        """How to split connections.

        Args:
            interception: where it runs, and the port it listens on.
            pep: as for `QuicPep.split`. The host's routes already give every socket the congestion
                control and the initial window of the side that it is on.
            capture: as for `Server.serve`.
        """
