"""Differences of real runs taken apart: a cause that is known is found, and the parts sum to the whole."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headway import cli
from headway.instruments.ablation.document import FILE, WhyAnswer

pytestmark = pytest.mark.lab

STUDY = """
name = "known"
metrics = ["total_s"]
client.program = "headway-client"
server.program = "headway-server"
"""
LIKE_TCP = (
    'server = { congestion_control.quic = "linux-cubic", knobs = { pacing = "off", retry = "on" } }'
)
PATH = 'path = { rate = "10 Mbit/s", rtt = "60 ms", queue = "1 BDP" }\n'
CASES = {
    # One round trip of about three.
    "round trips of the handshake": (
        'workload.size = "10 kB"\n' + PATH + "[contenders]\n"
        'a = { protocol = "h3", server.knobs.retry = "on" }\nb = { protocol = "h3" }\n'
    ),
    "congestion control": (
        'workload.size = "1 MB"\npath = { rate = "20 Mbit/s", rtt = "60 ms", loss = "2 %" }\n[contenders]\n'
        'a = { protocol = "h3" }\nb = { protocol = "h3", server.congestion_control = "bbr" }\n'
    ),
    # A queue that ends before a burst does.
    "pacing": (
        'workload.size = "1 MB"\npath = { rate = "50 Mbit/s", rtt = "40 ms", queue = "10 kB" }\n[contenders]\n'
        'a = { protocol = "h3", server.knobs.pacing = "off" }\nb = { protocol = "h3" }\n'
    ),
    "flow-control windows": (
        'workload.size = "1 MB"\n' + PATH + "[contenders]\n"
        'a = { protocol = "h3" }\nb = { protocol = "h3", client.knobs.stream_window = "32768" }\n'
    ),
    # Like TCP in all that can be switched, it lets no stream wait for what another one has lost.
    "head-of-line blocking, and what else differs between the protocols": (
        'workload = { kind = "requests", count = 1000, down = "2 kB", per_second = 40 }\n'
        'path = { rate = "50 Mbit/s", rtt = "60 ms", down.loss = "1 %" }\n'
        'metrics = ["latency_p95_ms"]\n[contenders]\n'
        f'a = {{ protocol = "h2" }}\nb = {{ protocol = "h3", {LIKE_TCP} }}\n'
    ),
}


def taken_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, *words: str
) -> WhyAnswer:
    study, out = tmp_path / "known.toml", tmp_path / "out"
    lines = (
        STUDY.splitlines()
        if "metrics" not in text
        else [line for line in STUDY.splitlines() if not line.startswith("metrics")]
    )
    study.write_text("\n".join([*lines, text]))
    pair = ("--contender", "b", "--against", "a") if "\nb = " in text else ()
    command = ["headway", "why", str(study), "--out", str(out), *pair, *words]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code
    assert (out / "why.svg").exists() and (out / "why.png").exists()
    return WhyAnswer.model_validate_json((out / FILE).read_bytes())


@pytest.mark.parametrize("cause", CASES)
def test_a_known_cause_is_found(
    cause: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, machine: object
) -> None:
    answer = taken_apart(monkeypatch, tmp_path, CASES[cause], "--repetitions", "10")
    largest = max(answer.parts, key=lambda part: abs(part.log))
    assert largest.name == cause and largest.is_shown, answer.sentence
    assert largest.log == pytest.approx(answer.whole.log, abs=0.02)


def test_the_parts_of_two_protocols_sum_to_their_difference(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, machine: object
) -> None:
    text = 'workload.size = "100 kB"\n' + PATH + 'baseline = "h2"\naxes.protocol = ["h2", "h3"]\n'
    answer = taken_apart(monkeypatch, tmp_path, text, "--repetitions", "8")
    assert answer.whole.low is not None and answer.whole.high is not None
    reach = max(answer.whole.high - answer.whole.low, 0.01)
    assert answer.sum_of_parts == pytest.approx(answer.whole.log, abs=reach)
    by_name = {part.name: part for part in answer.parts}
    assert by_name["round trips of the handshake"].is_shown
    assert by_name["round trips of the handshake"].log < -0.05


def test_programs_of_others_leave_a_part_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, machine: object
) -> None:
    text = (
        'workload.size = "100 kB"\n' + PATH + 'baseline = "h2"\naxes.protocol = ["h2", "h3"]\n'
        'client.program = "curl"\nserver.program = "nginx"\n'
    )
    monkeypatch.setattr(sys.modules[__name__], "STUDY", 'name = "known"\nmetrics = ["total_s"]\n')
    answer = taken_apart(monkeypatch, tmp_path, text, "--repetitions", "6")
    assert "the programs themselves" in {part.name for part in answer.parts}
    assert answer.sum_of_parts == pytest.approx(answer.whole.log, abs=0.03)
