"""Busy waits: what programs waited for without sleeping, as the lab kernel counts.

In virtual time, whatever would wait for ever is made to take time: calls beyond 100,000 in an
instant, and computing for seconds of the host's processor without a call (kernel patch 0009).
"""

from headway.contract.orders import Spins

_COUNTS = "/proc/sys/kernel/time-travel-"


def spins_so_far() -> Spins:
    """The counts since the lab was booted."""
    return Spins(_read("charged-calls"), _read("forced-ticks"))


def spins_since(before: Spins) -> Spins:
    """The counts since others."""
    now = spins_so_far()
    return Spins(now.charged_calls - before.charged_calls, now.forced_ticks - before.forced_ticks)


def in_words(spins: Spins) -> str:
    """As the end of a sentence that tells why a run did not end well; empty without busy waits."""
    counts = ((spins.forced_ticks, "forced ticks"), (spins.charged_calls, "calls that took time"))
    told = " and ".join(f"{count} {what}" for count, what in counts if count)
    return f"; spins: {told}" if told else ""


def _read(name: str) -> int:
    with open(f"{_COUNTS}{name}") as file:
        return int(file.read())
