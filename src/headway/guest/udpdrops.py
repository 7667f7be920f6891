"""Datagrams that hosts dropped because a socket's buffer had no room for them."""

from headway.contract.orders import Orders
from headway.guest.network import Network

_FIELD = "RcvbufErrors"


class UdpDrops:
    """Counts them, at all hosts that have programs."""

    def __init__(self, orders: Orders, network: Network) -> None:
        self._network = network
        self._before = dict.fromkeys((program.namespace for program in orders.programs), 0)

    def since(self) -> dict[str, int]:
        """How many there were at each host since this was asked before."""
        now = {host: self._so_far(host) for host in self._before}
        since = {host: count - self._before[host] for host, count in now.items()}
        self._before = now
        return since

    def _so_far(self, host: str) -> int:
        with self._network.inside(host), open("/proc/self/net/snmp") as file:
            names, values = (line.split() for line in file if line.startswith("Udp:"))
        return int(values[names.index(_FIELD)])
