"""A program that a lab carries out."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from headway.contract.text import omitted


@dataclass(frozen=True)
class Program:
    """A process on a host: a part of the workload, or a ``service``, started before that and awaited by it.

    Attributes:
        listens: what a service must have, after ``ready_within_ns`` at most, before each round's workload: open ports
            (``tcp:443``, or ``tcp:[fd00::2]:443`` for who asks that address), and files, as ``/run/ready``.
        at_ns, ends_at_ns: when one of the workload begins, and when it is killed if it is still there.
        interactive: whether it has the lab's console.
        migration_signal: what it is sent when its host's address has changed; 0 if nothing.
        finishes: whether a service is asked to end after the workload, to write the rest, and not killed.
        leaves_nothing: whether it has failed if processes of its host go on when it has ended.
    """

    name: str
    namespace: str
    argv: tuple[str, ...]
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    service: bool = False
    listens: tuple[str, ...] = ()
    ready_within_ns: int = 20 * 10**9
    at_ns: int = 0
    ends_at_ns: int | None = omitted(None)
    interactive: bool = False
    migration_signal: int = 0
    finishes: bool = False
    leaves_nothing: bool = omitted(False)
