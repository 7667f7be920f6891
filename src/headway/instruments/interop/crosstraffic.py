"""Cross traffic: a TCP connection that sends to the client as much as it can, for as long as a run lasts."""

from __future__ import annotations

from headway.contract.names import NATIVE_DIRECTORY
from headway.contract.program import Program
from headway.instruments.interop.network import Laid
from headway.study.network import CLIENT, SERVER

_PORT = 5201
_PROGRAM = f"{NATIVE_DIRECTORY}/headway-perf"
_LONGEST = "3600s"


def competing(network: Laid) -> tuple[Program, Program]:
    """Its sender on the server's host and its receiver on the client's, with CUBIC; both end with the run."""
    place = f"{next(iter(network.servers.values())).in_url}:{_PORT}"
    cubic = ("--transport=tcp", "--tcp-congestion-control=cubic", "--report=/dev/null")
    sender = Program(
        "cross-server",
        SERVER,
        (_PROGRAM, "server", f"--listen={place}", *cubic, "--limits=off"),
        service=True,
        listens=(f"tcp:{place}",),
    )
    receiver = Program(
        "cross-client",
        CLIENT,
        (
            "sh",
            "-c",
            _WHEN_IT_LISTENS,
            "sh",
            place,
            _PROGRAM,
            "client",
            place,
            *cubic,
            f"--duration={_LONGEST}",
        ),
        service=True,
    )
    return sender, receiver


_WHEN_IT_LISTENS = """\
shift
until "$@"; do sleep 0.1; done
"""
"""Services are started together, so that the sender may not be there yet."""
