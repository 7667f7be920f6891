"""Measures what a lab costs and prints the table of docs/performance.md.

Run by `make bench`. Wall times are medians; the lab is pinned to one core.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Sequence

from bench.campaign import overhead, throughput
from bench.census import census
from bench.commands import commands
from bench.emulators import emulators
from bench.labs import CORE, downloads, qualities
from bench.loopback import loopback
from bench.pages import pages
from bench.report import reports
from bench.rows import Row, print_rows
from headway.image.layers import layer_names
from headway.lab.ready import ready_image, ready_machine
from headway.terminal import progress


def main() -> None:
    """Measure everything and print the table."""
    machine = ready_machine(ready_image(layers=layer_names()))
    steps: list[Callable[[], Sequence[Row]]] = [
        lambda: downloads(machine),
        lambda: commands(CORE),
        lambda: qualities(machine),
        lambda: pages(machine, CORE),
        lambda: [throughput(machine)],
        overhead,
        reports,
        census,
        emulators,
        loopback,
    ]
    rows: list[Row] = []
    with progress("measuring", len(steps)) as count:
        for step in steps:
            rows += step()
            count(True)
    print_rows(rows)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"CPU time of all labs: {usage.ru_utime:.1f} s user, {usage.ru_stime:.1f} s system")


if __name__ == "__main__":
    main()
