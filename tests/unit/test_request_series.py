"""Series of requests: what studies may ask, when requests come, and how their latencies are told."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from headway.analysis.latencies import Latencies
from headway.diagnosis.quantile import at_share
from headway.planning.capability_checks import remarks
from headway.planning.deploy import deploy
from headway.programs.uploads import application_options
from headway.study.requestseries import RequestSeries
from headway.study.setting import Setting
from tests.deployed import flow_of

SERIES: dict[str, Any] = {"kind": "requests", "count": 1000, "down": "1 kB", "per_second": 100}
CLIENT = {"program": "headway-client"}


def setting(workload: dict[str, Any] | None = None, **keys: Any) -> Setting:
    return Setting.model_validate(
        {"protocol": "h2", "client": CLIENT, "workload": SERIES | (workload or {})} | keys
    )


@pytest.mark.parametrize(
    ("workload", "message"),
    [
        ({"per_second": None}, "either by users = N"),
    ],
)
def test_what_cannot_be_is_refused(workload: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        setting(workload)


@pytest.mark.parametrize(
    ("workload", "path", "load"),
    [
        ({"service": "11 ms"}, {}, "1.10 times what the application"),
        (
            {"service": "3 ms", "fan_out": 3, "depth": 2, "count": 10},
            {},
            "1.20 times what the application",
        ),
        ({"down": "15 kB"}, {"rate": "10 Mbit/s"}, "1.25 times what the link to the client"),
        (
            {"up": "2 kB"},
            {"rate": "10 Mbit/s", "up": {"rate": "1 Mbit/s"}},
            "1.67 times what the link to the server",
        ),
    ],
)
def test_a_load_above_one_is_said(
    workload: dict[str, Any], path: dict[str, Any], load: str
) -> None:
    (told,) = remarks(deploy(setting(workload, path=path)))
    assert load in told and "grows without bound" in told
    half = setting(workload | {"per_second": 45}, path=path)
    assert not remarks(deploy(half))


def test_arrivals_are_a_poisson_process_of_the_seed() -> None:
    series = RequestSeries.model_validate(SERIES | {"count": 20_000})
    arrivals = list(series.arrivals_s("1"))
    gaps = [later - earlier for earlier, later in pairwise(arrivals)]
    mean = sum(gaps) / len(gaps)
    variance = sum((gap - mean) ** 2 for gap in gaps) / len(gaps)
    assert mean == pytest.approx(0.01, rel=0.03)
    assert variance == pytest.approx(mean**2, rel=0.1)
    assert arrivals == list(series.arrivals_s("1")) != list(series.arrivals_s("2"))


def test_all_contenders_meet_the_same_arrivals() -> None:
    started = [
        one.client.start(one.asked).files
        for protocol in ("h1", "h2", "h3")
        for one in deploy(setting(protocol=protocol), 7).flows
    ]
    assert started[0] == started[1] == started[2] != {}


def test_a_closed_loop_has_users_who_think() -> None:
    raw = setting(
        {"per_second": None, "users": 4, "think": "20 ms", "connections": "new", "up": "1 kB"}
    )
    (flow,) = deploy(raw).flows
    (program,) = flow.client.start(flow.asked).programs
    for option in (
        "--users=4",
        "--think=0.020000000",
        "--new-connections",
        "--upload=1000",
        "--repeat=1000",
    ):
        assert option in program.argv
    assert flow_of(raw).urls == ("https://server.test/bytes/1000",)


def test_header_fields_are_the_clients_and_the_applications() -> None:
    raw = {"header_up": "1 kB", "header_down": "500 B", "header_values": "changing"}
    of = setting(raw, server={"program": "nginx"})
    (flow,) = deploy(of).flows
    (program,) = flow.client.start(flow.asked).programs
    assert {"--field-bytes=1000", "--fields-change"} < set(program.argv)
    application = flow_of(of).workload.payload.application
    assert application is not None
    assert {"--field-bytes=500", "--fields-change"} < set(application_options(application))
    assert "header" not in str(setting().workload.model_dump())


def test_quantiles_are_values_that_occurred() -> None:
    ordered = [float(value) for value in range(1, 21)]
    shares = (0.0, 0.05, 0.5, 0.95, 0.96, 1.0)
    assert [at_share(ordered, share) for share in shares] == [1, 1, 10, 19, 20, 20]


def test_latencies_of_runs_are_pooled() -> None:
    assert Latencies.of([[], []]) is None
    found = Latencies.of([range(1, 101), range(101, 201)])
    assert found is not None and found.count == 200
    assert found.told == (100, 190, 198)
    assert (found.curve[0], found.curve[-1]) == ((0.0, 1), (1.0, 200))
    assert list(found.curve) == sorted(found.curve)
