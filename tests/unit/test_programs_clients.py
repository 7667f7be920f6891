"""Adapters of clients: what they start, and how they judge what came of it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.contract.outcome import Ended
from headway.contract.program import Program
from headway.programs.base import Client, Started
from headway.programs.client import TRIES, last_words, started_again
from headway.programs.measurement import Measurement
from headway.programs.ngtcp2_client import _spellings, _Stream
from headway.programs.registry import CLIENTS
from headway.study.bulk import Bulk
from headway.study.setting import Setting
from headway.study.upload import UPLOAD_PATH
from headway.study.video import Video
from headway.study.workload import Migration, Page
from tests.deployed import flow_of, orders_of

ADDRESS = "10.0.2.2"
OK = Ended("client", 0, 1_500_000_000)
DOWNLOAD = {"kind": "download", "size": "1 kB"}
PARALLEL = {"kind": "parallel", "size": "1 kB", "count": 2}
MIGRATION = {"kind": "migration", "size": "1 kB", "after": "500 B"}
BULK = {"kind": "bulk", "size": "1 kB"}
PAGE = {"kind": "page", "site": "kepler"}
VIDEO = {"kind": "video", "duration": "8 s", "rule": "dynamic"}
UPLOAD = {"kind": "upload", "size": "1 kB"}
WORKLOADS = {
    "download": DOWNLOAD,
    "parallel": PARALLEL,
    "migration": MIGRATION,
    "upload": UPLOAD,
}

ALL = [
    (client.name, str(protocol), kind)
    for client in CLIENTS.values()
    for protocol in sorted(client.protocols)
    for kind, workload in WORKLOADS.items()
    if type(Setting.model_validate({"workload": workload}).workload) in client.workloads
]


def setting(client: str, protocol: str, workload: dict[str, Any], **more: Any) -> Setting:
    knobs = more.pop("knobs", {})
    raw = {"protocol": protocol, "client": {"program": client, "knobs": knobs}}
    return Setting.model_validate(raw | {"workload": workload} | more)


def argv(of: Setting) -> tuple[str, ...]:
    return CLIENTS[of.client.program].start(flow_of(of, ADDRESS)).programs[-1].argv


def measured(of: Setting, directory: Path, ended: Ended = OK, **files: str) -> Measurement:
    """What an adapter makes of files, whose names' last ``_`` stands for a dot."""
    for name, text in files.items():
        (directory / ".".join(name.rsplit("_", 1))).write_text(text)
    return CLIENTS[of.client.program].measure(flow_of(of), directory, ended)


@pytest.mark.parametrize(("client", "protocol", "kind"), ALL)
def test_a_client_that_left_nothing_has_failed(
    tmp_path: Path, client: str, protocol: str, kind: str
) -> None:
    for status in (0, 1):
        ended = Ended(client, status, 10**9)
        found = measured(setting(client, protocol, WORKLOADS[kind]), tmp_path, ended)
        assert found.error is not None and client in found.error and "\n" not in found.error
        assert found.total_s is None


@pytest.mark.parametrize(("client", "protocol", "kind"), ALL)
def test_every_request_has_a_url_and_every_body_a_file(
    client: str, protocol: str, kind: str
) -> None:
    keeps = kind != "upload"
    of = setting(client, protocol, WORKLOADS[kind], capture={"bodies": keeps})
    path = "1000.bin" if keeps else UPLOAD_PATH
    started = CLIENTS[client].start(flow_of(of, ADDRESS))
    urls = [word for word in started.programs[-1].argv if word.startswith("https://server.test/")]
    assert len(set(urls)) == of.workload.requests
    assert {unquote(url).partition("?")[0] for url in urls} == {f"https://server.test/{path}"}
    files = keeps and not CLIENTS[client].digests
    assert len(set(started.bodies)) == (of.workload.requests if files else 0)


@pytest.mark.parametrize(("client", "protocol", "kind"), ALL)
@pytest.mark.parametrize(
    ("more", "compared"),
    [
        ({}, True),
        ({"capture": {"bodies": False}}, False),
        ({"clock": "cpu"}, False),
        ({"clock": "cpu", "capture": {"bodies": True}}, True),
        ({"clock": "real"}, True),
    ],
)
def test_bodies_are_compared_where_that_takes_no_time_that_is_measured(
    client: str, protocol: str, kind: str, more: dict[str, Any], compared: bool
) -> None:
    if kind == "upload":
        return
    of = setting(client, protocol, WORKLOADS[kind], **more)
    started = CLIENTS[client].start(flow_of(of, ADDRESS))
    words = {"--digest", "--body-digest"} & set(started.programs[-1].argv)
    assert bool(started.bodies or words) == compared


def test_a_host_with_a_processor_pays_for_no_comparison() -> None:
    raw = {"protocol": "h2", "workload": DOWNLOAD, "client": {"program": "headway-client"}}
    assert "--body-digest" in argv(Setting.model_validate(raw))
    raw["client"] = {"program": "headway-client", "kernel": {"processor": "moto-g"}}
    assert "--body-digest" not in argv(Setting.model_validate(raw))


@pytest.mark.parametrize("client", [c for c in CLIENTS.values() if c.knobs], ids=lambda c: c.name)
def test_every_value_of_a_knob_changes_the_command(client: Client) -> None:
    preferred = {Bulk: BULK, Page: PAGE} | ({Video: VIDEO} if client.plays_files else {})
    of_downloads = MIGRATION if Migration in client.workloads else DOWNLOAD
    workload = next(
        (preferred[kind] for kind in client.workloads if kind in preferred), of_downloads
    )

    def started(control: str | None, knobs: dict[str, str]) -> list[Started]:
        asked = {"congestion_control": {"quic": control}} if control else {}
        host = {"program": client.name, "knobs": knobs} | asked
        settings = [
            Setting.model_validate({"protocol": protocol, "client": host, "workload": workload})
            for protocol in sorted(client.protocols)
        ]
        return [client.start(flow_of(of, ADDRESS)) for of in settings]

    for knob in client.knobs:
        other = next((value for value in knob.choices if value != knob.default), "9")
        control = next(iter(knob.controls_with(other)), None)
        usual = started(control, {})
        assert started(control, {knob.name: other}) != usual, knob.name
        assert started(control, {knob.name: knob.default}) == usual, knob.name


# Starting again


def attempts(directory: Path, failures: int) -> tuple[int, int]:
    """Exit status and number of attempts of a command that fails so many times before it succeeds."""
    script = 'echo >> "$1"; [ $(wc -l < "$1") -gt "$2" ] || exit 7'
    log = directory / "log"
    command = started_again(("sh", "-c", script, "sh", str(log), str(failures)), "0")
    return subprocess.run(command).returncode, len(log.read_text())


@pytest.mark.parametrize("failures", [0, 1, TRIES - 1])
def test_a_command_is_started_until_it_succeeds(tmp_path: Path, failures: int) -> None:
    assert attempts(tmp_path, failures) == (0, failures + 1)


def test_a_command_that_always_fails_is_given_up(tmp_path: Path) -> None:
    assert attempts(tmp_path, TRIES + 1) == (7, TRIES)


def test_the_last_words_are_no_header(tmp_path: Path) -> None:
    assert last_words(tmp_path, "wget") == "it printed no result"
    (tmp_path / "wget.out").write_text("Failed to connect\n")
    assert last_words(tmp_path, "wget") == "Failed to connect"
    (tmp_path / "wget.err").write_text("ERROR 404: Not Found.\n  Server: nginx\n\n")
    assert last_words(tmp_path, "wget") == "ERROR 404: Not Found."


# curl


def transfer(**changes: Any) -> str:
    usual = {
        "urlnum": 0,
        "exitcode": 0,
        "errormsg": None,
        "response_code": 200,
        "http_version": "2",
        "num_connects": 1,
        "size_download": 1000,
        "time_connect": 0.1,
        "time_appconnect": 0.2,
        "time_starttransfer": 0.3,
        "time_total": 0.4,
    }
    return json.dumps(usual | changes) + "\n"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"exitcode": 28, "errormsg": "Timeout"}, "curl: Timeout (exit status 28)"),
        ({"response_code": 404}, "the server answered with status 404"),
        ({"http_version": "1.1"}, "it spoke HTTP/1.1, not h2"),
        ({"size_download": 900}, "900 of 1000 bytes came"),
    ],
)
def test_curls_failures_are_named(tmp_path: Path, changes: dict[str, Any], error: str) -> None:
    found = measured(setting("curl", "h2", DOWNLOAD), tmp_path, curl_out=transfer(**changes))
    connected = True if "exitcode" in changes else None
    assert found == Measurement(error=error, connected=connected)


@pytest.mark.parametrize(
    ("printed", "workload", "told"),
    [
        ("", DOWNLOAD, "curl-8.14: it printed no result (exit status 0)"),
        (
            transfer(exitcode=28, errormsg="Timeout"),
            DOWNLOAD,
            "curl-8.14: Timeout (exit status 28)",
        ),
        (
            transfer() + transfer(urlnum=1),
            PARALLEL,
            "curl-8.14 opened 2 connections instead of one",
        ),
    ],
)
def test_of_several_curls_each_is_named(
    tmp_path: Path, printed: str, workload: dict[str, Any], told: str
) -> None:
    (tmp_path / "curl-8.14.out").write_text(printed)
    assert measured(setting("curl-8.14", "h2", workload), tmp_path).error == told


def test_curls_transfers_are_ordered_by_request(tmp_path: Path) -> None:
    joined = {"urlnum": 1, "num_connects": 0, "time_connect": 0, "time_appconnect": 0}
    out = transfer(**joined, time_total=0.9) + transfer()
    found = measured(setting("curl", "h2", PARALLEL), tmp_path, curl_out=out)
    assert found.each_s == (0.4, 0.9)
    assert (found.connect_s, found.tls_s, found.total_s, found.bytes) == (0.1, 0.2, 0.9, 2000)


def test_a_second_connection_is_an_error_where_one_is_asked_for(tmp_path: Path) -> None:
    versions = {"h1": "1.1", "h2": "2", "h3": "3"}
    for protocol, version in versions.items():
        out = transfer(http_version=version) + transfer(http_version=version, urlnum=1)
        found = measured(setting("curl", protocol, PARALLEL), tmp_path, curl_out=out)
        several = None if protocol == "h1" else "curl opened 2 connections instead of one"
        assert found.error == several


def test_of_curls_attempts_the_first_tells_the_set_up_and_the_process_the_end(
    tmp_path: Path,
) -> None:
    lost = transfer(exitcode=56, errormsg="Recv failure", size_download=600)
    again = transfer(time_connect=0.7, time_starttransfer=0.8, time_total=0.9)
    found = measured(setting("curl", "h2", MIGRATION), tmp_path, curl_out=lost + again)
    assert (found.connect_s, found.ttfb_s, found.total_s) == (0.1, 0.3, 1.5)
    assert found.bytes == 1000
    failed = measured(setting("curl", "h2", MIGRATION), tmp_path, curl_out=again + lost)
    assert failed.error == "curl: Recv failure (exit status 56)"


# wget

WGET_SAVED = '2026-01-01 00:00:05 URL:https://server.test/1000.bin [{}] -> "/tmp/body-1" [1]\n'


@pytest.mark.parametrize(
    ("status", "saved", "error"),
    [
        ("1.1 200 OK", "1000/1000", None),
        ("1.1 200 OK", "1000", None),
        ("1.1 206 Partial Content", "1000/1000", "the server answered with status 206"),
        ("1.0 200 OK", "1000/1000", "it spoke HTTP/1.0, not h1"),
        ("1.1 200 OK", "900/900", "900 of 1000 bytes came"),
    ],
)
def test_wgets_output_is_judged(tmp_path: Path, status: str, saved: str, error: str | None) -> None:
    said = f"  HTTP/{status}\n  Server: nginx\n" + WGET_SAVED.format(saved)
    found = measured(setting("wget", "h1", DOWNLOAD), tmp_path, wget_err=said)
    assert found.error == error
    assert found.total_s == (None if error else 1.5)


def test_wget_may_receive_the_rest_after_a_loss(tmp_path: Path) -> None:
    said = "  HTTP/1.1 200 OK\n  HTTP/1.1 206 Partial Content\n" + WGET_SAVED.format("1000/1000")
    found = measured(setting("wget", "h1", MIGRATION), tmp_path, wget_err=said)
    assert (found.error, found.bytes, found.each_s) == (None, 1000, (1.5,))


def test_wgets_failure_is_its_last_line(tmp_path: Path) -> None:
    said = "https://server.test/1000.bin:\n2026-01-01 00:00:00 ERROR 404: Not Found.\n"
    ended = Ended("wget", 8, 10**9)
    found = measured(setting("wget", "h1", DOWNLOAD), tmp_path, ended, wget_err=said)
    assert found.error == "wget: 2026-01-01 00:00:00 ERROR 404: Not Found. (exit status 8)"


def test_wget_resumes_only_if_asked(tmp_path: Path) -> None:
    for client, protocol in (("wget", "h1"), ("wget2", "h1"), ("wget2", "h2")):
        for value in ("on", "off"):
            of = setting(client, protocol, MIGRATION, knobs={"resume": value})
            assert ("--continue" in argv(of)) == (value == "on")
        assert "--continue" not in argv(setting(client, protocol, DOWNLOAD))


# wget2

WGET2_HEAD = "ID,ParentID,URL,Status,Link,Method,Size,SizeDecompressed,TransferTime,ResponseTime\n"
WGET2_ROWS = (
    WGET2_HEAD
    + "2,0,https://server.test/1000.bin?2,200,1,1,1000,1000,400,400\n"
    + "1,0,https://server.test/1000.bin?1,200,1,1,1000,1000,300,300\n"
)
H2_HANDSHAKE = "server.test,5,0,1,0,h2,1,2,21\n"


def wget2(directory: Path, rows: str, handshakes: str, workload: dict[str, Any]) -> Measurement:
    (directory / "wget2-answers.csv").write_text(rows)
    (directory / "wget2-handshakes.csv").write_text(handshakes)
    return measured(setting("wget2", "h2", workload), directory)


def test_wget2s_answers_end_as_long_before_the_last_as_they_were_shorter(tmp_path: Path) -> None:
    found = wget2(tmp_path, WGET2_ROWS, H2_HANDSHAKE, PARALLEL)
    assert found.error is None
    assert found.each_s == pytest.approx((1.4, 1.5))
    assert (found.total_s, found.bytes) == (1.5, 2000)


@pytest.mark.parametrize(
    ("rows", "handshakes", "error"),
    [
        (WGET2_ROWS.replace(",200,", ",404,"), H2_HANDSHAKE, "the server answered with status 404"),
        (WGET2_ROWS.replace("1000,1000,", "7,7,"), H2_HANDSHAKE, "7 of 1000 bytes came"),
        (WGET2_ROWS, H2_HANDSHAKE * 2, "wget2 opened 2 connections instead of one"),
        (WGET2_ROWS, H2_HANDSHAKE.replace("h2", "http/1.1"), "it spoke http/1.1, not h2"),
        (WGET2_HEAD, H2_HANDSHAKE, "wget2: it printed no result (exit status 0)"),
    ],
)
def test_wget2s_failures_are_named(tmp_path: Path, rows: str, handshakes: str, error: str) -> None:
    assert wget2(tmp_path, rows, handshakes, PARALLEL) == Measurement(error=error)


def test_wget2_may_receive_the_rest_after_a_loss_only(tmp_path: Path) -> None:
    rest = WGET2_HEAD + "1,0,https://server.test/1000.bin,206,1,1,400,400,300,300\n"
    assert wget2(tmp_path, rest, H2_HANDSHAKE, MIGRATION).error is None
    assert wget2(tmp_path, rest, H2_HANDSHAKE, DOWNLOAD).error is not None


# Our own HTTP/3 clients


def report(*requests: dict[str, Any], **changes: Any) -> str:
    usual = {"url": "u", "status": 200, "bytes": 1000, "ttfb_s": 0.3, "total_s": 0.4, "error": None}
    whole = {"handshake_s": 0.1, "error": None, "migrated_s": None} | changes
    return json.dumps(whole | {"requests": [usual | one for one in requests]})


@pytest.mark.parametrize("client", ["aioquic", "quic-go"])
def test_reports_are_read(tmp_path: Path, client: str) -> None:
    text = report({"total_s": 0.9}, {"ttfb_s": 0.2})
    found = measured(setting(client, "h3", PARALLEL), tmp_path, **{f"{client}_out": text})
    assert found == Measurement(
        connect_s=0.1, tls_s=0.1, ttfb_s=0.2, total_s=0.9, bytes=2000, each_s=(0.9, 0.4)
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Traceback", "aioquic: Traceback"),
        (report({}, error="Idle timeout"), "aioquic: Idle timeout"),
        (report({"error": "reset"}, migration_error="no way"), "aioquic: reset; no way"),
        (report({"status": 404}), "aioquic: the server answered with status 404"),
        (report({"bytes": 7}), "aioquic: 7 of 1000 bytes came"),
        (report({"bytes": "x"}), "aioquic: its result has a wrong field requests.0.bytes: "),
        (report(handshake_s="soon"), "aioquic: its result has a wrong field handshake_s: "),
        ("", "aioquic: it printed no result"),
        (report({"total_s": None}), "aioquic: an answer did not come"),
    ],
)
def test_reports_of_failures_are_named(tmp_path: Path, text: str, error: str) -> None:
    found = measured(setting("aioquic", "h3", DOWNLOAD), tmp_path, aioquic_out=text)
    assert found.total_s is None
    assert found.error is not None and error in found.error


# ngtcp2


@given(size=st.integers(0, 10**9), count=st.integers(1, 50))
def test_spellings_differ_and_mean_the_same(size: int, count: int) -> None:
    found = _spellings(f"{size}.bin", count)
    assert len(set(found)) == count
    assert {unquote(name) for name in found} == {f"{size}.bin"}
    assert found[0] == f"{size}.bin"


@given(st.lists(st.integers(1, 20), min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_a_stream_ends_when_its_last_gap_is_filled(lengths: list[int], order: Any) -> None:
    frames, offset = [], 0
    for length in lengths:
        frames.append({"offset": offset, "length": length})
        offset += length
    frames[-1]["fin"] = True
    arrivals = [*frames, *order.sample(frames, len(frames) // 2)]
    order.shuffle(arrivals)
    stream, seen = _Stream(0), set()
    for at_ms, frame in enumerate(arrivals):
        stream.receive(at_ms, frame)
        seen.add(frame["offset"])
        if len(seen) == len(frames):
            break
        assert stream.ended_ms is None
    assert stream.ended_ms == at_ms


def event(at_ms: int, name: str, *frames: dict[str, Any], kind: str = "1RTT") -> str:
    data = {"frames": frames, "header": {"packet_type": kind, "packet_number": 1}}
    return "\x1e" + json.dumps({"time": at_ms, "name": f"transport:{name}", "data": data}) + "\n"


def stream_frame(stream: int, offset: int, length: int, **more: bool) -> dict[str, Any]:
    return {"frame_type": "stream", "stream_id": stream, "offset": offset, "length": length} | more


LOG = (
    event(0, "packet_sent", kind="initial")
    + event(20, "packet_received", kind="handshake")
    + event(21, "packet_sent", stream_frame(0, 0, 40))
    + event(40, "packet_received", stream_frame(3, 0, 9), stream_frame(4, 0, 600))
    + event(50, "packet_received", stream_frame(0, 0, 1100, fin=True))
    + event(60, "packet_received", stream_frame(4, 600, 500, fin=True))
    + '\x1e{"time":61,"name":"transport:packet_rec'
)


def ngtcp2(directory: Path, log: str, workload: dict[str, Any]) -> Measurement:
    place = directory / "qlog" / "client"
    place.mkdir(parents=True)
    (place / "ngtcp2.sqlog").write_text(log)
    return measured(setting("ngtcp2", "h3", workload), directory)


STATUSES = "".join(f"http: stream {one} [:status: 200]\n" for one in ("0x0", "0x4"))


@pytest.mark.parametrize(
    ("printed", "error"),
    [
        (
            STATUSES.replace("0x4 [:status: 200", "0x4 [:status: 404"),
            "the server answered with status 404",
        ),
        (STATUSES.replace("0x4", "0x8"), "ngtcp2: it printed no status of a response"),
        ("http: stream 0x0 [:status: 103]\n" + STATUSES, None),
    ],
)
def test_gtlsclient_prints_the_status_of_each_response(
    tmp_path: Path, printed: str, error: str | None
) -> None:
    (tmp_path / "ngtcp2.err").write_text(printed)
    assert ngtcp2(tmp_path, LOG, PARALLEL).error == error


def test_gtlsclients_log_tells_when_answers_came(tmp_path: Path) -> None:
    (tmp_path / "ngtcp2.err").write_text(STATUSES)
    found = ngtcp2(tmp_path, LOG, PARALLEL)
    assert found.error is None
    assert (found.connect_s, found.tls_s, found.ttfb_s) == (0.021, 0.021, 0.04)
    assert found.each_s == pytest.approx((1.49, 1.5))
    assert (found.total_s, found.bytes) == (1.5, 2000)


def test_an_answer_without_an_end_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "ngtcp2.err").write_text("ngtcp2_conn_handle_expiry: ERR_IDLE_CLOSE\n")
    found = ngtcp2(tmp_path, LOG.replace(', "fin": true', "", 1), PARALLEL)
    assert found.error == "ngtcp2: ngtcp2_conn_handle_expiry: ERR_IDLE_CLOSE (exit status 0)"


def test_after_the_rehearsal_the_timer_fires_when_the_address_has_changed(tmp_path: Path) -> None:
    place = tmp_path / "qlog" / "client"
    place.mkdir(parents=True)
    (place / "ngtcp2.sqlog").write_text(LOG)
    client = CLIENTS["ngtcp2"]
    program = Program("ngtcp2", "client", ("gtlsclient", "--quiet", ADDRESS, "443", "URL"))
    told = client.after_rehearsal(program, tmp_path, 289_200_000)
    option = "--change-local-addr=270ms"
    assert told.argv == ("gtlsclient", "--quiet", option, ADDRESS, "443", "URL")


STEPS = {"steps": [{"at": "0 s", "rate": "1 Mbit/s"}, {"at": "1 s", "rate": "5 Mbit/s"}]}


@pytest.mark.parametrize(
    ("down", "rate_bit_s"),
    [
        ({}, None),
        ({"rate": "2 Mbit/s"}, 2_000_000),
        ({"rate": STEPS}, 5_000_000),
        ({"rate": "2 Mbit/s", "changes": [{"at": "1 s", "rate": "9 Mbit/s"}]}, 9_000_000),
        ({"rate": {"low": "1 Mbit/s", "high": "4 Mbit/s", "every": "1 s"}}, 4_000_000),
    ],
)
def test_orders_for_a_migration_know_how_fast_the_path_may_get(
    down: dict[str, Any], rate_bit_s: int | None
) -> None:
    of = setting("curl", "h2", MIGRATION, path={"down": down})
    ordered = orders_of(of).migration
    assert ordered is not None
    assert (ordered.after_bytes, ordered.rate_bit_s) == (500, rate_bit_s)
    assert ordered.old_address == "10.0.0.1"
    assert ordered.ip[:2] == (
        "addr add 10.0.0.11/24 dev client-up",
        "addr del 10.0.0.1/24 dev client-up",
    )
    assert all(line.startswith("route replace ") for line in ordered.ip[2:])
