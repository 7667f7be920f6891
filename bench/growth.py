"""How the cost of a run grows: with virtual time, flows that compete, links, hops that route, and bytes.

    python -m bench.growth           # the tables of what it measures
    python -m bench.growth flows     # those whose name has a match

Processor time of a lab's processes, and of this one for reading what it left; one run each after one that does not
count, so other work of the machine matters little. `bench.many` has numbers of runs.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import labs
from headway.image.layers import layer_names
from headway.lab.bodies import body_file
from headway.lab.machine import Machine
from headway.lab.ready import ready_image, ready_machine
from headway.study.setting import Setting

_ENDS = {
    "protocol": "tcp",
    "client": {"program": "headway-perf"},
    "server": {"program": "headway-perf"},
}
_TRICKLE = {"path": {"rate": "8 kbit/s", "rtt": "50 ms"}, "limits": {"virtual": "100000 s"}}
_SHARED = {"path": {"rate": "50 Mbit/s", "rtt": "40 ms", "queue": "1 BDP"}}


@dataclass(frozen=True)
class Cost:
    """What a run cost, seconds of processor time, and how long it was on the lab's clock."""

    lab_s: float
    reading_s: float
    virtual_s: float


def series() -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Of each table its name; of each row its value and its setting."""
    for duration_s in (10, 100, 1000, 10_000, 86_400):
        workload = {"kind": "bulk", "duration": f"{duration_s} s"}
        yield "trickle", f"{duration_s} s", _ENDS | _TRICKLE | {"workload": workload}
    for count in (1, 2, 4, 8, 16, 31):
        flows = {"flow": {"count": count}}
        yield "flows", str(count), _ENDS | _SHARED | {"workload": _bulk(20), "flows": flows}
    for count in (1, 2, 8, 16):
        link = {"rate": "10 Mbit/s", "rtt": f"{100 / count:g} ms"}
        path = {"links": [link] * count}
        yield "links", str(count), {"path": path, "workload": {"size": "10 MiB"}}
    for count in (2, 8, 16):
        hops = [
            {"name": f"hop-{n}", "path": {"rtt": f"{100 / count:g} ms"}} for n in range(1, count)
        ]
        # One queue for all: of 1 BDP, a shorter first path would have a smaller one.
        first = {"rate": "10 Mbit/s", "rtt": f"{100 / count:g} ms", "queue": "125 kB"}
        yield "hops", str(count), {"path": first, "hops": hops, "workload": {"size": "10 MiB"}}
    for size in ("100 kB", "1 MB", "10 MB", "100 MB", "1 GB"):
        fast = {"rate": "100 Mbit/s", "rtt": "40 ms"}
        yield "bytes", size, {"path": fast, "workload": {"size": size}}


def _bulk(duration_s: int) -> dict[str, str]:
    return {"kind": "bulk", "duration": f"{duration_s} s"}


def cost(machine: Machine, raw: Mapping[str, Any]) -> Cost:
    """One run of a setting, whose bodies are there already."""
    for size in Setting.model_validate(raw).served_sizes:
        body_file(size)
    with tempfile.TemporaryDirectory() as directory:
        before, began = _children_s(), time.process_time()
        record = labs.run(machine, Path(directory) / "run", raw)
        if record.error:
            raise SystemExit(f"growth: {record.error}")
        reading_s = time.process_time() - began
        return Cost(_children_s() - before, reading_s, record.virtual_s or 0.0)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a table for each name."""
    machine = ready_machine(ready_image(layers=layer_names()))
    cost(machine, _ENDS | _SHARED | {"workload": _bulk(1)})
    last = None
    for name, value, raw in series():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        if name != last:
            print(
                f"\n| {name} | virtual time | the lab's processor time | reading |\n|---|---|---|---|"
            )
            last = name
        one = cost(machine, raw)
        print(
            f"| {value} | {one.virtual_s:.1f} s | {one.lab_s:.2f} s | {one.reading_s:.2f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main()
