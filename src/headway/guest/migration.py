"""Connection migration: a host's address changes in the middle of the workload."""

import os
import subprocess
from functools import cache

from headway.contract.orders import Migration
from headway.guest.network import Network, NetworkError, configure_addresses

_POLL_NS = 100_000
_FRAME_BYTES = 1514


def time_to_migration(migration: Migration, network: Network) -> int:
    """How long to wait before looking again, in nanoseconds; 0 if the address changes now.

    A link with a rate cannot deliver what is missing any sooner, so a look is rarely in vain; but
    a frame is counted as a whole at its end, and may have begun long ago.
    """
    missing = migration.after_bytes - _received_bytes(migration, network)
    if missing <= 0:
        return 0
    if migration.rate_bit_s is None:
        return _POLL_NS
    soonest = (missing - _FRAME_BYTES) * 8 * 10**9 // migration.rate_bit_s
    return max(soonest, _POLL_NS)


def migrate(migration: Migration, network: Network) -> None:
    """Give the host its new address, and end the TCP connections of the old one.

    Raises:
        NetworkError: a command was refused.
    """
    with network.inside(migration.namespace):
        configure_addresses(migration.ip)
        argv = ["ss", "--tcp", "--kill", "src", migration.old_address]
        done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0 or done.stderr:
        raise NetworkError(f"{' '.join(argv)}: {' '.join(done.stderr.split())}")


def _received_bytes(migration: Migration, network: Network) -> int:
    table = os.pread(_counters(network, migration.namespace), 1 << 16, 0).decode()
    for line in table.splitlines():
        name, _, counters = line.partition(":")
        if name.strip() == migration.device:
            return int(counters.split()[0])
    raise NetworkError(f"no device {migration.device}")


@cache
def _counters(network: Network, namespace: str) -> int:
    """A file with the counters of a namespace's devices: it shows those where it was opened."""
    with network.inside(namespace):
        return os.open("/proc/self/net/dev", os.O_RDONLY | os.O_CLOEXEC)
