"""Who got how much, from the study file to the answer: BBR in a shallow buffer, and fq_codel as a cure."""

from __future__ import annotations

from pathlib import Path

import pytest

import headway

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("machine")]

PERF = {"program": "headway-perf"}
STUDY = {
    "name": "shares",
    "repetitions": 3,
    "metrics": ["first_ratio"],
    "compare": "path.queue.discipline",
    "workload": {"kind": "bulk", "duration": "10 s"},
    "client": PERF,
    "server": PERF,
    "path": {"rate": "20 Mbit/s", "rtt": "40 ms", "queue": {"size": "0.5 BDP"}},
    "axes": {"path.queue.discipline": ["droptail", "fq_codel"]},
    "contenders": {
        "bbr v cubic": {
            "flows": {
                "bbr": {"protocol": "tcp", "server": {"congestion_control": "bbr"}},
                "cubic": {"protocol": "tcp"},
            }
        }
    },
}


def test_bbr_takes_from_cubic_and_fq_codel_is_a_cure(tmp_path: Path) -> None:
    """Hock et al. 2017, Ware et al. 2019 of a shallow buffer; a queue for each flow leaves neither a say."""
    headway.run(STUDY, tmp_path / "out", progress=False)
    results = headway.read(tmp_path / "out")
    shares = results.shares
    shallow = shares.filter(title="droptail", flow="bbr")
    assert shallow.select("taker", "taken").rows() == [("bbr", "cubic")]
    assert shallow["share"].item() > 0.6 and shallow["runs"].item() == 3
    assert set(shares.filter(title="fq_codel")["sharing"]) == {"even"}
    (levels,) = results.comparisons.filter(experiment="across-queue-discipline").rows(named=True)
    assert (levels["contender"], levels["against"]) == ("fq_codel", "droptail")
    assert levels["relative_difference"] < -0.2 and levels["pairs"] == 3
    page = results.report().read_text()
    assert "bbr takes from cubic" in page or "bbr starves cubic" in page
    assert page.index("Who got how much") < page.index("Across queue discipline")
    assert "even with fq_codel" in page
