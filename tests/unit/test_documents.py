"""Documents of a run's directory: what today's version wrote is read, anything else refused."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from headway.contract.names import SAMPLES_FILE
from headway.diagnosis.qlog import REDUCED_FILE, read_quic_traces
from headway.diagnosis.samples import read_samples
from headway.diagnosis.transfer import Transfer
from headway.diagnosis.validation import load_evidence
from headway.errors import HeadwayError

from .made_samples import counters, tcp, transfer, write_samples

TRANSFER, EVIDENCE = "transfer.json", "validation.json"


def test_a_version_is_written(tmp_path: Path) -> None:
    transfer().save(tmp_path)
    assert json.loads((tmp_path / TRANSFER).read_text())["version"] == 1


def test_what_was_written_without_a_version_is_read(tmp_path: Path) -> None:
    (tmp_path / TRANSFER).write_text(json.dumps(asdict(transfer())))
    assert Transfer.load(tmp_path) == transfer()
    trace = {"host": "server", "vantage": "server", "epoch_s": 1.0, "first_sent_s": None}
    points = {name: [value] for name, value in POINT.items()}
    (tmp_path / REDUCED_FILE).write_text(json.dumps([{**trace, "points": points}]))
    (found,) = read_quic_traces(tmp_path)
    (point,) = found.points
    assert point._asdict() == POINT
    assert [type(value) for value in point] == [type(value) for value in POINT.values()]


POINT = {
    "at_s": 0.5,
    "cwnd_bytes": 12000,
    "in_flight_bytes": None,
    "ssthresh_bytes": None,
    "srtt_ms": 20.5,
    "state": "slow_start",
    "lost": 0,
    "timeouts": 1,
    "blocked": True,
}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"version": 2}',
            "is of version 2, and this Headway reads version 1: .* or run the study",
        ),
        ('{"version": 1}', "is damaged: start_s: Field required"),
        ("[1]", "is damaged: "),
        ('{"sta', "is damaged: "),
    ],
)
def test_others_are_refused_in_a_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / TRANSFER).write_text(text)
    with pytest.raises(HeadwayError, match=message) as caught:
        Transfer.load(tmp_path)
    assert str(caught.value).startswith(str(tmp_path / TRANSFER))
    assert "\n" not in str(caught.value)


def test_evidence_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / EVIDENCE).write_text('{"version": 3, "echoes": null}')
    with pytest.raises(HeadwayError, match="is of version 3"):
        load_evidence(tmp_path)


def test_samples_have_a_header_that_names_what_they_are_of(tmp_path: Path) -> None:
    write_samples(tmp_path, [(at_s, counters(1), counters(1), [tcp()]) for at_s in (0.0, 0.1)])
    file = tmp_path / SAMPLES_FILE
    first, *others = file.read_text().splitlines()
    found, header = read_samples(tmp_path), json.loads(first)
    assert len(found.taken) == 2
    once = json.dumps([header[name] for name in header if name not in ("version", "processors")])
    file.write_text("\n".join([once, *others]))
    assert read_samples(tmp_path) == found
    for other in ({"version": 2}, {"tcp_fields": ["a"]}, {"more": 1}):
        file.write_text("\n".join([json.dumps(header | other), *others]))
        with pytest.raises(HeadwayError, match="is of another version of Headway: read it with"):
            read_samples(tmp_path)


def test_samples_are_decoded_once_for_all_flows_of_a_run(tmp_path: Path) -> None:
    """Each has them in its own directory, under another name; decoding takes time with their number."""
    row = (0.5, None, counters(1), [tcp()])
    write_samples(tmp_path, [row])
    own = tmp_path / "flow-1"
    own.mkdir()
    (own / SAMPLES_FILE).hardlink_to(tmp_path / SAMPLES_FILE)
    found = read_samples(tmp_path)
    assert read_samples(own) is found
    with (tmp_path / SAMPLES_FILE).open("a") as file:
        file.write((tmp_path / SAMPLES_FILE).read_text().splitlines()[-1] + "\n")
    assert len(read_samples(own).taken) == len(found.taken) + 1
