"""What a server that decides sends in which order, on a page: by its own log of packets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from headway.lab.machine import Machine
from headway.lab.run import carry_out
from headway.planning.runs import Run
from headway.study.setting import Setting

pytestmark = pytest.mark.lab

SAFARI = {"document": 255, "style": 24, "script": 24, "empty": 16, "font": 16}
"""Of all else 8."""
GROUPS = {"urgent-start": 241, "leaders": 201, "unblocked": 101}
LEVELS = ("urgent-start", "leaders", "followers", "unblocked")
PACKET_BYTES = 1452


@dataclass(frozen=True)
class Asked:
    """A request: its stream, what for, and how urgent the browser said that it was."""

    stream: int
    dest: str
    urgency: int

    @property
    def group(self) -> str:
        """Firefox's."""
        if self.dest == "document":
            return "urgent-start"
        if self.dest == "style" or (self.dest == "script" and self.urgency <= 1):
            return "leaders"
        return "unblocked" if self.dest in ("script", "empty") else "followers"

    @property
    def weight(self) -> int:
        """In that group."""
        return {"font": 42, "image": 22}.get(self.dest, 32)


@dataclass(frozen=True)
class Sent:
    """Content in a packet: of which request, among which that were ready, and how many had come until then."""

    of: Asked
    length: int
    ready: tuple[Asked, ...]
    requests: int


def requests(directory: Path) -> dict[int, Asked]:
    """By their streams, as Chromium's own log has them."""
    log = json.loads((directory / "net-log.json").read_text())
    kind = log["constants"]["logEventTypes"]["HTTP3_HEADERS_SENT"]
    found = {}
    for event in log["events"]:
        if event["type"] == kind:
            stream = event["params"]["stream_id"]
            fields = dict(one.split(": ", 1) for one in event["params"]["headers"])
            said = [one.strip() for one in fields.get("priority", "").split(",")]
            urgency = next((int(one[2:]) for one in said if one.startswith("u=")), 3)
            found[stream] = Asked(stream, fields["sec-fetch-dest"], urgency)
    return found


def packets(directory: Path, asked: dict[int, Asked]) -> Iterator[Sent]:
    """What the server sent of responses, in order.

    Without what left in the instant in which a request came: the log does not tell which of them the server had
    read by then.
    """
    (log,) = (directory / "qlog" / "server").iterdir()
    ready: list[Asked] = []
    known: set[int] = set()
    came_at = -1.0
    for line in log.read_text().split("\n")[1:]:
        event = json.loads(line.strip("\x1e")) if line.strip("\x1e") else {}
        name, frames = event.get("name"), event.get("data", {}).get("frames", [])
        streams = [
            one for one in frames if one["frame_type"] == "stream" and one["stream_id"] % 4 == 0
        ]
        if name == "transport:packet_received":
            # A client may send a request again that the server has.
            came = {one["stream_id"] for one in streams if one.get("fin")} - known
            ready = [*ready, *(asked[stream] for stream in sorted(came))]
            known, came_at = known | came, event["time"] if came else came_at
        for frame in streams if name == "transport:packet_sent" else ():
            of = asked[frame["stream_id"]]
            if event["time"] > came_at:
                yield Sent(of, frame["length"], tuple(ready), len(known))
            if frame.get("fin"):
                ready.remove(of)


def check_shares(
    sent: Sequence[Sent], member: Callable[[Asked], str | int | None], weight: dict[str | int, int]
) -> None:
    """Members that are ready all the time share by weight, to a packet each (Goyal, Vin and Cheng 1996)."""
    through = [one for one in sent if member(one.of) is not None]
    longest = 0
    for (_, active), run in groupby(
        through,
        key=lambda one: (
            one.requests,
            frozenset(member(r) for r in one.ready if member(r) is not None),
        ),
    ):
        shares = dict.fromkeys(active, 0)
        for number, one in enumerate(run, 1):
            shares[member(one.of)] += one.length
            longest = max(longest, number if len(active) > 1 else 0)
            even = {
                name: bytes_ / weight[name] for name, bytes_ in shares.items() if name is not None
            }
            slack = {name: PACKET_BYTES / weight[name] for name in even}
            low, high = min(even, key=even.__getitem__), max(even, key=even.__getitem__)
            assert even[high] - even[low] <= slack[high] + slack[low] + 1e-9
    assert longest > 20, "there was something to share"


def check_turns(sent: Sequence[Sent], batch: int) -> None:
    """Where the same are ready, each has its batch, by ascending stream and round again."""
    longest = 0
    for (_, ready), run in groupby(sent, key=lambda one: (one.requests, one.ready)):
        turns = [
            (stream, len(list(of))) for stream, of in groupby(run, key=lambda one: one.of.stream)
        ]
        # What came before the first is of another run, and the last may be cut short.
        inner = turns[1:-1]
        assert {packets for _, packets in inner} <= {batch}
        round_ = sorted(one.stream for one in ready)
        for (stream, _), (following, _) in pairwise(inner):
            assert following == round_[(round_.index(stream) + 1) % len(round_)]
        longest = max(longest, len(inner))
    assert longest * batch > 20, "there were turns to take"


def check_levels(sent: Sequence[Sent]) -> None:
    """One level after the other, and in each the turns of its own."""
    in_level: dict[str, list[Sent]] = {level: [] for level in LEVELS}
    for one in sent:
        level = min((ready.group for ready in one.ready), key=LEVELS.index)
        assert one.of.group == level
        ready = tuple(other for other in one.ready if other.group == level)
        in_level[level].append(replace(one, ready=ready))
    check_turns(in_level["followers"], 1)


def check_classes(sent: Sequence[Sent]) -> None:
    """One after the other: the most urgent, and of these what was asked for first."""
    for one in sent:
        first = min(one.ready, key=lambda ready: (ready.urgency, one.ready.index(ready)))
        assert one.of == first


def check_firefox(sent: Sequence[Sent]) -> None:
    """Groups of the root; leaders beside all followers together; followers."""

    def of_root(one: Asked) -> str:
        return "leaders" if one.group == "followers" else one.group

    def of_leaders(one: Asked) -> str | int | None:
        if of_root(one) != "leaders":
            return None
        return one.stream if one.group == "leaders" else "followers"

    streams = {ready.stream: ready.weight for one in sent for ready in one.ready}
    check_shares(sent, of_root, {**GROUPS})
    check_shares(sent, of_leaders, {**streams, "followers": 1})
    check_shares(sent, lambda one: one.stream if one.group == "followers" else None, {**streams})


def check_safari(sent: Sequence[Sent]) -> None:
    weights: dict[str | int, int] = {
        ready.stream: SAFARI.get(ready.dest, 8) for one in sent for ready in one.ready
    }
    check_shares(sent, lambda one: one.stream, weights)


CHECKS: dict[str, Callable[[Sequence[Sent]], None]] = {
    "chrome": check_classes,
    "round-robin": partial(check_turns, batch=1),
    "batched-round-robin:5": partial(check_turns, batch=5),
    "firefox-eps": check_levels,
    "firefox": check_firefox,
    "safari": check_safari,
}


@pytest.mark.parametrize("priorities", CHECKS)
def test_packets_are_in_the_order_of_the_strategy(
    machine: Machine, tmp_path: Path, priorities: str
) -> None:
    raw = {
        "protocol": "h3",
        "workload": {"kind": "page", "site": "sander-21", "connections": "one", "frames": False},
        # Nothing is lost, so that nothing is sent again.
        "path": {"rate": "2 Mbit/s", "rtt": "100 ms", "queue": "3 MB"},
        "client": {"program": "chromium", "knobs": {"net_log": "on"}},
        "server": {"program": "headway-server", "knobs": {"priorities": priorities}},
        "capture": {"qlog": True},
    }
    run = Run("run", "test", "", "cell", "contender", 1, 1, Setting.model_validate(raw))
    result = carry_out(run, machine, tmp_path / "run")
    assert result.measured[0].error is None
    asked = requests(tmp_path / "run")
    sent = list(packets(tmp_path / "run", asked))
    assert {ready for one in sent for ready in one.ready} == set(asked.values())
    assert max(len(one.ready) for one in sent) > 20
    CHECKS[priorities](sent)
