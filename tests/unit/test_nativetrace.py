"""The samples are those that the tests of ``native/trace`` check their writers against."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from headway.diagnosis.nativetrace import STATES, read_native_trace, to_parquet
from headway.diagnosis.qlog import read_qlog
from headway.diagnosis.qlog_events import read_traces
from headway.diagnosis.qlog_trace import QuicPoint
from headway.errors import HeadwayError

SAMPLES = Path(__file__).parents[2] / "native/trace/tests/samples"
SAMPLE = SAMPLES / "sample.hwtrace"
HEADER_BYTES, RECORD_BYTES = 24, 72

EPOCH_NS = 1_767_225_599_997_500_000
FIRST = {
    "at_s": 0.0,
    "state": None,
    "from_state": None,
    "cwnd_bytes": 12_000,
    "ssthresh_bytes": None,
    "in_flight_bytes": 0,
    "pacing_rate_bytes_per_s": None,
    "smoothed_rtt_ms": None,
    "latest_rtt_ms": None,
    "min_rtt_ms": None,
}
LAST = {
    "at_s": 0.053,
    "state": "Recovery",
    "from_state": None,
    "cwnd_bytes": 8_400,
    "ssthresh_bytes": 8_400,
    "in_flight_bytes": 7_200,
    "pacing_rate_bytes_per_s": 209_483,
    "smoothed_rtt_ms": 50.123456,
    "latest_rtt_ms": 51.0,
    "min_rtt_ms": 50.0,
}
ROWS = [
    FIRST,
    {**FIRST, "at_s": 0.001, "state": "SlowStart", "from_state": "Init"},
    {**FIRST, "at_s": 0.053, "state": "Recovery", "from_state": "SlowStart"},
    LAST,
]


def test_a_row_for_each_record() -> None:
    trace = read_native_trace(SAMPLE)
    assert trace.epoch_ns == EPOCH_NS
    assert trace.rows.to_dicts() == ROWS


@pytest.mark.parametrize("missing", [1, RECORD_BYTES - 1])
def test_a_cut_file_is_read_up_to_its_last_whole_record(tmp_path: Path, missing: int) -> None:
    cut = tmp_path / "cut.hwtrace"
    cut.write_bytes(SAMPLE.read_bytes()[:-missing])
    assert read_native_trace(cut).rows.to_dicts() == ROWS[:3]


def test_a_file_without_records_has_its_columns(tmp_path: Path) -> None:
    cut = tmp_path / "cut.hwtrace"
    cut.write_bytes(SAMPLE.read_bytes()[: HEADER_BYTES + 3])
    rows = read_native_trace(cut).rows
    assert (rows.height, rows.columns) == (0, list(FIRST))


def test_a_number_that_is_gone_again_is_null(tmp_path: Path) -> None:
    content = SAMPLE.read_bytes()
    header, first, last = content[:HEADER_BYTES], content[24:96], content[-RECORD_BYTES:]
    file = tmp_path / "other.hwtrace"
    file.write_bytes(header + last + first)
    assert read_native_trace(file).rows["pacing_rate_bytes_per_s"].to_list() == [209_483, None]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "shorter than a header"),
        (b"\x1e{" + bytes(30), "it begins with"),
        (b"HWSENDER\x02\0\0\0" + bytes(12), "version 2, not 1"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "other.hwtrace"
    file.write_bytes(content)
    with pytest.raises(HeadwayError, match=reason):
        read_native_trace(file)


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    file = tmp_path / "one.hwtrace"
    file.write_bytes(SAMPLE.read_bytes())
    parquet = to_parquet(file)
    assert parquet == tmp_path / "one.parquet"
    assert pl.read_parquet(parquet).to_dicts() == ROWS


def test_states_are_the_writers() -> None:
    source = (SAMPLES.parents[1] / "src/sender.rs").read_text()
    for number, state in enumerate(STATES):
        assert f"    {state} = {number},\n" in source


def test_the_qlog_reader_opens_the_endpoints_qlog() -> None:
    (trace,) = read_qlog(SAMPLES / "sample.sqlog", "server")
    assert (trace.host, trace.vantage, trace.first_sent_s) == ("server", "server", 0.001)
    assert trace.epoch_s == EPOCH_NS / 1e9
    assert trace.points == (
        QuicPoint(0.002, 12_000, 36 + 35, state="slow_start"),
        QuicPoint(0.053, 8_400, 7_200, 8_400, 50.123456, "recovery", lost=1, timeouts=1),
        QuicPoint(0.07, 8_400, 7_200, 8_400, 50.123456, "recovery", lost=1, timeouts=1),
    )


def test_every_event_of_the_endpoints_qlog_is_read() -> None:
    traces = read_traces(SAMPLES / "sample.sqlog")
    times = [event["time"] for event in next(traces).events]
    assert len(times) == 22
    assert times == sorted(times)
