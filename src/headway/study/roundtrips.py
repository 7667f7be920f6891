"""Whether answers, and what they carry, can come before a run is given up."""

from __future__ import annotations

from collections.abc import Mapping

from headway.study.dns import Dns
from headway.study.part import wrong
from headway.study.path import Path
from headway.study.units import Duration, Size
from headway.study.workloadpart import WorkloadPart


def check_round_trips(
    chain: Mapping[str, Path | None],
    farther: Mapping[str, Path],
    dns: Dns | None,
    limit: Duration,
) -> None:
    """Check that a round trip, and an answer of a resolver, take less than a run may.

    Args:
        chain: the paths between the client and the server, by their keys.
        farther: from the end of these to other servers, by their keys.
        dns: whom the client asks for addresses; None if nobody.
        limit: limits.virtual.

    Raises:
        PydanticCustomError: it would be given up; names the key.
    """
    own = sum(path.rtt for path in chain.values() if path)
    key, more = max(
        ((key, path.rtt) for key, path in farther.items()),
        key=lambda item: item[1],
        default=("path", Duration(0)),
    )
    rtt = Duration(own + more)
    if rtt >= limit:
        raise wrong(
            f"{key}.rtt",
            f"an RTT of {rtt} in all is beyond limits.virtual ({limit}), after which a run is given up",
        )
    if dns and dns.path.rtt + dns.delay >= limit:
        raise wrong(
            "dns.delay" if dns.delay else "dns.path.rtt",
            f"an answer would come beyond limits.virtual ({limit}), after which a run is given up",
        )


def check_transfer(
    chain: Mapping[str, Path | None], workload: WorkloadPart, limit: Duration
) -> None:
    """Check that what a request carries can pass before a run is given up, at the links' highest rates.

    Args:
        chain: the paths that it crosses, by their keys.
        workload: what is carried; nothing is known of one that ends by itself, or that has two paths.
        limit: limits.virtual.

    Raises:
        PydanticCustomError: it cannot; names the key.
    """
    amount = workload.amount
    if amount is None or workload.ends is not None or workload.path_beside is not None:
        return
    for key, path in chain.items():
        for link in path.links if path else ():
            passing = (link.up if workload.uploads else link.down).most_bytes(limit)
            if passing is not None and passing < amount:
                raise wrong(
                    f"{key}.rate",
                    f"lets {Size(passing)} pass until limits.virtual ({limit}), when a run is given up; "
                    f"the workload has {amount}",
                )
