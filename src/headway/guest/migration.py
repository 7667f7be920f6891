"""Connection migration: a host's address changes in the middle of the workload."""

import subprocess

from headway.guest.network import Network, configure_addresses
from headway.guest.orders import Migration

_POLL_NS = 100_000
_FRAME_BYTES = 1514


def time_to_migration(migration: Migration, network: Network) -> int:
    """How long to wait before looking again, in nanoseconds; 0 if the address changes now.

    A link with a rate cannot deliver what is missing any sooner, so a look is rarely in vain; but
    a frame is counted as a whole at its end, and may have begun long ago.
    """
    with network.inside(migration.namespace):
        missing = migration.after_bytes - _received_bytes(migration.device)
    if missing <= 0:
        return 0
    if migration.rate_bit_s is None:
        return _POLL_NS
    soonest = (missing - _FRAME_BYTES) * 8 * 10**9 // migration.rate_bit_s
    return max(soonest, _POLL_NS)


def migrate(migration: Migration, network: Network) -> None:
    """Give the host its new address, and end the TCP connections of the old one."""
    with network.inside(migration.namespace):
        configure_addresses(migration.ip)
        subprocess.run(
            ["ss", "--tcp", "--kill", "src", migration.old_address], stdout=subprocess.DEVNULL
        )


def _received_bytes(device: str) -> int:
    with open("/proc/self/net/dev") as lines:
        for line in lines:
            name, _, counters = line.partition(":")
            if name.strip() == device:
                return int(counters.split()[0])
    raise OSError(f"no device {device}")
