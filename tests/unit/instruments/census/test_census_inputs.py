"""HAR files and results are asked as the HTTP Archive's tables are, and what others published stands beside it."""

from __future__ import annotations

import gzip
import io
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("ibis", reason="ibis is missing; `make census` installs it")
pytest.importorskip("duckdb", reason="DuckDB is missing; `make census` installs it")

from headway import cli
from headway.columns import Record
from headway.instruments.census.asked import Asked, Question
from headway.instruments.census.engine import answer
from headway.instruments.census.har import responses_of_har
from headway.instruments.census.inputs import as_exports, write_as_crawl
from headway.instruments.census.published import published
from headway.instruments.census.sample import sample_file
from headway.pages.har import make_har
from headway.programs.chromium import HAR_FILE
from headway.records.manifest import MANIFEST_FILE
from headway.records.store import ARTIFACTS, JOURNAL_FILE
from tests.doc_examples import ROOT, commands
from tests.unit.made_loads import load, resource
from tests.unit.made_results import MANIFEST, run

DOCUMENT = "https://a.test/"
PHONE = "Mozilla/5.0 (Linux; Android 15) Mobile"


def entry(url: str = DOCUMENT, version: str = "h2", **more: Any) -> dict[str, Any]:
    response = {
        "status": 200, "httpVersion": version, "headers": [], "content": {"mimeType": "text/html"},
        "headersSize": 100, "bodySize": 900,
    }  # fmt: skip
    told = {
        "pageref": "page_1",
        "startedDateTime": "2024-06-13T10:00:00.000Z",
        "request": {"method": "GET", "url": url, "headers": more.pop("sent", [])},
        "response": response | more.pop("response", {}),
    }
    return told | more


def har(place: Path, *entries: dict[str, Any]) -> Path:
    file = place / "page.har"
    file.write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    return file


def rows(*inputs: Path, **asked: Any) -> list[dict[str, Any]]:
    with as_exports(inputs) as exports:
        found = answer(Asked(**asked), exports)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def headway(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["headway", "census", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def test_the_document_is_the_first_html_after_redirects(tmp_path: Path) -> None:
    file = har(
        tmp_path,
        entry("http://a.test/", response={"status": 301}),
        entry(response={"content": {"mimeType": "application/json"}}),
        entry("https://a.test/home"),
        entry("https://a.test/frame"),
    )
    found = responses_of_har(file)
    assert [one.is_document for one in found] == [False, False, True, False]
    assert {one.page for one in found} == {"http://a.test/"}
    assert [one.index for one in found] == [1, 2, 3, 4]
    (row,) = rows(file)
    assert (row["month"], row["client"], row["sites"], row["requests"]) == (
        "2024-06",
        "desktop",
        1,
        4,
    )


def test_what_never_came_over_the_network_is_no_response(tmp_path: Path) -> None:
    file = har(
        tmp_path,
        entry(),
        entry("data:image/gif;base64,R0lGOD"),
        entry("https://blocked.test/", response={"status": 0}),
        entry("https://a.test/cached", _fromCache="disk"),
    )
    assert [one.url for one in responses_of_har(file)] == [DOCUMENT]


def test_sizes_are_those_transferred_if_they_are_told(tmp_path: Path) -> None:
    file = har(
        tmp_path,
        entry(),
        entry(response={"_transferSize": 500}),
        entry(response={"_transferSize": -1, "bodySize": -1, "headersSize": -1}),
    )
    assert [one.size_bytes for one in responses_of_har(file)] == [1000, 500, 0]


def test_each_page_of_a_file_is_one_and_a_phone_is_mobile(tmp_path: Path) -> None:
    agent = [{"name": "User-Agent", "value": PHONE}]
    announced = {"headers": [{"name": "Alt-Svc", "value": 'h3=":443"'}]}
    file = har(
        tmp_path,
        entry(response=announced),
        entry("https://b.test/deep/page", "h3", pageref="page_2", sent=agent),
    )
    zipped = tmp_path / "zipped.har.gz"
    zipped.write_bytes(gzip.compress(b"\xef\xbb\xbf" + file.read_bytes()))
    assert rows(zipped) == rows(file)
    assert [
        (row["client"], row["sites"], row["announced_pct"], row["used_pct"]) for row in rows(file)
    ] == [("desktop", 1, 100, 0), ("mobile", 1, 0, 100)]


def test_hars_and_exports_are_one_answer(tmp_path: Path) -> None:
    alone = {(row["month"], row["client"]): row["sites"] for row in rows(sample_file())}
    both = {
        (row["month"], row["client"]): row["sites"]
        for row in rows(har(tmp_path, entry()), sample_file())
    }
    assert both == alone | {("2024-06", "desktop"): alone["2024-06", "desktop"] + 1}


def campaign(place: Path) -> Path:
    """Results of a study of pages: two contenders, two repetitions, and a run that failed."""
    records = []
    for contender in ("h2", "h3"):
        page = load(
            resource(DOCUMENT, protocol=contender, mime_type="text/html", status=200),
            resource(
                "https://a.test/x.js", protocol=contender, mime_type="text/javascript", status=200
            ),
        )
        for seed in (1, 2, 3):
            record = run(contender, seed, 1.0 if seed < 3 else None)
            records.append(Record.model_validate(record).model_dump_json())
            directory = place / ARTIFACTS / record["run_id"]
            directory.mkdir(parents=True)
            (directory / HAR_FILE).write_text(json.dumps(make_har(page)))
    (place / JOURNAL_FILE).write_text("\n".join(records) + "\n")
    (place / MANIFEST_FILE).write_text(json.dumps(MANIFEST))
    return place


def test_a_campaign_is_asked_as_a_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = campaign(tmp_path / "results")
    told = rows(results, question=Question.PAGES)
    assert [
        (row["month"], row["client"], row["pages"], row["all_objects_pct"]) for row in told
    ] == [("2026-08", "h3", 2, 100)]
    file = tmp_path / "crawl.parquet"
    assert headway(monkeypatch, str(results), "--as-crawl", str(file)) == 0
    assert capsys.readouterr().out == f"{file}: 8 responses\n"
    assert rows(file) == rows(results)
    assert pl.read_parquet(file).columns == pl.read_parquet(sample_file()).columns
    assert set(pl.read_parquet(file)["page"]) == {
        f"{DOCUMENT}#cell-{contender}-{seed}" for contender in ("h2", "h3") for seed in (1, 2)
    }


SPELLINGS: dict[str, tuple[Any, ...]] = {
    "h1": ("HTTP/1.1", "http/1.1", "1.1", "1.0", "HTTP/1.0", "http/1", "0.9", "h1.1"),
    "h2": ("h2", "HTTP/2", "HTTP/2.0", "http/2.0", "2.0", "2", "h2c", "H2", "HTTP 2"),
    "h3": ("h3", "HTTP/3", "http/3.0", "3", "h3-29", "H3", "HTTP/3.0"),
    "gquic": ("http/2+quic/46", "h3-Q050", "quic/1+spdy/3", "h3-T051"),
    "unknown": ("unknown", "", "spdy/3.1", "data", None, 7),
}


@pytest.mark.parametrize("version", SPELLINGS)
def test_versions_of_all_makers(tmp_path: Path, version: str) -> None:
    file = har(tmp_path, *[entry(version=one) for one in SPELLINGS[version]])
    (found,) = rows(file, question=Question.VERSIONS)
    assert (found["version"], found["requests"]) == (version, len(SPELLINGS[version]))


@pytest.mark.parametrize(
    "more",
    [
        {"_protocol": "HTTP/3"},
        {
            "response": {
                "httpVersion": "unknown",
                "headers": [{"name": "x-firefox-http3", "value": "h3"}],
            }
        },
        {"request": {"method": "GET", "url": DOCUMENT, "httpVersion": "h3"}},
    ],
)
def test_what_else_states_a_version(tmp_path: Path, more: dict[str, Any]) -> None:
    (found,) = responses_of_har(har(tmp_path, entry(version="", **more)))
    assert found.protocol == "h3"


@pytest.mark.parametrize(
    ("of_cache", "is_cached"),
    [
        ({"_fromCache": "disk"}, True), ({"_fromCache": "memory"}, True), ({"_fromCache": True}, True),
        ({"_fromCache": None}, False), ({"_fromCache": False}, False), ({"_fetchType": "Disk Cache"}, True),
        ({"_fetchType": "Network Load"}, False), ({"cache": {}}, False), ({"cache": None}, False),
        ({"cache": {"afterRequest": None}, "response": {"bodySize": 0}}, True),
        ({"cache": {"beforeRequest": {"hitCount": 0}}, "response": {"_transferSize": 0}}, True),
        ({"cache": {"beforeRequest": None, "afterRequest": {"hitCount": 1}}}, False),
        ({"cache": {"afterRequest": None}, "response": {"bodySize": 0, "status": 304}}, False),
    ],
)  # fmt: skip
def test_what_a_cache_answered_by_all_makers(
    tmp_path: Path, of_cache: dict[str, Any], is_cached: bool
) -> None:
    file = har(tmp_path, entry(), entry(f"{DOCUMENT}x", **of_cache))
    assert len(responses_of_har(file)) == 2 - is_cached


@pytest.mark.parametrize(
    ("entries", "url"),
    [
        # A 304 is no redirect, but these are.
        ([entry(response={"status": 304})], DOCUMENT),
        *(([entry("https://a.test/r", response={"status": status}), entry()], DOCUMENT)
          for status in (301, 302, 303, 307, 308)),
        # By time, not by place; by the header where the content's type is unknown.
        ([entry("https://a.test/frame", startedDateTime="2024-06-13T10:00:01Z"), entry()], DOCUMENT),
        ([entry("https://a.test/i", response={"content": {"mimeType": "image/png"}}),
          entry(response={"content": {"mimeType": "x-unknown"}, "headers": [{"name": "Content-Type", "value": "Text/HTML"}]})],
         DOCUMENT),
        ([entry("https://a.test/i", response={"content": {}}), entry(_resourceType="document", response={"content": {}})], DOCUMENT),
        ([entry("https://a.test/early"), entry(_final_base_page=True)], DOCUMENT),
        ([entry("https://a.test/i", response={"content": {"mimeType": "image/png"}}), entry(pageref="")], DOCUMENT),
    ],
)  # fmt: skip
def test_documents_by_all_makers(tmp_path: Path, entries: list[dict[str, Any]], url: str) -> None:
    file = tmp_path / "page.har"
    pages = [{"id": "page_1", "startedDateTime": "2024-06-13T09:59:59Z"}]
    file.write_text(json.dumps({"log": {"pages": pages, "entries": entries}}))
    assert [one.url for one in responses_of_har(file) if one.is_document] == [url]


def test_odd_entries_are_left_out_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = har(tmp_path, entry(), {**entry(), "response": None})
    assert headway(monkeypatch, str(file), "--question", "versions", "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["rows"][0]["requests"] == 1
    assert "left out: entry 2, GET https://a.test/: response is null" in said.err
    timeless = har(tmp_path, {**entry(), "startedDateTime": "soon"})
    assert headway(monkeypatch, str(timeless)) == 2
    assert "has no entry with startedDateTime" in capsys.readouterr().err


def test_published_shares_have_their_source_and_name_what_a_census_counts() -> None:
    columns = {
        str(question): answer(Asked(question), [sample_file()]).columns
        for question in (Question.ADOPTION, Question.VERSIONS)
    }
    found = published()
    assert len(set(found)) == len(found)
    for one in found:
        assert one.source
        assert "2020" <= one.when < "2026"
        assert 0 <= one.percent <= 100
        assert not one.question or one.measure in columns[one.question]
    assert [one.when[:4] for one in found] == sorted(one.when[:4] for one in found)


def test_published_shares_stand_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert headway(monkeypatch, "sample", "--published", "--json") == 0
    told = json.loads(capsys.readouterr().out)["published"]
    here = {(one["when"], one["client"], one["measure"], one["kind"]): one["here"] for one in told}
    adoption = {(row["month"], row["client"]): row for row in rows(sample_file())}
    versions = {
        (row["month"], row["client"], row["version"]): row
        for row in rows(sample_file(), question=Question.VERSIONS)
    }
    assert (
        here["2024-06", "mobile", "announced_pct", ""]
        == adoption["2024-06", "mobile"]["announced_pct"]
    )
    assert (
        here["2024-06", "desktop", "sites_pct", "h3"]
        == versions["2024-06", "desktop", "h3"]["sites_pct"]
    )
    assert here["2021-09", "", "announced_pct", ""] is None
    assert headway(monkeypatch, "--published") == 0
    table = capsys.readouterr().out
    assert "17.01" in table
    assert "% here" not in table


def test_published_shares_by_rank_stand_beside_ours(tmp_path: Path) -> None:
    from headway.instruments.census.published import ours

    moved = pl.read_parquet(sample_file()).with_columns(date=pl.lit("2021-07-01").str.to_date())
    file = tmp_path / "requests.parquet"
    moved.write_parquet(file)
    beside = ours((), lambda asked: answer(asked, [file]))
    ranks = {
        one.rank for one in beside if one.client == "mobile" and one.measure == "supported_pct"
    }
    assert ranks == {None, 1_000, 10_000, 100_000, 1_000_000}


@pytest.mark.parametrize("width", [60, 80, 120])
def test_published_shares_fit_a_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    from headway.instruments.census import cli as census

    written = io.StringIO()
    console = Console(width=width, force_terminal=True, color_system=None, file=written)
    monkeypatch.setattr(census, "output", lambda: console)
    assert headway(monkeypatch, "sample", "--published") == 0
    text = written.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("text", [shlex.join(words) for words in commands(ROOT / "docs/census.md")])
def test_the_commands_of_its_page_are_carried_out(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    har(tmp_path, entry()).rename("shop.har")
    write_as_crawl([campaign(tmp_path / "results" / "page")], tmp_path / "crawl.parquet")
    before = set(tmp_path.iterdir())
    _, *words = shlex.split(text)
    assert headway(monkeypatch, *words) == 0
    assert capsys.readouterr().out or set(tmp_path.iterdir()) - before


def test_its_page_shows_what_the_command_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert headway(monkeypatch, "sample") == 0
    printed = capsys.readouterr().out.splitlines()
    page = (ROOT / "docs/census.md").read_text()
    assert "\n".join(line.rstrip() for line in printed[:3]) in page
