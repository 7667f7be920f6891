"""What is said of L4S senders and queues that do not go together, and what hosts are set to for them."""

from __future__ import annotations

from typing import Any

import pytest

from headway.contract.counts import Counts
from headway.contract.sojourns import begin_us, mean_ms, quantile_ms
from headway.lab.network import layout_of
from headway.planning.capability_checks import remarks
from headway.planning.deploy import deploy
from headway.study.setting import Setting

DUALPI2 = {"size": "1 MB", "discipline": "dualpi2"}
PRAGUE = {"program": "nginx", "congestion_control": "prague"}


def setting(queue: Any, **more: Any) -> Setting:
    path = {"rate": "20 Mbit/s", "rtt": "20 ms", "queue": queue}
    return Setting.model_validate({"protocol": "h2", "path": path, **more})


def said(queue: Any, **more: Any) -> list[str]:
    words = ("ECT(1)", "marks", "Accurate ECN")
    texts = remarks(deploy(setting(queue, **more)))
    return [text for text in texts if any(word in text for word in words)]


def test_nobody_sends_to_the_queue_for_l4s() -> None:
    (text,) = said(DUALPI2)
    assert "dualpi2 has no L4S traffic" in text and "prague" in text
    (text,) = said(DUALPI2, server={"program": "nginx", "congestion_control": "dctcp"})
    assert "DCTCP's too" in text


def test_nothing_is_wrong_with_an_l4s_sender_before_its_queue() -> None:
    assert said(DUALPI2, server=PRAGUE) == []
    quic = {"program": "headway-server", "congestion_control": {"quic": "prague"}}
    assert said(DUALPI2, server=quic, client={"program": "headway-client"}, protocol="h3") == []
    assert len(said(DUALPI2, server=quic, client={"program": "headway-client"})) == 1, "over TCP"


@pytest.mark.parametrize("discipline", ["red", "pie", "codel"])
def test_a_queue_of_rfc_3168_marks_an_l4s_sender_too_seldom(discipline: str) -> None:
    queue = {"size": "100 kB", "discipline": discipline, "ecn": True}
    (text,) = said(queue, server=PRAGUE)
    assert text.startswith(f"{discipline} with ecn marks ECT(1) as ECT(0)") and "others" in text
    assert said(queue) == []


@pytest.mark.parametrize("queue", ["fq_codel", "fq_pie", "cake"])
def test_a_queue_for_each_flow_has_its_own_words(queue: str) -> None:
    marking = {} if queue == "cake" else {"ecn": True}
    (text,) = said({"size": "100 kB", "discipline": queue, **marking}, server=PRAGUE)
    assert text.startswith(f"{queue} marks ECT(1) as seldom") and "its own queue" in text


def test_an_l4s_sender_before_a_queue_that_never_marks() -> None:
    (text,) = said("100 kB", server=PRAGUE)
    assert "no queue on the way of server's packets marks" in text


def test_a_link_that_marks_makes_up_for_a_queue_that_never_does() -> None:
    path = {"rate": "20 Mbit/s", "rtt": "20 ms", "queue": "100 kB"}
    marking = {**path, "down": {"ecn": {"ect1": "ce", "start": "1 s", "end": "2 s"}}}
    texts = [
        text
        for which in (path, marking)
        for text in remarks(
            deploy(Setting.model_validate({"protocol": "h2", "path": which, "server": PRAGUE}))
        )
        if "no queue" in text
    ]
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("role", "value", "is_told"),
    [
        ("client", 0, True),
        ("client", 1, True),
        ("client", 5, True),
        ("client", 3, False),
        ("server", 2, True),
        ("server", 5, False),
    ],
)
def test_a_peer_without_accurate_ecn_is_told(role: str, value: int, is_told: bool) -> None:
    hosts = {"client": {"program": "curl"}, "server": PRAGUE}
    hosts[role] = hosts[role] | {"kernel": {"sysctls": {"net.ipv4.tcp_ecn": value}}}
    texts = said(DUALPI2, **hosts)
    assert [f"{role}.kernel.sysctls" in text for text in texts] == [True] * is_told


def ecn_of(made: Setting) -> dict[str, str | None]:
    hosts = layout_of(deploy(made)).hosts
    return {host.name: host.sysctls.get("net.ipv4.tcp_ecn") for host in hosts}


def test_only_hosts_of_connections_that_need_it_offer_accurate_ecn() -> None:
    assert set(ecn_of(setting(DUALPI2)).values()) == {None}
    assert set(ecn_of(setting(DUALPI2, server=PRAGUE, protocol="h3")).values()) == {None}
    ends = {name for name, value in ecn_of(setting(DUALPI2, server=PRAGUE)).items() if value == "3"}
    assert ends == {"client", "server"}
    perf = {"program": "headway-perf"}
    flows = {
        "prague": {"server": perf | {"congestion_control": "prague"}},
        "cubic": {"server": perf},
    }
    bulk = {"kind": "bulk", "duration": "5 s"}
    both = setting(DUALPI2, protocol="tcp", client=perf, workload=bulk, flows=flows)
    deployed = deploy(both)
    ends = [end.name for flow in deployed.flows if flow.named == "prague" for end in flow.endpoints]
    assert {name for name, value in ecn_of(both).items() if value == "3"} == set(ends)
    assert len(ends) == 2 < len(deployed.nodes)


def test_a_study_says_itself_what_a_host_offers() -> None:
    client = {"program": "curl", "kernel": {"sysctls": {"net.ipv4.tcp_ecn": 1}}}
    assert ecn_of(setting(DUALPI2, server=PRAGUE, client=client))["client"] == "1"


def test_classes_of_times_are_those_of_the_kernel() -> None:
    """`sojourn_class` of the patch: each class begins where the one before it ends, and an octave has eight."""

    def class_of(us: int) -> int:
        octave = us.bit_length() - 1
        return us if us < 8 else ((octave - 3) << 3) + (us >> (octave - 3))

    for us in (*range(300), 999, 1000, 2**21, 2**22 - 1):
        assert begin_us(class_of(us)) <= us < begin_us(class_of(us) + 1)


def test_quantiles_are_never_less_than_the_times() -> None:
    counts = [0] * 160
    counts[10], counts[64] = 98, 2  # 10 us; 1024 to 1151 us
    assert quantile_ms(counts, 0.5) == 0.011
    assert quantile_ms(counts, 0.99) == 1.152
    assert mean_ms(counts) == pytest.approx((98 * 10.5 + 2 * 1088) / 100 / 1000)
    assert quantile_ms([0] * 160, 0.99) is None and mean_ms([]) is None


def test_times_of_several_links_are_counted_together() -> None:
    counts = [Counts(sojourns_l=(1, 2)), Counts(), Counts(sojourns_l=(0, 5), lost=2)]
    total = Counts.total(counts)
    assert (total.sojourns_l, total.sojourns_c, total.lost) == ((1, 7), (), 2)


def test_a_packet_that_takes_longer_than_the_step_is_told() -> None:
    queue = dict(DUALPI2)
    path = {"rate": "8 Mbit/s", "rtt": "20 ms", "queue": queue}
    raw = {"protocol": "h2", "server": PRAGUE, "path": path}

    def steps() -> list[str]:
        texts = remarks(deploy(Setting.model_validate(raw)))
        return [text for text in texts if "queue.step" in text]

    (text,) = steps()
    assert 'queue.step = "3 ms"' in text
    queue["step"] = "3 ms"
    assert steps() == []


def test_a_step_is_of_dualpi2_alone() -> None:
    tc = [
        line
        for space in layout_of(deploy(setting(DUALPI2 | {"step": "2.5 ms"}))).namespaces
        for line in space.tc
    ]
    assert sum("step_thresh 2500us" in line for line in tc) == 2
