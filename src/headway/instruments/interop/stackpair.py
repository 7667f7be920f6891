"""A pair of stacks in a test case: what they speak, or why they cannot play it."""

from __future__ import annotations

from dataclasses import dataclass

from headway.instruments.interop.case import EndpointRole, InteropCase
from headway.instruments.interop.stack import Stack


@dataclass(frozen=True)
class StackPair:
    """A client and a server that play a case.

    Attributes:
        client: the stack that asks.
        server: the stack that answers.
        case: the test case.
        alpn: what they speak; empty if they cannot play it.
        told_client: the client's value of `TESTCASE`.
        told_server: the server's value of `TESTCASE`.
        obstacle: why they cannot play it; empty if they can.
    """

    client: Stack
    server: Stack
    case: InteropCase
    alpn: str = ""
    told_client: str = ""
    told_server: str = ""
    obstacle: str = ""

    @classmethod
    def of(cls, client: Stack, server: Stack, case: InteropCase) -> StackPair:
        """What a pair speaks in a case: the first of the case's protocols that both do."""
        asked, answered = (
            client.told(case, EndpointRole.CLIENT),
            server.told(case, EndpointRole.SERVER),
        )
        common = [alpn for alpn in case.protocols if alpn in asked and alpn in answered]
        if common:
            alpn = common[0]
            return cls(client, server, case, alpn, asked[alpn], answered[alpn])
        for stack, role, words in (
            (client, EndpointRole.CLIENT, asked),
            (server, EndpointRole.SERVER, answered),
        ):
            if not words:
                text = f"{stack.name} does not play {case.name} as a {role}"
                return cls(client, server, case, obstacle=text)
        text = (
            f"{client.name} speaks {', '.join(asked)} here, and {server.name} {', '.join(answered)}"
        )
        return cls(client, server, case, obstacle=text)

    def told(self, role: EndpointRole) -> str:
        """The value of `TESTCASE`."""
        return self.told_client if role is EndpointRole.CLIENT else self.told_server

    @property
    def words(self) -> str:
        """Which it is."""
        return (
            f"{self.case.name} with {self.server.name} as server and {self.client.name} as client"
        )

    def stack(self, role: EndpointRole) -> Stack:
        """Who plays a role."""
        return self.client if role is EndpointRole.CLIENT else self.server
