"""Compliance with the runner's contract: whether a stack answers 127 to a test case that it cannot know."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from headway.instruments.interop.case import KIB, EndpointRole, InteropCase
from headway.instruments.interop.conduct import UNSUPPORTED, Conduct
from headway.instruments.interop.stack import Stack
from headway.instruments.interop.stackpair import StackPair
from headway.lab.machine import Machine


class _Unknown(InteropCase):
    """A test case that nobody knows."""

    name = "zqxjkvbw"
    abbreviation = "-"
    description = "A test case that nobody knows."
    sizes = (KIB,)
    timeout_s = 20


def wrong_answer(machine: Machine, stack: Stack, role: EndpointRole) -> str:
    """What a stack does instead of answering 127, in words; empty if it does that."""
    case = _Unknown()
    pairing = StackPair(stack, stack, case, "hq-interop", case.name, case.name)
    with TemporaryDirectory(prefix="headway-interop-") as directory:
        status = Conduct(machine).alone(pairing, role, 1, Path(directory, "run"))
    if status == UNSUPPORTED:
        return ""
    does = "does not end" if status is None else f"ends with exit status {status}"
    return (
        f"{stack.name} as a {role} {does} if it is asked for a test case that nobody knows. The contract has exit status "
        f"{UNSUPPORTED} for that: a case that it does not know may thus count as failed"
    )
