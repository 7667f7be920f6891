"""Measures what runs of each kind cost, and writes the figures that ship with Headway.

    python -m bench.costs               # all kinds
    python -m bench.costs 'chromium h3' # those whose name has a match; the others stay

measures every client and server, and every proxy before one server, one lab at a time on one
core, and writes ``src/headway/campaign/costs.json``: the least squares of a fixed cost, and costs per request,
per megabyte and per second of the lab's clock. Costs are processor time, so other work of the machine does not count.
"""

from __future__ import annotations

import itertools
import json
import platform
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from headway.campaign import costs
from headway.campaign.costs import Cost, fit, learnt, taken_by
from headway.campaign.feasibility import check_installed
from headway.campaign.local import LocalExecutor
from headway.campaign.work import kind_of
from headway.columns import Record, Status
from headway.errors import WrongInputError
from headway.image.layers import layer_names
from headway.lab.bodies import body_file
from headway.lab.cores import available_cores
from headway.lab.ready import ready_image, ready_machine
from headway.planning.capability_checks import check_programs
from headway.planning.deploy import deploy
from headway.planning.runs import Run
from headway.programs.registry import CLIENTS, PROXIES, SERVERS
from headway.records.provenance import host_facts
from headway.study.host import Protocol
from headway.study.setting import Setting
from headway.terminal import note, progress

LOADS: tuple[tuple[str, dict[str, str]], ...] = (
    ("1 kB", {"rate": "10 Mbit/s", "rtt": "10 ms"}),
    ("1 kB", {"rate": "10 Mbit/s", "rtt": "600 ms"}),
    ("1 MB", {"rate": "10 Mbit/s", "rtt": "50 ms"}),
    ("1 MB", {"rate": "500 kbit/s", "rtt": "20 ms"}),
    ("5 MB", {"rate": "50 Mbit/s", "rtt": "20 ms"}),
    ("10 MB", {"rate": "10 Mbit/s", "rtt": "50 ms"}),
)
"""Sizes and paths that tell the three costs apart."""
PAGES: tuple[tuple[str, dict[str, str]], ...] = (
    ("objects-1x10kB", {"rate": "10 Mbit/s", "rtt": "50 ms"}),
    ("objects-20x20kB", {"rate": "10 Mbit/s", "rtt": "50 ms"}),
    ("objects-20x20kB", {"rate": "1 Mbit/s", "rtt": "600 ms"}),
    ("objects-100x20kB", {"rate": "10 Mbit/s", "rtt": "50 ms"}),
    ("objects-10x1MB", {"rate": "10 Mbit/s", "rtt": "50 ms"}),
)
"""The same of pages, which are loaded several times in a boot."""
PAGE_LOADS = 5
BULK: tuple[tuple[str, dict[str, str]], ...] = (
    ("1 s", {"rate": "1 Mbit/s", "rtt": "50 ms"}),
    ("10 s", {"rate": "1 Mbit/s", "rtt": "50 ms"}),
    ("100 s", {"rate": "1 Mbit/s", "rtt": "50 ms"}),
    ("10 s", {"rate": "20 Mbit/s", "rtt": "50 ms"}),
    ("20 s", {"rate": "50 Mbit/s", "rtt": "20 ms"}),
)
"""Durations and paths of flows without HTTP."""
CALL_RATE = "500 kbit/s"
_HTTP = (Protocol.H1, Protocol.H2, Protocol.H3)
_OWN_ENDS = {
    Protocol.TCP: "headway-perf",
    Protocol.QUIC: "headway-perf",
    Protocol.UDP: "headway-call",
}
"""Without HTTP, the programs at both ends."""
BROWSER = {"program": "chromium"}
GUESS = Cost(fixed_s=0.3, per_request_s=0.01, per_mb_s=0.1, per_virtual_s=0.005)
FILE = Path(costs.__file__).with_name(costs.SHIPPED_FILE)


def kinds() -> Iterator[dict[str, Any]]:
    """Programs and protocols of every kind, as a study file would have them."""
    for client, protocol, server in itertools.product(CLIENTS, _HTTP, SERVERS):
        yield {"protocol": protocol, "client": {"program": client}, "server": {"program": server}}
    yield {"protocol": "h1", "tls": False}
    for protocol, name in _OWN_ENDS.items():
        yield {"protocol": protocol, "client": {"program": name}, "server": {"program": name}}
    for client, protocol, proxy, upstream in itertools.product(CLIENTS, _HTTP, PROXIES, _HTTP):
        yield {
            "protocol": protocol,
            "client": {"program": client},
            "proxy": {"program": proxy, "upstream": {"protocol": upstream}},
        }


def is_measured(raw: dict[str, Any]) -> bool:
    """Whether a kind can be carried out here, and is not made up of kinds that are measured."""
    setting = Setting.model_validate(raw | {"workload": next(loads(raw))[0]})
    client, server = setting.client.program, setting.server.program
    usual = client in ("curl", "chromium"), server == "nginx"
    if setting.protocol in _OWN_ENDS:
        return client == _OWN_ENDS[setting.protocol]
    own = (client, server) == ("headway-client", "headway-server")
    if not all(usual) and not own and (setting.proxy or not any(usual)):
        return False
    try:
        check_programs(deploy(setting))
        check_installed([run_of(setting, 0)], "bench")
    except WrongInputError:
        return False
    return True


def run_of(setting: Setting, number: int, seed: int = 1) -> Run:
    """A run of a setting."""
    name = f"run-{number:04d}"
    return Run(f"{name}-{seed}", "costs", "", name, "one", seed, seed, setting)


def planned() -> list[Run]:
    """The runs of every kind and load: one, or as many as a boot's loads of a page."""
    settings = [
        Setting.model_validate({**raw, "workload": workload, "path": path})
        for raw in kinds()
        if is_measured(raw)
        for workload, path in loads(raw)
    ]
    return [
        run_of(setting, number, seed)
        for number, setting in enumerate(settings)
        for seed in range(1, 1 + (PAGE_LOADS if setting.workload.replay.site else 1))
    ]


def loads(raw: dict[str, Any]) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Workloads and paths of a kind."""
    protocol = Protocol(raw["protocol"])
    if protocol is Protocol.UDP:
        yield from (
            ({"kind": "call", "rate": CALL_RATE, "duration": time}, path) for time, path in BULK
        )
    elif protocol in _OWN_ENDS:
        yield from (({"kind": "bulk", "duration": time}, path) for time, path in BULK)
    elif raw.get("client") == BROWSER:
        yield from (({"kind": "page", "site": site}, path) for site, path in PAGES)
    else:
        yield from (({"size": size}, path) for size, path in LOADS)


def carry_out(runs: list[Run]) -> dict[str, Record]:
    """Carry out runs one after another; returns their records by name."""
    for size in {size for run in runs for size in run.setting.served_sizes}:
        body_file(size)
    records: dict[str, Record] = {}
    executor = LocalExecutor(
        ready_machine(ready_image(layers=layer_names())), available_cores()[-1:]
    )
    with (
        tempfile.TemporaryDirectory() as directory,
        progress("measuring costs", len(runs)) as count,
    ):

        def keep(done: Sequence[Record]) -> bool:
            for record in done:
                records[record.run_id] = record
                count(record.status is Status.OK)
            return True

        executor.execute(runs, lambda name: Path(directory) / name, keep)
    return records


def fitted(runs: list[Run], records: dict[str, Record]) -> dict[str, Cost]:
    """The cost of every kind whose runs succeeded."""
    for run in runs:
        if error := records[run.run_id].error:
            note(f"{kind_of(deploy(run.setting))}: {error}")
    measured = learnt({}, runs, taken_by(records.values()))
    return {kind: fit(one, GUESS, prior_labs=0.01) for kind, one in measured.items()}


def main() -> None:
    """Measure and write."""
    wanted = re.compile("|".join(sys.argv[1:]))
    runs = [run for run in planned() if wanted.search(kind_of(deploy(run.setting)))]
    kept = costs.read_shipped() if wanted.pattern else {}
    found = kept | fitted(runs, carry_out(runs))
    host = host_facts()
    content = {
        "command": "python -m bench.costs",
        "machine": f"{host['processor']}, {host['cores']} cores, {platform.machine()}",
        "costs": {
            kind: {name: round(part, 5) for name, part in cost.model_dump().items()}
            for kind, cost in sorted(found.items())
        },
    }
    FILE.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
