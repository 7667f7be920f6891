"""Samples of queues and TCP sockets while the workload runs. Sampling costs no virtual time."""

import json
from dataclasses import astuple

from headway.guest.netlink import QdiscReader, TcpReader
from headway.guest.network import Network
from headway.guest.orders import SAMPLES_FILE, Sampling

_FIRST_INTERVAL_NS = 10_000_000


class Sampler:
    """Writes one JSON line per sample: time, counters per device, sockets per namespace."""

    def __init__(self, sampling: Sampling, network: Network) -> None:
        self._sampling = sampling
        self._file = open(f"/lab/run/{SAMPLES_FILE}", "w")  # noqa: SIM115  (lives as long as the lab)
        self._qdiscs: dict[str, QdiscReader] = {}
        self._tcp: dict[str, TcpReader] = {}
        for namespace in dict.fromkeys(namespace for namespace, _ in sampling.devices):
            with network.inside(namespace):
                self._qdiscs[namespace] = QdiscReader(
                    [device for place, device in sampling.devices if place == namespace]
                )
        for namespace in sampling.tcp_namespaces:
            with network.inside(namespace):
                self._tcp[namespace] = TcpReader()

    def sample(self, at_ns: int) -> None:
        """Take a sample."""
        self._file.write(
            json.dumps(
                {
                    "at_ns": at_ns,
                    "devices": {
                        device: [astuple(q) for q in self._qdiscs[namespace].read(device)]
                        for namespace, device in self._sampling.devices
                    },
                    "tcp": {
                        namespace: [astuple(info) for info in reader.read()]
                        for namespace, reader in self._tcp.items()
                    },
                },
                separators=(",", ":"),
            )
            + "\n"
        )

    def next_after(self, at_ns: int) -> int:
        """Time of the next sample: dense at the start, where transfers change most."""
        step = min(max(at_ns // 50, _FIRST_INTERVAL_NS), self._sampling.interval_ns)
        return at_ns + step

    def close(self) -> None:
        """Write what is buffered."""
        self._file.close()
