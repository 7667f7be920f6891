"""Whether answers can come before a run is given up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.study.dns import Dns
from headway.study.part import wrong
from headway.study.path import Path
from headway.study.units import Duration


def check_round_trips(
    paths: Sequence[Path | None], farther: Mapping[str, Path], dns: Dns | None, limit: Duration
) -> None:
    """Check that a round trip, and an answer of a resolver, take less than a run may.

    Args:
        paths: between the client and the server.
        farther: from the end of these to other servers, by how their keys begin.
        dns: whom the client asks for addresses; None if nobody.
        limit: limits.virtual.

    Raises:
        PydanticCustomError: it would be given up; names the key.
    """
    own = sum(path.rtt for path in paths if path)
    key, more = max(
        ((key, path.rtt) for key, path in farther.items()),
        key=lambda one: one[1],
        default=("", Duration(0)),
    )
    rtt = Duration(own + more)
    if rtt >= limit:
        raise wrong(
            f"{key}path.rtt",
            f"an RTT of {rtt} in all is beyond limits.virtual ({limit}), after which a run is given up",
        )
    if dns and dns.path.rtt + dns.delay >= limit:
        raise wrong(
            "dns.delay" if dns.delay else "dns.path.rtt",
            f"an answer would come beyond limits.virtual ({limit}), after which a run is given up",
        )
