"""Whether requests that go on while they are answered reach a server that answers them."""

from __future__ import annotations

from headway.errors import WrongInputError
from headway.planning.deployment import DeployedFlow, Role
from headway.programs.base import Server
from headway.programs.registry import SERVERS


def check_talks(flow: DeployedFlow, server: Server) -> None:
    """The server answers while a request goes on, and nothing in front of it keeps what it passes on.

    Raises:
        WrongInputError: it does not, or something does.
    """
    if not server.talks:
        raise WrongInputError(
            f"{server.name} answers no request that goes on; these servers do: "
            f"{', '.join(name for name, other in SERVERS.items() if other.talks)}",
            where="server.program",
        )
    between = [end for end in flow.endpoints if end.role is Role.REVERSE_PROXY]
    if between:
        raise WrongInputError(
            f"{between[0].adapter.name} passes requests on by HTTP/1.1 or keeps them: messages both ways go without a "
            "reverse proxy",
            where="workload.kind",
        )
