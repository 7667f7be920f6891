"""Validation of new paths (RFC 9000, section 8.2): PATH_CHALLENGE and PATH_RESPONSE."""

from __future__ import annotations

from headway.instruments.interop.datagram import Place
from headway.instruments.interop.evidence import CaseEvidence, CheckError
from headway.instruments.interop.frames import PATH_CHALLENGE, PATH_RESPONSE

_LEAST_PACKETS = 2
"""A path to which the server sent a single packet may have ended before it could be validated."""


def check_validation(evidence: CaseEvidence) -> str:
    """Let the server have challenged every path that it went over to, and the client have answered.

    Returns:
        How many paths it went over to.
    """
    counts: dict[tuple[Place, Place], int] = {}
    challenges: dict[tuple[Place, Place], list[bytes]] = {}
    for packet in evidence.server.in_order:
        if packet.of_client:
            continue
        path = packet.datagram.path
        counts[path] = counts.get(path, 0) + 1
        challenges.setdefault(path, []).extend(
            frame.data for frame in packet.frames if frame.kind == PATH_CHALLENGE
        )
    _, *later = counts
    if not later:
        raise CheckError(_only_path(evidence))
    answers = {
        frame.data
        for packet in evidence.client.packets
        if packet.of_client
        for frame in packet.frames
        if frame.kind == PATH_RESPONSE
    }
    for path in later:
        _check_path(path, challenges[path], answers, counts[path])
    return f"{len(later)} new path{'s' if len(later) > 1 else ''}"


def _check_path(
    path: tuple[Place, Place], challenges: list[bytes], answers: set[bytes], count: int
) -> None:
    place = f"{path[0][0]} port {path[0][1]}"
    if not challenges:
        if count < _LEAST_PACKETS:
            return
        raise CheckError(
            f"the server sent {count} packets to the client's new place {place} without a PATH_CHALLENGE "
            "(RFC 9000, section 9.3)"
        )
    if not answers.intersection(challenges):
        raise CheckError(f"the client answered none of the server's PATH_CHALLENGEs to {place}")


def _only_path(evidence: CaseEvidence) -> str:
    """Why the server used a single path: whether its client came from another one."""
    came = list(dict.fromkeys(each.path for each in evidence.server.datagrams if each.of_client))
    if len(came) < 2:
        return "the client used one path only"
    (address, port), _ = came[1]
    return f"the server sent nothing to {address} port {port}, from which its client came"
