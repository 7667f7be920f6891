"""A probe of the self-test: sends planned packets and records all that its device carries.

Packets are recorded by the kernel into a ring of shared memory (PACKET_RX_RING, version 2:
Documentation/networking/packet_mmap.rst), with their times, so that recording needs no system
call per packet; they are sent in batches that the kernel cuts into datagrams (UDP_SEGMENT,
udp(7)). System calls are what costs wall time in a lab.
"""

from __future__ import annotations

import errno
import heapq
import mmap
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

from headway.contract.probe_orders import (
    HEADER_BYTES,
    OTHER_FLOW,
    PAYLOAD,
    RECEIVED,
    RECORD,
    REPLY,
    REQUEST,
    SENT,
    SMALL_FRAME_BYTES,
    START_GRID_NS,
    TCP_PORT,
    UDP_PORT,
    ProbeFlow,
    ProbeOrders,
)
from headway.contract.text import load
from headway.guest.icmp import ECHO_REPLY, ECHO_REQUEST, echo_request

_RUN = "/lab/run"

_SOL_PACKET = 263
_PACKET_RX_RING, _PACKET_STATISTICS, _PACKET_VERSION = 5, 6, 10
_TPACKET_V2 = 1
_ETH_P_ALL = 3
_TO_OTHER_HOST, _OUTGOING = 3, 4  # sockaddr_ll.sll_pkttype
_SLOT_BYTES = 128  # the ring's header and a small frame
_BLOCK_BYTES = 256 * _SLOT_BYTES
_SLOT = struct.Struct("=IIIHHII")  # struct tpacket2_hdr
_PACKET_TYPE_OFFSET = 32 + 10  # in the sockaddr_ll behind the header
_IPV4, _ICMP, _UDP = 0x0800, 1, 17

_UDP_SEGMENT = 103
_IP_MTU_DISCOVER, _IP_PMTUDISC_PROBE = 10, 3
_MAX_SEGMENTS = 64
_MAX_BATCH_BYTES = 65_000


class PacketRecorder:
    """Everything that a device sends and receives, from now on."""

    def __init__(self, device: str, capacity: int) -> None:
        blocks = -(-capacity * _SLOT_BYTES // _BLOCK_BYTES)
        self._slots = blocks * _BLOCK_BYTES // _SLOT_BYTES
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.setsockopt(_SOL_PACKET, _PACKET_VERSION, _TPACKET_V2)
        ring = struct.pack("=IIII", _BLOCK_BYTES, blocks, _SLOT_BYTES, self._slots)
        self._socket.setsockopt(_SOL_PACKET, _PACKET_RX_RING, ring)
        self._memory = mmap.mmap(self._socket.fileno(), blocks * _BLOCK_BYTES)
        self._socket.bind((device, _ETH_P_ALL))

    def records(self, start_realtime_ns: int) -> Iterator[bytes]:
        """What was recorded, as `RECORD`; times from a time of the realtime clock on."""
        _, dropped = struct.unpack(
            "=II", self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8)
        )
        if dropped:
            raise RuntimeError(f"{dropped} packets found no room in the ring")
        for offset in range(0, self._slots * _SLOT_BYTES, _SLOT_BYTES):
            status, length, kept, mac, _, seconds, nanoseconds = _SLOT.unpack_from(
                self._memory, offset
            )
            if not status & 1:
                return
            at_ns = seconds * 1_000_000_000 + nanoseconds - start_realtime_ns
            frame = self._memory[offset + mac : offset + mac + kept]
            flow, number, kind, intact = _identify(
                frame, length, self._memory[offset + _PACKET_TYPE_OFFSET]
            )
            source = (0, 0) if flow == OTHER_FLOW or kind > RECEIVED else _source(frame)
            yield RECORD.pack(at_ns, number, flow, min(length, 0xFFFF), kind, intact, *source)


def _identify(frame: bytes, length: int, packet_type: int) -> tuple[int, int, int, int]:
    """Flow, number, kind and intactness of a frame."""
    kind = SENT if packet_type == _OUTGOING else RECEIVED
    is_ip = len(frame) >= HEADER_BYTES and struct.unpack_from("!H", frame, 12)[0] == _IPV4
    if not is_ip or packet_type == _TO_OTHER_HOST:
        return OTHER_FLOW, 0, kind, 0
    protocol = frame[23]
    if protocol == _ICMP and frame[34] in (ECHO_REPLY, ECHO_REQUEST):
        flow, number = struct.unpack_from("!HH", frame, 38)
        return flow, number, REPLY if frame[34] == ECHO_REPLY else REQUEST, 1
    small = len(frame) == length == SMALL_FRAME_BYTES  # probe packets, but nothing else
    intact = int(kind == SENT or not small or _checksums_are_right(frame))
    if protocol != _UDP or len(frame) < HEADER_BYTES + PAYLOAD.size:
        return OTHER_FLOW, 0, kind, intact
    flow, number = PAYLOAD.unpack_from(frame, HEADER_BYTES)
    return flow, number, kind, intact


def _source(frame: bytes) -> tuple[int, int]:
    """The address and the port that a UDP packet comes from."""
    address, _, port = struct.unpack_from("!IIH", frame, 26)
    return address, port


def _checksums_are_right(frame: bytes) -> bool:
    """Whether the Internet checksums of IP and UDP hold (RFC 1071, RFC 768)."""
    words = struct.unpack_from(f"!{(len(frame) - 14) // 2}H", frame, 14)
    udp_length = len(frame) - 34
    header = sum(words[:10])
    datagram = sum(words[6:]) + _UDP + udp_length
    return bool(header % 0xFFFF == 0 and datagram % 0xFFFF == 0)


class _ProbeTransfer:
    """Bytes sent each way over one TCP connection; what is lost on the way may be missing."""

    def __init__(self, orders: ProbeOrders) -> None:
        self._orders = orders
        self._listener = None
        if not orders.connects:
            self._listener = socket.create_server((orders.address, TCP_PORT))

    def run(self) -> None:
        """Send and receive within the transfer's time, and leave nothing behind."""
        ends_ns = time.monotonic_ns() + self._orders.transfer_span_ns
        through = self._connection()
        if through is None:
            return
        # Closing resets the connection, so that no retransmission meets a later step.
        through.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with through, suppress(OSError):
            through.settimeout(_seconds_until(ends_ns))
            through.sendall(bytes(self._orders.transfer_bytes))
            left = self._orders.transfer_bytes
            while left > 0:
                through.settimeout(_seconds_until(ends_ns))
                left -= len(through.recv(left)) or left
            _sleep_until(ends_ns)

    def _connection(self) -> socket.socket | None:
        span_s = self._orders.transfer_span_ns / 1e9
        try:
            if self._listener is None:
                return socket.create_connection((self._orders.peer, TCP_PORT), span_s)
            self._listener.settimeout(span_s)
            return self._listener.accept()[0]
        except OSError:
            return None


class _Sender:
    """Sends the packets of flows at their times."""

    def __init__(self, orders: ProbeOrders) -> None:
        self._orders = orders
        self._sent = [0] * len(orders.flows)
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind((orders.address, UDP_PORT))
        self._udp.connect((orders.peer, UDP_PORT))
        # Packets stay as long as they are, whatever routers say.
        self._udp.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _IP_PMTUDISC_PROBE)
        self._icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self._icmp.connect((orders.peer, 0))
        self._transfer = _ProbeTransfer(orders)

    def run(self, start_ns: int) -> None:
        """Send everything, in the order of times."""
        timed = [
            [(at_ns, number, count) for at_ns, count in flow.sends]
            for number, flow in enumerate(self._orders.flows)
        ]
        if self._orders.transfer_span_ns:
            timed.append([(self._orders.transfer_at_ns, OTHER_FLOW, 1)])
        for at_ns, number, count in heapq.merge(*timed):
            _sleep_until(start_ns + at_ns)
            if number == OTHER_FLOW:
                self._transfer.run()
            else:
                self._send(number, self._orders.flows[number], count)

    def _send(self, number: int, flow: ProbeFlow, count: int) -> None:
        first = self._sent[number]
        self._sent[number] += count
        if flow.echo:
            for sequence in range(first, first + count):
                _send_now(self._icmp, echo_request(number, sequence, flow.frame_bytes))
            return
        payload = flow.frame_bytes - HEADER_BYTES
        batch = min(_MAX_SEGMENTS, _MAX_BATCH_BYTES // payload)
        self._udp.setsockopt(socket.IPPROTO_UDP, _UDP_SEGMENT, payload if count > 1 else 0)
        for start in range(first, first + count, batch):
            numbers = range(start, min(start + batch, first + count))
            packets = (PAYLOAD.pack(number, n).ljust(payload, b"\0") for n in numbers)
            _send_now(self._udp, b"".join(packets))


def _send_now(through: socket.socket, data: bytes) -> None:
    """Send, whatever became of packets before, of which a socket tells when it is to send others."""
    while True:
        try:
            through.send(data)
        except OSError as error:
            if error.errno not in (errno.ECONNREFUSED, errno.EMSGSIZE):
                raise
        else:
            return


def _sleep_until(monotonic_ns: int) -> None:
    left = monotonic_ns - time.monotonic_ns()
    if left > 0:
        time.sleep(left / 1e9)


def _seconds_until(monotonic_ns: int) -> float:
    return max(monotonic_ns - time.monotonic_ns(), 1) / 1e9


def _no_timer_slack() -> None:
    # By default the kernel may wake a sleeper 50 microseconds late.
    with open("/proc/self/timerslack_ns", "w") as file:
        file.write("1")


def main() -> None:
    """Carry out the orders in the file named by the first argument, in the run's directory."""
    now_ns = time.monotonic_ns()
    start_ns = now_ns - now_ns % START_GRID_NS
    start_realtime_ns = time.time_ns() - time.monotonic_ns() + start_ns
    with open(f"{_RUN}/{sys.argv[1]}") as file:
        orders = load(ProbeOrders, file.read())
    _no_timer_slack()
    recorder = PacketRecorder(orders.device, orders.capacity)
    sender = _Sender(orders)
    sender.run(start_ns)
    _sleep_until(start_ns + orders.until_ns)
    with open(f"{_RUN}/{orders.result}", "wb") as file:
        file.write(b"".join(recorder.records(start_realtime_ns)))
