"""Control pings: ICMP echoes before the workload, which tell what its path is like."""

import select
import socket
import time

from headway.contract.orders import Pings
from headway.guest.icmp import answered_sequence, echo_request
from headway.guest.network import Network

_IDENTIFIER = 1
_LARGEST_PACKET_BYTES = 65535


def ping(orders: Pings, network: Network) -> tuple[int | None, ...]:
    """Send the requests and await their replies.

    One more interval passes after the last reply, so that no link still owes the time that a ping
    took it.

    Returns:
        Round-trip times in nanoseconds, in the order of the requests; None where no reply came.
    """
    with network.inside(orders.namespace):
        icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    with icmp:
        icmp.connect((orders.address, 0))
        sent_ns: list[int] = []
        took_ns: dict[int, int] = {}
        start_ns = time.monotonic_ns()
        for number in range(orders.count):
            _receive_until(icmp, start_ns + number * orders.interval_ns, sent_ns, took_ns)
            sent_ns.append(time.monotonic_ns())
            icmp.send(echo_request(_IDENTIFIER, number, orders.frame_bytes))
        _receive_until(icmp, sent_ns[-1] + orders.wait_ns, sent_ns, took_ns, orders.count)
    time.sleep(orders.interval_ns / 1e9)
    return tuple(took_ns.get(number) for number in range(orders.count))


def _receive_until(
    icmp: socket.socket,
    until_ns: int,
    sent_ns: list[int],
    took_ns: dict[int, int],
    enough: int | None = None,
) -> None:
    """Receive replies until a time, or until so many have come."""
    while len(took_ns) != enough and (left_ns := until_ns - time.monotonic_ns()) > 0:
        if not select.select([icmp], [], [], left_ns / 1e9)[0]:
            continue
        packet = icmp.recv(_LARGEST_PACKET_BYTES)
        now_ns = time.monotonic_ns()
        number = answered_sequence(packet[(packet[0] & 0x0F) * 4 :], _IDENTIFIER)
        if number is not None:
            took_ns.setdefault(number, now_ns - sent_ns[number])
