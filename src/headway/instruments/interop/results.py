"""Results as the interop runner writes them, ``result.json``; equal runs give equal bytes."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from typing import Any

from headway.instruments.interop.matrix import Matrix, MatrixCell
from headway.instruments.interop.verdict import CaseResult
from headway.lab.machine import LAB_EPOCH_S

_QUIC_VERSION = "0x1"


def result_json(matrix: Matrix, cells: Sequence[MatrixCell], log_directory: str) -> str:
    """The text of ``result.json``.

    Beside what the runner's has, each result has a reason, what was spoken, and the seeds. Its times are the lab's, which
    are always the same.
    """
    stacks = {stack.name: stack for stack in (*matrix.clients, *matrix.servers)}
    results, measurements = [], []
    for client, server in matrix.pairs:
        of_pair = [
            cell
            for cell in cells
            if cell.pairing.client == client and cell.pairing.server == server
        ]
        results.append([_entry(cell) for cell in of_pair if not cell.pairing.case.measures])
        measurements.append([_entry(cell) for cell in of_pair if cell.pairing.case.measures])
    document = {
        "start_time": LAB_EPOCH_S,
        "end_time": LAB_EPOCH_S,
        "log_dir": log_directory,
        "servers": [stack.name for stack in matrix.servers],
        "clients": [stack.name for stack in matrix.clients],
        "urls": {name: stack.url for name, stack in sorted(stacks.items())},
        "tests": {
            case.abbreviation: {"name": case.name, "desc": case.description}
            for case in matrix.cases
        },
        "quic_version": _QUIC_VERSION,
        "seeds": list(matrix.seeds),
        "results": results,
        "measurements": measurements,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _entry(cell: MatrixCell) -> dict[str, Any]:
    case = cell.pairing.case
    entry: dict[str, Any] = {
        "abbr": case.abbreviation,
        "name": case.name,
        "result": cell.result.value,
        "reason": cell.reason,
        "alpn": cell.pairing.alpn,
        "succeeded": len(cell.succeeded_seeds),
        "failed_seeds": {
            str(seed): verdict.reason
            for seed, verdict in cell.verdicts
            if verdict.result is CaseResult.FAILED
        },
    }
    if case.measures:
        entry["details"] = details(cell)
    return entry


def details(cell: MatrixCell) -> str:
    """Mean and standard deviation over seeds, as the runner has them: ``9373 (± 12) kbps``; empty without any."""
    values = [
        float(verdict.reason.split()[0])
        for _, verdict in cell.verdicts
        if verdict.result is CaseResult.SUCCEEDED
    ]
    if not values:
        return ""
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.0f} (± {spread:.0f}) kbps"
