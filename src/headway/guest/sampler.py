"""Samples of queues and TCP sockets while the workload runs. Sampling costs no virtual time.

The first line of the file is a `SamplesHeader`. Every other line is a sample, a JSON array:
microseconds since the workload's start, for each device its queue's fields or null if it has none,
and for each namespace the fields of every connection.
"""

import json
import time

from headway.contract.orders import CONTROLS_FILE, SAMPLES_FILE, SamplesHeader, Sampling, dump
from headway.guest.netlink import QueueReader, QueueStats, TcpInfo, TcpReader
from headway.guest.network import Network

_FIRST_INTERVAL_NS = 10_000_000
_SHARE_OF_TIME = 200
"""In a long run, an interval is this part of the time since its start."""


class Sampler:
    """Writes a line per sample."""

    def __init__(self, sampling: Sampling, network: Network, directory: str) -> None:
        self._interval_ns = sampling.interval_ns
        self._file = open(f"{directory}/{SAMPLES_FILE}", "w")  # noqa: SIM115  (lives as long as the lab)
        self._directory, self._namespaces = directory, sampling.tcp_namespaces
        self._queues: list[QueueReader] = []
        self._tcp: list[TcpReader] = []
        for namespace, device in sampling.devices:
            with network.inside(namespace):
                self._queues.append(QueueReader(device))
        for namespace in sampling.tcp_namespaces:
            with network.inside(namespace):
                self._tcp.append(TcpReader())
        self._of = sampling
        self._begun = False

    def sample(self, at_ns: int) -> None:
        """Take a sample."""
        if not self._begun:
            self._begun = True
            header = SamplesHeader(
                time.time_ns() - at_ns,
                self._of.devices,
                self._of.tcp_namespaces,
                QueueStats._fields,
                TcpInfo._fields,
            )
            self._file.write(f"{dump(header)}\n")
        queues = [queue.read() for queue in self._queues]
        self._write([at_ns // 1000, queues, [tcp.read() for tcp in self._tcp]])

    def next_after(self, at_ns: int) -> int:
        """Time of the next sample."""
        return next_sample_ns(at_ns, self._interval_ns)

    def close(self) -> None:
        """Write what is buffered, and which congestion controls there were."""
        self._file.close()
        controls = {
            namespace: sorted(set(reader.controls.values()))
            for namespace, reader in zip(self._namespaces, self._tcp, strict=True)
        }
        with open(f"{self._directory}/{CONTROLS_FILE}", "w") as file:
            json.dump(controls, file)

    def _write(self, line: list[object]) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")


def next_sample_ns(at_ns: int, interval_ns: int) -> int:
    """Time of the next sample: dense at the start, where transfers change most.

    In a run of minutes intervals grow on, or reading samples would be half of its cost.
    """
    longest_ns = max(interval_ns, at_ns // _SHARE_OF_TIME)
    return at_ns + min(max(at_ns // 50, _FIRST_INTERVAL_NS), longest_ns)
