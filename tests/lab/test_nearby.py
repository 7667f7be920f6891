"""Neighbours of real runs: what takes a conclusion away is found, and what does not leaves it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headway import cli
from headway.nearby.document import read_nearby
from headway.nearby.fate import SentenceFate

pytestmark = pytest.mark.lab

STUDY = """
name = "short"
repetitions = 8
baseline = "unpaced"
metrics = ["total_s"]
protocol = "h3"
client.program = "headway-client"
server.program = "headway-server"
workload.size = "300 kB"
path = { rate = "50 Mbit/s", rtt = "40 ms", queue = "0.05 BDP" }
[contenders]
unpaced = { server.knobs.pacing = "off" }
paced = {}
"""


def test_pacing_is_found_to_matter_in_short_queues_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: object
) -> None:
    study, out = tmp_path / "short.toml", tmp_path / "out"
    study.write_text(STUDY)
    words = ["headway", "nearby", str(study), "--out", str(out), "--runs", "260"]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    answer = read_nearby(out)
    assert answer is not None
    (sentence,) = answer.sentences
    assert "paced against unpaced" in sentence.text
    fates = {near.label: near.fate for near in sentence.neighbours}
    assert fates["with other seeds"] is SentenceFate.HOLDS
    large = [
        fates[f"with a queue of {size} BDP"]
        for size in ("1", "4")
        if f"with a queue of {size} BDP" in fates
    ]
    assert any(fate.is_change for fate in large), fates
    assert any(turn.axis == "queue" for turn in sentence.turning)
