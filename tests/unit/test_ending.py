"""How far a run came that did not end well, and where the packets are that tell why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from headway.analysis import analyse, answer
from headway.contract.arrivals import Arrived
from headway.contract.counts import Counts
from headway.contract.outcome import Outcome
from headway.diagnosis.ending import came_to
from headway.planning.deploy import deploy
from headway.planning.topology import bottlenecks
from headway.programs.measurement import Measurement
from headway.report import write_report
from headway.report.page import noted
from headway.report.reproducing import showing_packets
from headway.study.load import study_from
from headway.study.path import Way
from tests.unit import made_results as made

REFUSED = "curl: Failed to connect after 10000 ms (exit status 55)"
NEVER = (
    "the handshake was never complete: the path lost 1 of the server's 24 packets, and nothing that came after made "
    "up for it until the run ended after 10 s"
)


def ended(
    *,
    came: int,
    lost: int,
    lost_up: int = 0,
    connected: bool | None = False,
    error: str | None = REFUSED,
    status: str = "ok",
) -> str | None:
    (experiment,) = study_from(
        {"name": "s", "protocol": "h3", "path": {"rtt": "10 ms", "rate": "10 Mbit/s"}}
    ).experiments
    ((contender, _),) = experiment.contenders.items()
    flow = deploy(experiment.setting({}, contender), 1).only
    (down,), (up,) = bottlenecks(flow.legs, Way.DOWN), bottlenecks(flow.legs, Way.UP)
    outcome = Outcome(
        status,
        None,
        10**10,
        "7",
        counts={down.queue_device: Counts(lost=lost), up.queue_device: Counts(lost=lost_up)},
        arrived={"server > client": Arrived(0, came), "client > server": Arrived(0, 20)},
    )
    return came_to(flow, Measurement(error=error, connected=connected), outcome, Path("nowhere"))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"came": 23, "lost": 1}, NEVER),
        (
            {"came": 23, "lost": 1, "lost_up": 2, "connected": True},
            "the handshake was complete, the response was not: the path lost 1 of the server's 24 packets and 2 of the "
            "client's 22 packets, and nothing that came after made up for it until the run ended after 10 s",
        ),
        (
            {"came": 0, "lost": 9},
            "the handshake was never complete: no packet of the server came to the client until the run ended after 10 s",
        ),
        (
            {"came": 5, "lost": 0, "connected": None, "status": "timeout"},
            "it did not come to its end, though no packet was lost on the way, until the run ended after 10 s",
        ),
        ({"came": 5, "lost": 0, "error": "the server answered 503", "connected": None}, None),
    ],
)
def test_a_failed_run_says_how_far_it_came_and_what_its_path_had_lost(
    told: dict[str, Any], said: str | None
) -> None:
    assert ended(**told) == said


def rows() -> list[dict[str, Any]]:
    found = made.runs({"h2": [1.0] * 6, "h3": [0.9, 0.8, None, 0.9, 0.8, 0.9]}, clock="virtual")
    for row in found:
        if row["status"] == "failed":
            row |= {"error": REFUSED, "came_to": NEVER}
    return found


def test_the_answer_says_what_died_before_what_its_client_made_of_it() -> None:
    told = answer(analyse(made.results(rows())))
    assert (
        f"h3 failed in 1 of 6 runs, with seed 3. {NEVER[:1].upper()}{NEVER[1:]} ({REFUSED})."
        in told
    )


def test_what_is_told_of_one_that_died_is_not_told_of_all() -> None:
    other = NEVER.replace("24", "29")
    assert other != NEVER
    found = made.runs({"h2": [1.0] * 6, "h3": [0.9, None, None, None, 0.8, 0.9]}, clock="virtual")
    deaths = iter([NEVER, other, NEVER])
    for row in found:
        if row["status"] == "failed":
            row |= {"error": REFUSED, "came_to": next(deaths)}
    assert (
        f"h3 failed in 3 of 6 runs, all with seeds 2, 3 and 4. {NEVER[:1].upper()}{NEVER[1:]} ({REFUSED}) "
        "(in 2 of them; in 1 with other numbers)."
    ) in answer(analyse(made.results(found)))


def test_a_long_reason_has_room_in_a_narrow_page(tmp_path: Path) -> None:
    page = write_report(made.saved(tmp_path, rows())).read_text(encoding="utf-8")
    assert '<td class="long">the handshake was never complete' in page
    assert "<td>failed</td>" in page


def test_a_command_shows_the_packets_of_what_died() -> None:
    command = "headway run mine.toml --set seed=2 --set 'path.rtt=20 ms' --out results/mine"
    said = showing_packets(made.results(rows(), made.MANIFEST | {"command": command}))
    again = "headway run mine.toml --set 'path.rtt=20 ms' --set seed=3 --set repetitions=1 --set fault=none --keep-going"
    assert said == (
        f"To see the packets of such a connection: `{again} --out DIRECTORY`, then `headway packets DIRECTORY "
        "cell-h3-001`."
    )
    assert f"<code>{again.replace(chr(39), '&#39;')} --out DIRECTORY</code>" in noted(said)
    fine = made.runs({"h2": [1.0] * 6})
    assert not showing_packets(made.results(fine, made.MANIFEST | {"command": command}))
    assert not showing_packets(made.results(rows(), made.MANIFEST | {"command": "python mine.py"}))
