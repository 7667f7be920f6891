"""Columns of what happened to packets."""

from __future__ import annotations

from typing import Any

from headway.columns.column import LOWER_HIGHER, Columns, Needs, column, metric

DIGEST_DIGITS = 4
"""Of a packet in `Faulted.packet_digests`."""

_LOST = "that the loss models of links took, blackouts not counted"
_BLACKED_OUT = "that blackouts took"
_BY_NUMBER = "that were dropped by their number (`drop_packets`)"
_QUEUE = "that queues dropped"
_REORDERED = "that left a link after one that had come to it later (RFC 4737)"
_DUPLICATED = "that links added as copies of others"
_CORRUPTED = "in which links flipped a bit"
_MARKED = "that queues marked instead of dropping them (ECN)"
_POLICED = "that policers dropped"
_UDP_STOPPED = "of UDP that were blocked, rejected or lost as such (`udp`)"
_TOO_LONG = "that were longer than a link's MTU, and dropped"
_FRAGMENTED = "that were longer than a link's MTU, and left in fragments"

_ECN_CHANGED = "whose ECN field a link changed (`ecn`)"


def _down(what: str) -> Any:
    return column(f"Packets {what}, towards the client.")


def _up(what: str) -> Any:
    return column(f"Packets {what}, towards the server.")


class Disturbed(Columns):
    """What the paths name to disturb packets, and how many met it."""

    disturbances: tuple[str, ...] = column(
        "The disturbances that the paths name, on any link between client and server, such as `loss down: 1 "
        "%`. The next 29 columns show whether they took place, on all links; null if the lab did not get that"
        " far.",
        default=(),
    )
    lost_down: int | None = _down(_LOST)
    lost_up: int | None = _up(_LOST)
    blacked_out_down: int | None = _down(_BLACKED_OUT)
    blacked_out_up: int | None = _up(_BLACKED_OUT)
    dropped_by_number_down: int | None = _down(_BY_NUMBER)
    dropped_by_number_up: int | None = _up(_BY_NUMBER)
    queue_dropped_down: int | None = _down(_QUEUE)
    queue_dropped_up: int | None = _up(_QUEUE)
    reordered_down: int | None = _down(_REORDERED)
    reordered_up: int | None = _up(_REORDERED)
    duplicated_down: int | None = _down(_DUPLICATED)
    duplicated_up: int | None = _up(_DUPLICATED)
    corrupted_down: int | None = _down(_CORRUPTED)
    corrupted_up: int | None = _up(_CORRUPTED)
    marked_down: int | None = _down(_MARKED)
    marked_up: int | None = _up(_MARKED)
    policed_down: int | None = _down(_POLICED)
    policed_up: int | None = _up(_POLICED)
    udp_stopped_down: int | None = _down(_UDP_STOPPED)
    udp_stopped_up: int | None = _up(_UDP_STOPPED)
    too_long_down: int | None = _down(_TOO_LONG)
    too_long_up: int | None = _up(_TOO_LONG)
    fragmented_down: int | None = _down(_FRAGMENTED)
    fragmented_up: int | None = _up(_FRAGMENTED)
    ecn_changed_down: int | None = _down(_ECN_CHANGED)
    ecn_changed_up: int | None = _up(_ECN_CHANGED)
    mapped_up: int | None = column(
        "Packets for which NATs on the way made a mapping (a port of theirs for a connection), before their first "
        "rebinding: one for each connection, and one more whenever a mapping was forgotten because it was idle."
    )
    remapped_up: int | None = column("The same after their first rebinding.")
    unmapped_down: int | None = column(
        "Packets towards the client that NATs dropped because they belonged to no mapping."
    )
    udp_buffer_drops: int | None = column(
        "Datagrams that hosts with programs dropped, because the receiving socket's buffer had no room "
        "(`UdpRcvbufErrors`); null if the lab did not report it."
    )
    out_of_order_segments: float | None = metric(
        "TCP segments that came to the client's host while an earlier one was missing, and waited for it "
        "(`TCPOFOQueue`). Null without TCP there, and of pages that were visited before.",
        "segments held back",
        "HOL segments",
        words=LOWER_HIGHER,
        needs=Needs.TCP,
    )


class Faulted(Columns):
    """Of a setting with a single fault: the packets of its link, and which of them met it."""

    fault: str | None = column(
        "What happened to which packet: `lose down 3`; `none` if nothing did, but packets were counted."
    )
    fault_met: int | None = column("Packets that the fault happened to.")
    fault_at_s: float | None = column(
        "When the first of these came to the link, from the start of the workload."
    )
    fault_bytes: int | None = column("Its size as an IP packet.")
    fault_carried: str | None = column(
        "What it carried, as `Initial: CRYPTO (ServerHello), ACK`; QUIC is opened by the client's secrets."
    )
    packets_up: int | None = column(
        "Packets that came to the link of the fault, towards the server."
    )
    packets_down: int | None = column("The same towards the client.")
    handshake_packets_up: int | None = column(
        "Number of the last packet towards the server that the handshake needed: of QUIC the last with a long "
        "header, of TLS over TCP the client's ChangeCipherSpec."
    )
    handshake_packets_down: int | None = column("The same towards the client.")
    packets_before: int | None = column(
        "Packets of both directions before the first that the fault happened to; null if it happened to none."
    )
    packet_digests: str | None = column(
        "What packets were sent and when: four hexadecimal digits a packet, each of all packets up to it. Of a run "
        "with a fault those of the last packet before it, which equal those of its run without one if the program "
        "does the same each time."
    )


class Observed(Columns):
    """Which transport was spoken, whatever programs say of it."""

    tcp_packets_down: int | None = column(
        "Packets of TCP that came to the client's host from whom it asks while the workload went on. A run to"
        " which more came over the other transport has failed. Null of several flows together."
    )
    udp_packets_down: int | None = column("The same of UDP.")
    tcp_packets_up: int | None = column("Packets of TCP that came from the client to whom it asks.")
    udp_packets_up: int | None = column("The same of UDP.")
    second_path_packets_down: int | None = column(
        "Those of both transports, down, that came over the path of the client's second interface; null without one."
    )
    second_path_packets_up: int | None = column("The same towards the server.")


class Validation(Columns):
    """What the run's own packets met."""

    control_rtt_ms: float | None = column(
        "Median round-trip time of the control pings before the workload, ms; null without any "
        "that were answered."
    )
    control_rtt_min_ms: float | None = column("Shortest round-trip time of the control pings, ms.")
    control_rtt_max_ms: float | None = column("Longest round-trip time of the control pings, ms.")
    control_lost: int | None = column(
        "Control pings that were not answered; null without `control`."
    )
    validation: str | None = column(
        "Whether the run's own packets met what was configured: `passed`, or the checks "
        "that failed. Null without control pings and captures."
    )
