"""Published values in a CSV file beside a study, and what else a study says of pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.errors import WrongInputError
from headway.planning.runs import plan
from headway.records.conditions import conditions
from headway.sites.altsvc import advertising
from headway.sites.site import Exchange, Site
from headway.study.experiment import merged
from headway.study.load import load_study
from headway.study.publishedfile import read_published

STUDY = """
name = "pages"
published_file = "values.csv"
metrics = ["plt_s", "fcp_s"]
workload = { kind = "page", site = "objects-2x5kB" }
client.program = "chromium"
server.program = "headway-server"

[axes]
path.rtt = ["20 ms", "580 ms"]

[contenders]
h2 = { protocol = "h2" }
tickets = { protocol = "h3", workload.cache = "tickets" }
"""
VALUES = """# From a paper.
contender,metric,value,unit,source,why,path.rtt,statistic,n,q1,q3
h2,plt_s,1314,ms,"Table II, median",,20 ms,median,73,1301.2,1350
# And another one.
tickets,fcp_s,2.5,s,Table II,"slower, there",580 ms,,,,
"""


def test_rows_are_published_values_and_other_columns_are_axes(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text(VALUES)
    (tmp_path / "pages.toml").write_text(STUDY)
    (experiment,) = load_study(str(tmp_path / "pages.toml")).experiments
    first, second = experiment.published
    assert (first.contender, str(first.metric), first.value, first.unit) == (
        *("h2", "plt_s", 1314, "ms"),
    )
    assert (first.source, first.why, first.where) == ("Table II, median", "", {"path.rtt": "20 ms"})
    assert (first.statistic, first.n, first.q1, first.q3) == ("median", 73, 1301.2, 1350)
    assert (second.statistic, second.n, second.q1) == ("mean", None, None)
    assert (second.why, second.where) == ("slower, there", {"path.rtt": "580 ms"})


REASONS = """
[[reasons]]
contenders = ["h2"]
where = { path.rtt = ["20 ms"] }
why = "theirs is older"

[[reasons]]
why = "not this one, which comes later"

[[reasons]]
metric = "fcp_s"
why = "nor this one, since the value has a reason of its own"
"""


def test_a_reason_is_said_once_for_several_values(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text(
        VALUES + "h2,plt_s,900,ms,Table II,,580 ms,,,,\nh2,fcp_s,1,s,Table II,,20 ms,,,,\n"
    )
    (tmp_path / "pages.toml").write_text(STUDY + REASONS)
    (experiment,) = load_study(str(tmp_path / "pages.toml")).experiments
    assert [one.why for one in experiment.published] == [
        *("theirs is older", "slower, there", "not this one, which comes later"),
        "theirs is older",
    ]


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError) as refused:
        read_published(tmp_path / "none.csv")
    assert refused.value.where == str(tmp_path / "none.csv")


def test_how_a_page_is_loaded_is_in_columns_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "values.csv").write_text(VALUES)
    (tmp_path / "pages.toml").write_text(STUDY)
    rows = [conditions(run) for run in plan(load_study(str(tmp_path / "pages.toml")))]
    assert {row["workload"] for row in rows} == {"page objects-2x5kB"}
    assert {(row["contender"], row["cache"]) for row in rows} == {
        ("h2", "cold"),
        ("tickets", "tickets"),
    }
    assert {row["device"] for row in rows} == {"desktop"}


def test_another_program_has_none_of_the_knobs_of_the_one_before() -> None:
    raw = {"server": {"program": "nginx", "knobs": {"quic_gso": "on"}, "initial_window": 10}}
    raw = merged(raw, {"server": {"program": "headway-server"}})
    assert raw == {"server": {"program": "headway-server", "initial_window": 10}}
    raw = merged(raw, {"server": {"knobs": {"scheduler": "sequential"}}})
    raw = merged(raw, {"server": {"program": "headway-server", "knobs": {"pacing": "off"}}})
    assert raw["server"]["knobs"] == {"scheduler": "sequential", "pacing": "off"}


def test_every_response_advertises_http_3() -> None:
    page = Exchange("GET", "https://a.test/", 200, (("content-type", "text/html"),), b"x")
    gone = Exchange("GET", "https://b.test/x", 404, (), b"")
    site = advertising(Site("a", "https://a.test/", (page, gone)), (), 'h3=":443"; ma=86400')
    assert [exchange.header("alt-svc") for exchange in site.exchanges] == [
        'h3=":443"; ma=86400'
    ] * 2
    assert site.exchanges[0].headers[0] == ("content-type", "text/html")
