"""Congestion control as it was, not as it was asked for: what the kernel says of its connections."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.contract.artifact import read_text
from headway.contract.names import CONTROLS_FILE
from headway.planning.deployment import DeployedFlow


@dataclass(frozen=True)
class Controls:
    """What was observed of the hosts that send to the client.

    Attributes:
        columns: those of a record that say what was observed.
        error: who did not do what it was to do; None if nobody.
    """

    columns: dict[str, Any]
    error: str | None


def observed_controls(flow: DeployedFlow, run_directory: Path) -> Controls:
    """Congestion control of the connections that servers and proxies accepted over TCP."""
    senders = flow.programs[1:]
    wanted = {end.name: end.congestion_control for end in senders}
    over_tcp = {end.name for end in senders if not end.protocol.over_quic}
    seen = {name: " and ".join(was) for name, was in _seen(run_directory).items() if was}
    result = {name: seen[name] for name in wanted if name in over_tcp and name in seen}
    wrong = (f"{name}'s TCP used {was}" for name, was in result.items() if was != wanted[name])
    texts = wanted | result
    columns = {
        "server_cc": texts.pop(flow.server.name),
        "cc_observed": ", ".join(result) or None,
    }
    if texts:
        columns["proxy_cc"] = ", ".join(texts.values())
    error = next(wrong, None)
    asked = f"{error}, not what it was to use" if error else None
    return Controls(columns, asked)


def _seen(run_directory: Path) -> dict[str, list[str]]:
    """Names by namespace; a boot that ended early has none."""
    file = run_directory / CONTROLS_FILE
    if not file.exists():
        return {}
    seen: dict[str, list[str]] = json.loads(read_text(file))
    return seen
