"""Headway's QUIC PEP in its place: streams pass one to one, and nothing is added."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.conftest import RunSetting

pytestmark = pytest.mark.lab


def chain(names: str, mode: str = "default", **others: Any) -> dict[str, Any]:
    """A chain of PEPs, 10 ms round trip before each and behind the last."""
    pep = {"program": "headway-quic-pep", "knobs": {"mode": mode}}
    hops = [{"name": name, "quic_pep": pep, "path": {"rtt": "10 ms"}} for name in names]
    return {
        "protocol": "h3",
        "client": {"program": "headway-client"},
        "server": {"program": "headway-server"},
        "path": {"rtt": "10 ms"},
        "hops": hops,
        "workload": {"size": "100 B"},
        **others,
    }


@pytest.mark.parametrize("loss", ["0 %", "3 %"])
@pytest.mark.parametrize("client", ["headway-client", "curl"])
def test_every_byte_through_three(run_setting: RunSetting, client: str, loss: str) -> None:
    raw = chain(
        "abc",
        client={"program": client},
        workload={"kind": "parallel", "count": 3, "size": "400 kB"},
        capture={"bodies": True},
    )
    raw["hops"][1]["path"] |= {"rate": "20 Mbit/s", "loss": loss}
    record = run_setting(raw)
    assert record.error is None


def test_it_adds_next_to_nothing(run_setting: RunSetting) -> None:
    """A PEP that is bypassed is a router: the same path without it."""
    routed = chain("abc", bypass=["a", "b", "c"], workload={"size": "1 MB"})
    through = chain("abc", "h3-capable", workload={"size": "1 MB"})
    split, plain = run_setting(through, name="split"), run_setting(routed, name="plain")
    assert split.error is None and plain.error is None
    assert split.connect_s is not None and plain.connect_s is not None
    # Handshakes one after the other, each over its section: 10 ms of 40 ms each.
    assert split.connect_s == pytest.approx(0.040, abs=0.001)
    assert plain.connect_s == pytest.approx(0.040, abs=0.001)
    # The request and its answer's first byte pass three PEPs.
    assert split.ttfb_s is not None and plain.ttfb_s is not None
    added_s = (split.ttfb_s - split.connect_s) - (plain.ttfb_s - plain.connect_s)
    assert added_s < 3 * 0.0002


def test_the_default_mode_answers_before_upstream_is_there(run_setting: RunSetting) -> None:
    record = run_setting(chain("a"))
    assert record.error is None
    assert record.connect_s == pytest.approx(0.010, abs=0.001)
    # The PEP begins to connect with the client's first packet; the request waits for that.
    assert record.ttfb_s == pytest.approx(0.030, abs=0.002)


def test_a_dead_server_is_told(run_setting: RunSetting) -> None:
    raw = chain("a", workload={"size": "100 B"})
    raw["hops"][0]["path"] |= {"loss": "100 %"}
    record = run_setting(raw)
    assert record.error is not None
    assert "next hop: no connection" in record.error
