"""h2load's adapter: what it reads of the program's log and of its last words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.contract.outcome import Ended
from headway.programs.measurement import Measurement
from headway.programs.registry import CLIENTS
from headway.study.setting import Setting
from tests.deployed import flow_of

LOG = "2000\t200\t900\n1000\t200\t2500\n"
PRINTED = (
    "traffic: 2.10KB (2148) total, 148B (148) headers (space savings 39.16%), 1.95KB (2000) data\n"
)


def setting(protocol: str = "h2", **keys: Any) -> Setting:
    workload = {"kind": "requests", "count": 2, "users": 5, "down": "1 kB"} | keys
    client = {"program": "h2load"}
    return Setting.model_validate({"protocol": protocol, "client": client, "workload": workload})


def measured(directory: Path, log: str = LOG, printed: str = PRINTED) -> Measurement:
    (directory / "h2load-requests.tsv").write_text(log)
    (directory / "h2load.out").write_text(printed)
    return CLIENTS["h2load"].measure(flow_of(setting()), directory, Ended("h2load", 0, 5_000_000))


def test_latencies_are_in_the_order_of_requests(tmp_path: Path) -> None:
    found = measured(tmp_path)
    assert (found.error, found.latencies_s) == (None, (0.0025, 0.0009))
    assert (found.bytes, found.total_s) == (2000, 0.005)


@pytest.mark.parametrize(
    ("log", "printed", "error"),
    [
        ("", PRINTED, "h2load: 0 of 2 answers came"),
        (LOG.replace("\t200\t900", "\t502\t900"), PRINTED, "the server answered with status 502"),
        (LOG.replace("\t200\t900", "\t-1\t900"), PRINTED, "h2load: a request failed"),
        (LOG, PRINTED.replace("(2000)", "(1990)"), "h2load: 1990 bytes of bodies came of 2000"),
        (LOG, "", "h2load: 0 bytes of bodies came of 2000"),
    ],
)
def test_what_did_not_come_whole_has_failed(
    tmp_path: Path, log: str, printed: str, error: str
) -> None:
    found = measured(tmp_path, log, printed)
    assert found.error is not None and found.error.startswith(error)


@pytest.mark.parametrize(("protocol", "clients", "streams"), [("h1", 2, 1), ("h2", 1, 2)])
def test_users_share_a_connection_of_http_2_only(protocol: str, clients: int, streams: int) -> None:
    (program,) = CLIENTS["h2load"].start(flow_of(setting(protocol))).programs
    assert f"--clients={clients}" in program.argv
    assert f"--max-concurrent-streams={streams}" in program.argv
