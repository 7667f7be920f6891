"""Results made by hand, for the tests of analysis and report."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from headway.analysis.result_loading import StudyResults, with_all_columns
from headway.columns import Record, polars_schema, schema_of
from headway.columns.record import FlowRecord
from headway.records.manifest import manifest_from

MANIFEST: dict[str, Any] = {
    "study": {
        "name": "made",
        "question": "Which <b>version</b> is faster?",
        "experiments": [{"name": "", "baseline": "h2", "metrics": ["total_s"]}],
    },
    "versions": {"nginx": "1.29.1", "curl": "8.18.0"},
    "kernel": "Linux 7.2",
    "image": "image-1",
    "host": {"cpus": 2},
    "created": "2026-08-01T00:00:00Z",
    "command": "headway run 'made study'",
    "self_test": [
        {
            "name": "rate",
            "path": "10 Mbit/s",
            "expected": 10,
            "measured": 9.99,
            "low": 9.9,
            "high": 10.1,
            "unit": "Mbit/s",
            "note": "",
            "passed": True,
        }
    ],
    "settings": [
        {"program": "nginx", "setting": "ssl_protocols", "value": "TLSv1.3", "why": "alike"}
    ],
}


def run(contender: str, seed: int, total_s: float | None, **conditions: Any) -> dict[str, Any]:
    """A row of ``runs.parquet``; without a time it is a run that failed."""
    protocol = conditions.get("protocol", contender)
    row: dict[str, Any] = {
        "run_id": f"{conditions.get('cell', 'cell')}-{contender}-{seed}".replace("/", "p"),
        "study": "made",
        "experiment": "",
        "cell": "cell",
        "contender": contender,
        "protocol": protocol,
        "tls": True,
        "client": "curl",
        "server": "nginx",
        "client_cc": "cubic" if protocol != "h3" else "ngtcp2's own",
        "server_cc": "cubic" if protocol != "h3" else "nginx's own",
        "rate_mbit": 10.0,
        "rate_up_mbit": 10.0,
        "rtt_ms": 100.0,
        "loss_pct": 2.0,
        "loss_up_pct": 2.0,
        "workload": "download 1 MB",
        "size_bytes": 10**6,
        "rep": seed,
        "seed": seed,
        "clock": "virtual",
        "status": "ok" if total_s is not None else "failed",
        "error": None if total_s is not None else "curl exited with 28",
        "total_s": total_s,
        "limited_by": "loss" if total_s is not None else None,
    }
    return Record(**{**row, **conditions}).model_dump(mode="json")


def runs(times: Mapping[str, Sequence[float | None]], **conditions: Any) -> list[dict[str, Any]]:
    """Rows of a cell: for each contender its times by seed, from 1."""
    return [
        run(contender, seed, value, **conditions)
        for contender, values in times.items()
        for seed, value in enumerate(values, start=1)
    ]


def experiments(*told: Mapping[str, Any]) -> dict[str, Any]:
    """The full manifest, with these experiments."""
    return MANIFEST | {"study": MANIFEST["study"] | {"experiments": list(told)}}


def results(
    rows: Sequence[dict[str, Any]], manifest: Mapping[str, Any] | None = None
) -> StudyResults:
    """Results of these rows, with a full manifest if none is given."""
    made = MANIFEST if manifest is None else manifest
    return StudyResults(pl.DataFrame(rows, schema=polars_schema()), manifest_from(made))


def saved(
    directory: Path, rows: Sequence[dict[str, Any]], manifest: Mapping[str, Any] | None = None
) -> Path:
    """A results directory with these rows."""
    directory.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows, schema=polars_schema()).write_parquet(directory / "runs.parquet")
    made = MANIFEST if manifest is None else manifest
    (directory / "manifest.json").write_text(json.dumps(made))
    return directory


def grid() -> list[dict[str, Any]]:
    """A small study: two sizes by two losses, three contenders, eight seeds, a failure."""
    rows: list[dict[str, Any]] = []
    for size, base in (("1 MB", 1.0), ("10 MiB", 9.0)):
        for loss in (0.0, 2.0):
            noise = (0.0, 0.1, -0.1, 0.2, -0.2, 0.05, -0.05, 0.15) if loss else (0.0,) * 8
            slow = 3.0 if loss else 1.0
            times: dict[str, list[float | None]] = {
                "h1": [base * slow + 2 * step for step in noise],
                "h2": [base * slow + step for step in noise],
                "h3": [base * 1.2 + step / 2 for step in noise],
            }
            if loss and size == "10 MiB":
                times["h2"][1] = None
            rows += runs(
                times,
                cell=f"size_{size.replace(' ', '')}-loss_{loss:.0f}pct",
                workload=f"download {size}",
                size_bytes=10**6 if size == "1 MB" else 10 << 20,
                loss_pct=loss,
                loss_up_pct=loss,
            )
    return rows


Goodputs = Mapping[str, Sequence[Sequence[float]]]
"""Of each name of a flow, for every run what those of the name got, Mbit/s."""


def competing(
    cells: Mapping[str, Mapping[str, Goodputs]], *told: Mapping[str, Any], **more: Any
) -> StudyResults:
    """Results of flows that compete.

    Args:
        cells: for each cell the contenders, by name, with what their flows got.
        told: the experiments, as a manifest tells them.
        more: what else is in every row of a flow.
    """
    runs, flows = [], []
    for cell, contenders in cells.items():
        for contender, names in contenders.items():
            for seed, got in enumerate(zip(*names.values(), strict=True), start=1):
                first, *others = [statistics.fmean(one) for one in got]
                ratio = first / statistics.fmean(others) if others else 1.0
                row = run(contender, seed, 10.0, cell=cell, protocol="tcp", first_ratio=ratio)
                runs.append(row)
                for name, own in zip(names, got, strict=True):
                    named = {"named": name, "background": False, "workload": "bulk download 20 s"}
                    flows += [
                        row | named | {"flow": name, "common_mbit": mbit} | more for mbit in own
                    ]
    experiment = {"name": "", "metrics": ["first_ratio"]}
    made = results(runs, experiments(*(told or [experiment])))
    table = pl.DataFrame(flows, infer_schema_length=None)
    kinds = {name: kind for name, kind in schema_of(FlowRecord).items() if name in table.columns}
    return replace(made, flows=with_all_columns(table.cast(kinds), FlowRecord))
