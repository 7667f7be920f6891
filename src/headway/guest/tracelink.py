"""A link driven by a Mahimahi trace: a process between a TUN device and its namespace.

Kernel queueing disciplines know rates, not delivery opportunities, so these packets pass through
a process. In virtual time its computing takes no time, so opportunities are met exactly.
"""

import fcntl
import mmap
import os
import select
import struct
import time
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from headway.contract.orders import TraceLink
from headway.guest.network import Network

_TUNSETIFF = 0x400454CA
_IFF_TUN_NO_PI = 0x1001
_OPPORTUNITY_BYTES = 1500
_LARGEST_PACKET = 65536
_COUNT = struct.Struct("=Q")


class TraceProcess(NamedTuple):
    """The process of a trace-driven link, and memory that it shares."""

    pid: int
    shared: mmap.mmap

    @property
    def dropped(self) -> int:
        """Packets for which the queue had no room so far."""
        return int(_COUNT.unpack_from(self.shared)[0])


def start_trace_link(link: TraceLink, network: Network, start_ns: int) -> TraceProcess:
    """Fork the process of a trace-driven link.

    Args:
        link: the link; its TUN device exists already.
        network: where the device is.
        start_ns: time of the monotonic clock at which the trace begins.
    """
    with network.inside(link.namespace):
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(tun, _TUNSETIFF, struct.pack("16sH22x", link.device.encode(), _IFF_TUN_NO_PI))
    shared = mmap.mmap(-1, _COUNT.size)
    pid = os.fork()
    if pid == 0:
        _wake_on_time()
        _Forwarder(link, tun, start_ns, shared).run()
    os.close(tun)
    return TraceProcess(pid, shared)


def _wake_on_time() -> None:
    # By default the kernel may wake a sleeper 50 microseconds late.
    with open("/proc/self/timerslack_ns", "w") as file:
        file.write("1")


def opportunities(times_ms: tuple[int, ...], start_ns: int) -> Iterator[int]:
    """Times in nanoseconds of all opportunities, the trace repeated without end."""
    period = times_ms[-1]
    lap = 0
    while True:
        for time_ms in times_ms:
            yield start_ns + (lap * period + time_ms) * 1_000_000
        lap += 1


class _Forwarder:
    """Holds packets until an opportunity has room for them."""

    def __init__(self, link: TraceLink, tun: int, start_ns: int, shared: mmap.mmap) -> None:
        self._tun = tun
        self._shared = shared
        self._dropped = 0
        self._limit_bytes = link.limit_bytes
        self._times = opportunities(link.opportunities_ms, start_ns)
        self._next = next(self._times)
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0
        self._sent_of_first = 0

    def run(self) -> None:
        """Forward until killed."""
        while True:
            wait_s = None
            if self._queue:
                wait_s = max(0, self._next - time.monotonic_ns()) / 1e9
            # select, because poll and epoll round to milliseconds.
            if select.select([self._tun], [], [], wait_s)[0]:
                self._skip_unused()
                self._take_all()
            self._deliver_due()

    def _skip_unused(self) -> None:
        """Opportunities that passed while nothing waited are lost."""
        if not self._queue:
            now = time.monotonic_ns()
            while self._next < now:
                self._next = next(self._times)

    def _take_all(self) -> None:
        while True:
            try:
                packet = os.read(self._tun, _LARGEST_PACKET)
            except BlockingIOError:
                return
            if self._queued_bytes + len(packet) <= self._limit_bytes:
                self._queue.append(packet)
                self._queued_bytes += len(packet)
            else:
                self._dropped += 1
                _COUNT.pack_into(self._shared, 0, self._dropped)

    def _deliver_due(self) -> None:
        now = time.monotonic_ns()
        while self._queue and self._next <= now:
            room = _OPPORTUNITY_BYTES
            self._next = next(self._times)
            while self._queue and room > 0:
                room = self._use(room)

    def _use(self, room: int) -> int:
        """Spend an opportunity's bytes on the first packet; a packet may need several."""
        left = len(self._queue[0]) - self._sent_of_first
        if left > room:
            self._sent_of_first += room
            return 0
        packet = self._queue.popleft()
        self._queued_bytes -= len(packet)
        self._sent_of_first = 0
        os.write(self._tun, packet)
        return room - left
