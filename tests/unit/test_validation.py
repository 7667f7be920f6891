"""Validation of runs: from captures, samples and pings made by hand."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.analysis.usability import complaints
from headway.contract.names import SAMPLES_FILE
from headway.contract.orders import Pings
from headway.contract.samples import TCP_FIELDS, QueueStats
from headway.diagnosis.transfer import SampledSegment, Transfer
from headway.diagnosis.validation import (
    Crossing,
    Echoes,
    Evidence,
    Rates,
    judge,
    load_evidence,
    validation_columns,
)
from headway.diagnosis.validation.expected import (
    DelayBounds,
    Loss,
    delay_span,
    drops_are_counted,
    mean_loss,
    there_and_back,
)
from headway.diagnosis.validation.judge import verdict
from headway.diagnosis.validation.passage import match, passage
from headway.diagnosis.validation.rates import find_rates, steady_goodput_mbit
from headway.guest.icmp import echo_request
from headway.lab.captures import capture_files, missed_packets
from headway.lab.pcapng import to_pcapng
from headway.planning.deploy import deploy
from headway.programs.measurement import BulkFlow
from headway.report.report import Report
from headway.report.tables.validation import FILE
from headway.study.path import Path as NetworkPath
from headway.study.path import Way
from headway.study.setting import Setting
from tests.deployed import orders_of
from tests.unit.made_results import run, saved
from tests.unit.test_pcapng import pcap

MS = 10**6


def frame(number: int, ttl: int = 64, end: int = 1) -> bytes:
    """An Ethernet frame with an IP packet that only its number tells from others."""
    macs = bytes(6) + bytes([2, 0, 0, 0, 0, end])
    header = struct.pack("!BBHHHBBH8s", 0x45, 0, 24, number, 0, ttl, 17, 1000 + ttl, bytes(8))
    return macs + b"\x08\x00" + header + struct.pack("!I", number)


# Passages


def test_packets_are_found_again_after_routers() -> None:
    sent = [(number * MS, frame(number)) for number in range(4)]
    arrived = [(at + 20 * MS, frame(n, ttl=61)) for n, (at, _) in enumerate(sent) if n != 2]
    found = match(sent, arrived, 100 * MS)
    assert found.delays_ns == [20 * MS] * 3
    assert [at is None for at in found.arrived_ns] == [False, False, True, False]
    assert (found.missing, found.unfinished, found.strangers) == (1, 0, 0)


def test_equal_packets_keep_their_order() -> None:
    sent = [(0, frame(7)), (5, frame(7)), (9, frame(8))]
    found = match(sent, [(100, frame(7)), (105, frame(7)), (109, frame(8))], 200)
    assert found.delays_ns == [100, 100, 100]


def test_a_packet_that_had_no_time_to_arrive_may_not_be_lost() -> None:
    sent = [(at * MS, frame(at)) for at in (0, 30, 95, 120)]
    arrived = [(20 * MS, frame(0)), (109 * MS, frame(1)), (111 * MS, frame(2))]
    found = match(sent, arrived, 110 * MS)
    # The fourth was sent later, and so may have been what came at 111 ms.
    assert (len(found.sent_ns), found.missing, found.unfinished, found.strangers) == (3, 2, 1, 1)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 10**9))
def test_every_packet_is_either_lost_or_arrives(arrives: list[bool], delay_ns: int) -> None:
    sent = [(number, frame(number)) for number in range(len(arrives))]
    arrived = [(n + delay_ns, frame(n)) for n, there in enumerate(arrives) if there]
    found = match(sent, arrived, 10**10)
    assert [at is not None for at in found.arrived_ns] == arrives
    assert (found.missing, found.strangers) == (arrives.count(False), 0)
    assert found.unfinished <= found.missing
    assert set(found.delays_ns) <= {delay_ns}


def test_directions_are_told_by_where_frames_come_from(tmp_path: Path) -> None:
    left = [(1, frame(1, end=1)), (9, frame(2, end=2))]
    right = [(3, frame(1, end=1)), (5, frame(2, end=2)), (6, frame(3, end=2))]
    for name, packets in (("left", left), ("right", right)):
        (tmp_path / "c.pcap").write_bytes(pcap(packets))
        to_pcapng(tmp_path / "c.pcap", (), tmp_path / f"{name}.pcapng")
    ends = tmp_path / "left.pcapng", tmp_path / "right.pcapng"
    assert passage(*ends, Way.UP, 9).delays_ns == [2]
    assert passage(*ends, Way.DOWN, 9).arrived_ns == (9, None)


def test_captures_that_lost_packets_say_so(tmp_path: Path) -> None:
    said = "tcpdump: listening\n9 packets captured\n12 packets received by filter\n{} dropped by kernel\n"
    (tmp_path / "tcpdump-a-up.err").write_text(said.format("3 packets"))
    (tmp_path / "tcpdump-b-down.err").write_text(said.format("1 packet"))
    assert missed_packets(tmp_path, ["a-up", "b-down", "c-up"]) == 4


def test_captures_of_a_connection_are_those_of_its_ends() -> None:
    hops = [{"name": "one"}, {"name": "two"}]
    setting = Setting.model_validate({"hops": hops})
    (segment,) = deploy(setting).only.segments
    assert capture_files(segment.legs) == ("client.pcapng", "server.pcapng")


def test_captures_of_a_pep_look_both_ways() -> None:
    pep = {"program": "headway-tcp-pep"}
    hops = [{"name": "one", "tcp_pep": pep}, {"name": "two"}, {"name": "three", "tcp_pep": pep}]
    found = [
        capture_files(one.legs)
        for one in deploy(Setting.model_validate({"hops": hops})).only.segments
    ]
    assert found == [
        ("client.pcapng", "one.pcapng"),
        ("one-upstream.pcapng", "three.pcapng"),
        ("three-upstream.pcapng", "server.pcapng"),
    ]


# Closed forms


def path(**raw: object) -> NetworkPath:
    return NetworkPath.model_validate(raw)


def test_delays_of_paths_add_up() -> None:
    span = delay_span((None, path(delay="250 ms"), path(delay="40 ms")), Way.UP)
    assert (span.stated_ms, span.least_ms) == (290, 290)
    assert span.lone_ms == pytest.approx(290.03)
    assert span.greatest_ms == span.lone_ms


def test_a_full_queue_bounds_the_delay() -> None:
    limited = path(delay="50 ms", down={"rate": "10 Mbit/s", "queue": "100 packets"})
    # 100 packets wait, and one is being sent: 101 x 1514 x 8 bits.
    assert delay_span((limited,), Way.DOWN).greatest_ms == pytest.approx(50 + 122.3312 + 0.01)
    assert delay_span((limited,), Way.UP).greatest_ms == pytest.approx(50.01)
    managed = {"size": "100 packets", "discipline": "codel"}
    unknown = delay_span((path(rate="10 Mbit/s", queue=managed),), Way.DOWN)
    assert unknown.greatest_ms is None


def test_changing_delays_and_jitter_widen_the_bounds() -> None:
    changing = path(delay="20 ms", changes=[{"at": "1 s", "delay": "15 ms", "jitter": "2 ms"}])
    span = delay_span((changing,), Way.UP)
    assert (span.stated_ms, span.least_ms) == (20, 13)
    assert span.greatest_ms == pytest.approx(22.01)
    assert delay_span((path(delay="20 ms", reordering="1 %"),), Way.UP).least_ms == 0


def test_losses_of_links_combine() -> None:
    both = (path(loss="10 %"), path(loss="20 %"), None)
    loss = mean_loss(both, Way.DOWN)
    assert loss and loss.share == pytest.approx(0.28) and loss.correlation == 0
    _, trip = there_and_back(both)
    assert trip and trip.share == pytest.approx(1 - 0.72**2)
    bursts = mean_loss((path(loss={"mean": "2 %", "burst": 5}),), Way.UP)
    # Correlation of neighbours: 1 - 1/5 - 0.02 / (5 x 0.98).
    assert bursts and bursts.correlation == pytest.approx(0.795918, abs=1e-6)


@pytest.mark.parametrize(
    "raw",
    [
        {"blackouts": [["1 s", "2 s"]]},
        {"duplication": "1 %"},
        {"corruption": "1 %"},
        {"drop_packets": [3]},
        {"changes": [{"at": "1 s", "loss": "5 %"}]},
    ],
)
def test_loss_that_changes_has_no_closed_form(raw: dict[str, object]) -> None:
    assert mean_loss((path(**raw),), Way.DOWN) is None


def test_not_all_drops_are_counted() -> None:
    assert drops_are_counted((None, path(loss="1 %")), Way.UP)
    assert drops_are_counted((path(drop_packets=[1]),), Way.UP)
    assert not drops_are_counted((path(duplication="1 %"),), Way.UP)
    assert drops_are_counted((path(down={"corruption": "1 %"}),), Way.UP)


# Judging

SPAN = DelayBounds(stated_ms=100, least_ms=100, lone_ms=100.01, greatest_ms=150)
ECHOES = Echoes("client > server", 10, (100.001,) * 10, SPAN, Loss(0, 0))
CROSSING = Crossing(
    between="server > client",
    way="down",
    missed=0,
    packets=1000,
    missing=14,
    strangers=0,
    unfinished=0,
    queue_drops=4,
    path_drops=10,
    least_ms=100.0,
    greatest_ms=149.0,
    span=SPAN,
    loss=Loss(0.01, 0),
)
RATES = Rates("server > client", 20, 20.01, True, 19.13, 19.1)
EVIDENCE = Evidence(ECHOES, (CROSSING,), RATES)


def failed(found: Evidence) -> list[str]:
    return [check.name for check in judge([found]) if not check.passed]


def crossing(**changed: object) -> Evidence:
    return replace(EVIDENCE, crossings=(replace(CROSSING, **changed),))  # type: ignore[arg-type]


def test_what_was_configured_passes() -> None:
    assert failed(EVIDENCE) == []
    loss = next(check for check in judge([EVIDENCE]) if check.name == "loss down")
    assert loss.measured == pytest.approx(100 * 10 / 996)
    assert validation_columns(EVIDENCE) == {
        "validation": "passed",
        "control_lost": 0,
        "control_rtt_ms": 100.001,
        "control_rtt_min_ms": 100.001,
        "control_rtt_max_ms": 100.001,
    }


@pytest.mark.parametrize(
    ("found", "names"),
    [
        (replace(EVIDENCE, echoes=replace(ECHOES, rtts_ms=(99.9,) * 10)), ["control RTT"]),
        (replace(EVIDENCE, echoes=replace(ECHOES, rtts_ms=(100.1, 100))), ["control RTT"]),
        (crossing(least_ms=99.999), ["least delay down"]),
        (crossing(least_ms=100.02), ["least delay down"]),
        (crossing(greatest_ms=150.1), ["greatest delay down"]),
        (crossing(missing=15), ["unexplained losses down"]),
        (crossing(missing=13), ["unexplained losses down"]),
        (crossing(missing=15, unfinished=1), []),
        (crossing(missing=13, unfinished=1), ["unexplained losses down"]),
        (crossing(missing=54, path_drops=50), ["loss down"]),
        (crossing(strangers=1), ["strangers down"]),
        (crossing(missed=1, missing=500), ["missed by captures down"]),
        (crossing(loss=None, strangers=1, path_drops=50, missing=54), []),
        (crossing(queue_drops=None, path_drops=None), []),
        (replace(EVIDENCE, rates=replace(RATES, busiest_mbit=20.1)), ["link rate"]),
        (replace(EVIDENCE, rates=replace(RATES, busiest_mbit=19.9)), ["link rate"]),
        (replace(EVIDENCE, rates=replace(RATES, busiest_mbit=3, standing=False)), []),
        (replace(EVIDENCE, rates=replace(RATES, steady_mbit=19.5)), ["steady goodput"]),
        (replace(EVIDENCE, rates=replace(RATES, steady_mbit=None)), []),
    ],
)
def test_what_was_not_configured_fails(found: Evidence, names: list[str]) -> None:
    assert [name for name in failed(found) if name != "control loss"] == names


def test_lost_pings_are_counted() -> None:
    assert failed(replace(EVIDENCE, echoes=replace(ECHOES, sent=11))) == ["control loss"]
    lossy = replace(ECHOES, sent=11, loss=Loss(0.05, 0))
    assert failed(replace(EVIDENCE, echoes=lossy)) == []


def test_runs_are_judged_together() -> None:
    # Of 20 losses in 996 packets at 1 % nothing can be said; in ten runs they are too many.
    one = crossing(missing=24, path_drops=20)
    assert failed(one) == []
    together = judge([one] * 10)
    assert [check.name for check in together if not check.passed] == ["loss down"]
    slow = crossing(greatest_ms=151)
    assert "greatest delay" in (verdict(judge([EVIDENCE, slow, EVIDENCE])) or "")


def moved(found: Evidence, factor: float) -> Evidence:
    """The evidence of a repetition whose delays and rates were all drawn longer by a factor."""

    def span(of: DelayBounds) -> DelayBounds:
        bounds = of.stated_ms, of.least_ms, of.lone_ms, of.greatest_ms
        return DelayBounds(*(None if bound is None else bound * factor for bound in bounds))  # type: ignore[arg-type]

    assert found.echoes and found.rates
    (one,) = found.crossings
    assert one.least_ms and one.greatest_ms and found.rates.steady_mbit
    return Evidence(
        replace(
            found.echoes,
            rtts_ms=tuple(rtt * factor for rtt in found.echoes.rtts_ms),
            span=span(found.echoes.span),
        ),
        (
            replace(
                one,
                least_ms=one.least_ms * factor,
                greatest_ms=one.greatest_ms * factor,
                span=span(one.span),
            ),
        ),
        replace(
            found.rates,
            link_mbit=found.rates.link_mbit * factor,
            busiest_mbit=found.rates.busiest_mbit * factor,
            payload_mbit=found.rates.payload_mbit * factor,
            steady_mbit=found.rates.steady_mbit * factor,
        ),
    )


def test_each_run_is_judged_beside_what_its_own_seed_drew() -> None:
    drawn = [moved(EVIDENCE, factor) for factor in (0.97, 1.0, 1.02)]
    assert verdict(judge(drawn)) == "passed"
    # The second is as the third was to be: its own path is another one.
    wrong = replace(drawn[1], echoes=replace(ECHOES, rtts_ms=(102.001,) * 10))
    (found,) = (check for check in judge([drawn[0], wrong, drawn[2]], "abc") if not check.passed)
    assert (found.name, found.expected) == ("control RTT", ECHOES.span.stated_ms)
    assert found.measured == pytest.approx(102.001)
    assert found.note.endswith("farthest off is b")
    slow = replace(drawn[0], crossings=(replace(drawn[0].crossings[0], least_ms=98),))
    names = [check.name for check in judge([*drawn[1:], slow]) if not check.passed]
    assert names == ["least delay down"]
    idle = replace(drawn[2], rates=replace(RATES, link_mbit=20.4, busiest_mbit=20.0))
    assert [check.name for check in judge([*drawn, idle]) if not check.passed] == ["link rate"]


def test_a_ping_too_early_is_not_hidden_by_one_that_is_farther_off() -> None:
    # With jitter, bounds are not even: what is farthest from the stated time may be within them.
    span = DelayBounds(100, 95, 105.02, None)
    jittered = replace(ECHOES, sent=3, span=span, rtts_ms=(105.015, 94.99, 100.0))
    assert failed(replace(EVIDENCE, echoes=jittered)) == ["control RTT"]


def test_losses_are_expected_of_each_run_by_itself() -> None:
    # 1 % of 996 packets and 30 % of as many: 310 in all, which neither share would explain.
    heavy = crossing(missing=304, path_drops=300, loss=Loss(0.3, 0)).crossings[0]
    both = [EVIDENCE, replace(EVIDENCE, crossings=(heavy,))]
    (loss,) = (check for check in judge(both) if check.name == "loss down")
    assert loss.passed and loss.expected == pytest.approx(15.5)
    # What changes with time in one run only is not judged there, and in the others it is.
    changing = replace(EVIDENCE, crossings=(replace(heavy, loss=None, strangers=7),))
    (loss,) = (check for check in judge([changing, EVIDENCE]) if check.name == "loss down")
    assert loss.passed and loss.expected == pytest.approx(1)
    assert verdict(judge([changing, EVIDENCE])) == "passed"


def test_delays_and_losses_of_nothing_are_not_judged() -> None:
    nothing: dict[str, object] = dict.fromkeys(("queue_drops", "path_drops"), 0)
    nothing |= {"least_ms": None, "greatest_ms": None}
    assert failed(crossing(packets=0, missing=0, **nothing)) == []
    assert failed(crossing(packets=3, missing=3, **nothing)) == ["unexplained losses down"]


def test_nothing_checked_is_no_verdict() -> None:
    assert verdict(judge([Evidence()])) is None
    assert validation_columns(None) == {}


def test_evidence_survives_its_file(tmp_path: Path) -> None:
    for found in (EVIDENCE, Evidence(), crossing(loss=None)):
        found.save(tmp_path)
        assert load_evidence(tmp_path) == found
    assert load_evidence(tmp_path / "elsewhere") is None


# Rates


def sampled(directory: Path, taken: list[tuple[float, int, int]]) -> None:
    """Samples of one device: time, bytes sent so far, and backlog."""
    lines: list[object] = [[0, [["a", "q"]], [], QueueStats._fields, TCP_FIELDS]]
    lines += [[at_s * 1e6, [[sent, 0, 0, backlog]], []] for at_s, sent, backlog in taken]
    (directory / SAMPLES_FILE).write_text("\n".join(map(json.dumps, lines)))


def rates(directory: Path, taken: list[tuple[float, int, int]]) -> Rates:
    sampled(directory, taken)
    segment = SampledSegment("server", "client", "q", ("l",), 8.0, 0.1, 0.05)
    setting = Setting.model_validate(
        {"protocol": "tcp", "workload": {"kind": "bulk", "size": "1 MB"}}
    )
    flows = (BulkFlow(0.0, 0.1, (100_000,) * 40),)
    found = find_rates(deploy(setting).only, Transfer(None, None, (segment,), flows), directory)
    assert found
    return found


def test_the_busiest_second_is_found(tmp_path: Path) -> None:
    # 1 MB in the second from 0.5 s on: 8 Mbit/s; its queue was empty in the midst of it.
    taken = [(0.0, 0, 0), (0.5, 0, 9), (1.0, 600_000, 0), (1.5, 1_000_000, 9), (2.5, 1_200_000, 0)]
    found = rates(tmp_path, taken)
    assert (found.busiest_mbit, found.standing) == (pytest.approx(8), False)
    assert found.payload_mbit == pytest.approx(8 * 1448 / 1514)
    assert found.steady_mbit == pytest.approx(8)


def test_a_standing_queue_is_noticed(tmp_path: Path) -> None:
    # Until the next sample the link sends 500 kB, so that it was idle if the queue held less.
    taken = [(0.5, 0, 0), (1.0, 0, 500_000), (1.5, 500_000, 500_000), (2.0, 1_000_000, 0)]
    assert rates(tmp_path, taken).standing
    taken[2] = (1.5, 400_000, 499_999)
    assert not rates(tmp_path, taken).standing


def test_a_repaired_loss_does_not_count_as_speed() -> None:
    # 25 kB every 100 ms, but at the end of the third second everything comes at once.
    received = [25_000] * 40 + [0] * 9 + [250_000] + [25_000] * 30
    assert steady_goodput_mbit(received, 2) == pytest.approx(2)
    assert steady_goodput_mbit([0] * 10 + [25_000] * 9 + [275_000], 2) == pytest.approx(2)
    assert steady_goodput_mbit([25_000] * 17, 2) is None


def test_more_than_a_link_can_have_carried_shows() -> None:
    assert steady_goodput_mbit([30_000] * 40, 2) == pytest.approx(2.4)


# Pings and settings


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFFFF))
def test_echo_requests_have_a_right_checksum(identifier: int, sequence: int) -> None:
    message = echo_request(identifier, sequence, 98)
    assert len(message) == 64
    # RFC 1071: the sum of all words, the checksum among them, is minus zero.
    assert sum(struct.unpack("!32H", message)) % 0xFFFF == 0


def pings(raw: dict[str, object]) -> Pings | None:
    setting = Setting.model_validate(raw)
    return orders_of(setting).pings


def test_pings_go_to_where_http_ends() -> None:
    asked = {"control": {"pings": 4, "interval": "20 ms"}, "path": {"rtt": "100 ms"}}
    assert pings({"path": {"rtt": "100 ms"}}) is None
    assert pings(asked) == Pings("client", "10.0.2.2", 4, 20 * MS, 1200 * MS, 98)
    behind = {"program": "nginx", "upstream": {"path": {"rtt": "1 s"}}}
    assert pings(asked | {"proxy": behind}) == Pings(
        "client", "10.0.2.2", 4, 20 * MS, 1200 * MS, 98
    )


# The report


def test_a_failed_validation_is_the_first_that_a_report_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from rich.console import Console

    rows = [run(name, 1, 1.0, validation="passed") for name in ("h2", "h3")]
    directory = saved(tmp_path, rows)
    for row, found in zip(rows, (EVIDENCE, crossing(least_ms=90.0)), strict=True):
        (directory / "artifacts" / row["run_id"]).mkdir(parents=True)
        found.save(directory / "artifacts" / row["run_id"])
    report = Report.of(directory)
    report.print_summary(Console(width=200))
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("The validation failed: h3: least delay down of server > client: 90 ms")
    page = report.write().read_text()
    assert page.index("The validation failed: h3") < page.index("<main>")
    assert "1 of 10 checks failed" in page
    assert complaints(directory, allow_failures=True, strict=False)[0].startswith(first[:60])
    table = (directory / "report" / FILE).read_text()
    assert table.count("least delay down") == 2 and table.count("false") == 1


def test_a_report_without_validation_says_so(tmp_path: Path) -> None:
    report = Report.of(saved(tmp_path, [run("h2", 1, 1.0)]))
    assert report.validated == ()
    assert "No run was validated" in report.write().read_text()


# Full queues


@pytest.mark.parametrize(
    ("share", "dropped", "path_drops", "unfinished", "passes"),
    [
        (1.0, 9, 0, 0, True),
        (0.99, 9, 0, 0, True),
        (0.7, 9, 0, 0, False),
        (0.7, 0, 0, 0, True),
        (0.7, 9, 3, 0, True),
        (0.7, 9, 0, 9, True),
    ],
)
def test_a_queue_that_dropped_packets_had_been_full(
    share: float, dropped: int, path_drops: int, unfinished: int, passes: bool
) -> None:
    """Unless none was dropped, other losses may have hit the slowest packet, or it may not have arrived yet."""
    path = NetworkPath.model_validate({"rate": "10 Mbit/s", "rtt": "60 ms", "queue": "1 BDP"})
    span = delay_span([path], Way.DOWN)
    assert span.full_ms == pytest.approx(30 + 60 - 1.2112, abs=0.02)
    crossing = Crossing(
        between="server > client",
        way="down",
        missed=0,
        packets=1000,
        missing=dropped + path_drops,
        strangers=0,
        unfinished=unfinished,
        queue_drops=dropped,
        path_drops=path_drops,
        least_ms=30.0,
        greatest_ms=30 + 60 * share,
        span=span,
        loss=None,
    )
    (check,) = (one for one in judge([Evidence(crossings=(crossing,))]) if "greatest" in one.name)
    assert check.passed == passes


@pytest.mark.parametrize(
    "path",
    [
        {"rate": "10 Mbit/s", "queue": "50 packets"},
        {"rate": "10 Mbit/s", "queue": {"size": "1 BDP", "discipline": "codel"}},
        {"rate": {"low": "5 Mbit/s", "high": "9 Mbit/s", "every": "1 s"}},
        {"rate": "10 Mbit/s", "changes": [{"at": "1 s", "rate": "5 Mbit/s"}]},
        {"rate": "10 Mbit/s", "tunnel": "gre"},
        {"links": [{"rate": "10 Mbit/s", "rtt": "9 ms"}, {"rate": "8 Mbit/s", "rtt": "9 ms"}]},
        {},
    ],
)
def test_how_slow_the_slowest_packet_of_other_queues_is_is_not_known(
    path: dict[str, object],
) -> None:
    usual = {} if "links" in path else {"rtt": "60 ms"}
    assert delay_span([NetworkPath.model_validate(usual | path)], Way.DOWN).full_ms is None
