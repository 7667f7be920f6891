"""One list of QUIC knobs: the programs', the adapters' and the documentation's."""

from __future__ import annotations

import re
from pathlib import Path

from headway.programs import SERVERS
from headway.programs.native import QUIC_KNOBS, quic_knobs
from headway.study.host import CongestionControl, CongestionControls, Host

ROOT = Path(__file__).parents[2]


def programs_knobs() -> set[str]:
    source = (ROOT / "native/quic/src/knobs.rs").read_text()
    return set(re.findall(r'knob!\(\s*"([a-z-]+)"', source))


def test_studies_have_all_knobs_of_the_programs() -> None:
    # These two are a host's own keys.
    ours = {knob.name.replace("_", "-") for knob in QUIC_KNOBS}
    assert ours | {"congestion-control", "initial-window"} == programs_knobs()


def test_all_knobs_are_documented() -> None:
    text = (ROOT / "docs/native-quic.md").read_text()
    documented = set(re.findall(r"^\| `([a-z-]+)` \|", text, re.MULTILINE))
    assert programs_knobs() <= documented


def test_knobs_are_passed_on() -> None:
    host = Host(
        program="headway-server",
        congestion_control=CongestionControl.RENO,
        initial_window=32,
        knobs={"saved_window": "1450000B", "saved_rtt": "580ms", "max_ack_delay": "50ms"},
    )
    words = quic_knobs(SERVERS["headway-server"], host).split(",")
    assert words[:2] == ["congestion-control=newreno", "initial-window=32"]
    assert {"saved-window=1450000B", "saved-rtt=580ms", "max-ack-delay=50ms"} <= set(words)
    assert {"pacing=on", "remember=off"} <= set(words)
    chosen = host.model_copy(update={"congestion_control": CongestionControls(quic="bbr3")})
    assert quic_knobs(SERVERS["headway-server"], chosen).startswith("congestion-control=bbr3,")


def test_quic_may_be_asked_for_another_controller_than_tcp() -> None:
    adapter = SERVERS["headway-perf"]
    host = Host(program="headway-perf", congestion_control=CongestionControl.RENO)
    assert adapter.quic_congestion_control(host) == "reno"
    asked = {"program": "headway-perf", "congestion_control": {"tcp": "reno", "quic": "bbr3"}}
    assert adapter.quic_congestion_control(Host.model_validate(asked)) == "bbr3"
