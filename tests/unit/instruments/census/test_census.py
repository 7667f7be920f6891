"""The census counts each response once, by one expression for every engine, and says what is wrong with a file."""

# ruff: noqa: E402 - whether what the census needs is installed is asked before it is imported
from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

pytest.importorskip("ibis", reason="ibis is missing; `make census` installs it")
duckdb = pytest.importorskip("duckdb", reason="DuckDB is missing; `make census` installs it")

import sqlglot

from headway import cli
from headway.errors import WrongInputError
from headway.instruments.census import engine
from headway.instruments.census.asked import Asked, Key, Question, keys_of
from headway.instruments.census.rows import CrawledResponse, frame, write_rows
from headway.instruments.census.sample import sample, sample_file
from tests.doc_examples import ROOT

H3 = 'h3=":443"; ma=86400'


def response(page: str = "https://a.test/", **values: Any) -> CrawledResponse:
    usual = {
        "day": date(2024, 6, 1), "client": "desktop", "page": page, "root_page": page, "rank": 1000,
        "url": page, "is_document": True, "index": 1, "protocol": "HTTP/2", "status": 200,
        "method": "GET", "size_bytes": 1000, "mime_type": "text/html", "cdn": "",
        "request_headers": (), "response_headers": (),
    }  # fmt: skip
    return CrawledResponse(**(usual | values))


def announcing(*values: str, **others: Any) -> CrawledResponse:
    fields = [("alt-svc", value) for value in values]
    return response(response_headers=fields, **others)


def found(tmp_path: Path, *responses: CrawledResponse, **asked: Any) -> list[dict[str, Any]]:
    file = tmp_path / "requests.parquet"
    write_rows(responses, file)
    return rows(engine.answer(Asked(**asked), [file]))


def rows(answer: engine.Answer) -> list[dict[str, Any]]:
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


ALMANAC = """
SELECT count(*) FROM (
  SELECT fields.field.value AS alt_svc FROM '{file}' AS requests
  LEFT JOIN (SELECT page AS of_page, unnest(response_headers) AS field FROM '{file}') AS fields
    ON fields.of_page = requests.page AND lower(fields.field.name) = 'alt-svc'
)
"""
"""How the Web Almanac of 2024 gets at the field: a join with the header fields of the response."""


def test_a_response_with_two_fields_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "requests.parquet"
    write_rows([announcing('quic=":443"', H3), response("https://b.test/")], file)
    assert duckdb.sql(ALMANAC.format(file=file)).fetchall() == [(3,)]
    (row,) = rows(engine.answer(Asked(), [file]))
    assert (row["requests"], row["sites"], row["sites_announcing"]) == (2, 2, 1)


ANNOUNCED = [
    ((H3,), "h3"),
    (('h3-29=":443"; ma=86400,h3=":443"; ma=86400',), "h3"),
    (('h3-27=":443"', 'h3-29=":443"'), "h3-29"),
    (('h3-34="alt.test:8443"; ma=60; persist=1',), "h3-34"),
    (('h2="alt.test:443"',), "none"),
    (('quic=":443"; ma=2592000; v="46,43",h3-Q050=":443"',), "gquic"),
    (('h3-Q050=":443", h3-29=":443"',), "h3-29"),
    (("clear",), "none"),
    ((H3, "clear"), "none"),
    (('h3=":443"; ma=0',), "none"),
    (('h3=":443"; ma=0; persist=1, h3-29=":443"; ma=60',), "h3-29"),
    (('h3=":443"; ma=05',), "h3"),
    (('xh3=":443"',), "none"),
    (("",), "none"),
    ((), "none"),
]


def test_what_is_announced(tmp_path: Path) -> None:
    """One case a client, so that one question answers all."""
    cases = {f"case-{number:02}": case for number, case in enumerate(ANNOUNCED)}
    responses = [announcing(*values, client=name) for name, (values, _) in cases.items()]
    told = found(tmp_path, *responses, question=Question.DRAFTS, keys=(Key.CLIENT,))
    assert {row["client"]: row["draft"] for row in told} == {
        name: draft for name, (_, draft) in cases.items()
    }
    assert {(row["sites"], row["sites_pct"]) for row in told} == {(1, 100)}


@dataclass(frozen=True)
class Alternative:
    """An alternative service of a made header field."""

    protocol: str
    parameters: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join((f'{self.protocol}=":443"', *self.parameters))


def best_of(fields: Sequence[Sequence[Alternative | str]]) -> str:
    """What RFC 7838 makes of the fields of a response, told without regular expressions."""
    listed = [one for field in fields for one in field]
    if "clear" in listed:
        return "none"
    fresh = [
        one.protocol
        for one in listed
        if isinstance(one, Alternative) and "ma=0" not in one.parameters
    ]
    if "h3" in fresh:
        return "h3"
    drafts = [int(one[3:]) for one in fresh if one.startswith("h3-") and one[3:].isdigit()]
    if drafts:
        return f"h3-{max(drafts)}"
    return "gquic" if {"quic", "h3-Q050", "h3-T051"} & set(fresh) else "none"


def made_fields(random: Random) -> list[list[Alternative | str]]:
    protocols = ("h3", "h3-29", "h3-27", "h3-34", "h2", "quic", "h3-Q050", "h3-T051", "http%2F1.1")
    parameters = ("ma=86400", "ma=0", "ma=60", "persist=1", "v=46")
    fields: list[list[Alternative | str]] = []
    for _ in range(random.randint(1, 3)):
        alternatives: list[Alternative | str] = [
            Alternative(
                random.choice(protocols), tuple(random.sample(parameters, random.randint(0, 2)))
            )
            for _ in range(random.randint(1, 3))
        ]
        fields.append(["clear"] if random.random() < 0.1 else alternatives)
    return fields


def test_made_fields_are_read_as_the_rfc_says(tmp_path: Path) -> None:
    random = Random(7838)
    cases = {f"{number:03}": made_fields(random) for number in range(400)}
    responses = []
    for name, fields in cases.items():
        values = [random.choice((",", ", ", " , ")).join(map(str, field)) for field in fields]
        responses.append(announcing(*values, client=name))
    told = found(tmp_path, *responses, question=Question.DRAFTS, keys=(Key.CLIENT,))
    assert {row["client"]: row["draft"] for row in told} == {
        name: best_of(fields) for name, fields in cases.items()
    }
    assert len({row["draft"] for row in told}) == 6


VERSIONS = {
    "HTTP/1.1": "h1",
    "http/1.0": "h1",
    "HTTP/2": "h2",
    "http/2.0": "h2",
    "h2": "h2",
    "HTTP/3": "h3",
    "h3": "h3",
    "h3-29": "h3",
    "h3-Q050": "gquic",
    "http/2+quic/46": "gquic",
    "data": "unknown",
}


def test_versions_are_told_by_any_spelling(tmp_path: Path) -> None:
    responses = [response(protocol=one, client=one) for one in VERSIONS]
    told = found(tmp_path, *responses, question=Question.VERSIONS, keys=(Key.CLIENT,))
    assert {row["client"]: row["version"] for row in told} == VERSIONS


def test_names_of_fields_are_of_any_case(tmp_path: Path) -> None:
    fields = [("Alt-Svc", H3), ("SERVER", "LiteSpeed")]
    (row,) = found(tmp_path, response(response_headers=fields), keys=(Key.PROVIDER, Key.SERVER))
    assert (row["provider"], row["server"], row["announced_pct"]) == ("LiteSpeed", "litespeed", 100)


PROVIDERS = [
    ("cloudflare", "https://a.test/", "Cloudflare"),
    ("Google Frontend", "https://a.test/", "Google"),
    ("gws", "https://a.test/", "Google"),
    ("", "https://static.xx.fbcdn.net/x.js", "Facebook"),
    ("", "https://fonts.gstatic.com:443/x", "Google"),
    ("", "https://notgoogle.com/x", "other"),
    ("nginx", "https://google.com.evil.test/", "other"),
]


def test_providers(tmp_path: Path) -> None:
    responses = [
        response(
            url=url, client=f"{number}", response_headers=[("server", server)] if server else []
        )
        for number, (server, url, _) in enumerate(PROVIDERS)
    ]
    told = found(tmp_path, *responses, keys=(Key.CLIENT, Key.PROVIDER))
    assert [row["provider"] for row in told] == [provider for _, _, provider in PROVIDERS]


def test_the_first_network_is_the_cdn(tmp_path: Path) -> None:
    (row,) = found(tmp_path, response(cdn="Fastly, Cloudflare"), keys=(Key.CDN,))
    assert row["cdn"] == "Fastly"


def test_ranks_have_those_above_them_also_for_kinds_that_they_lack(tmp_path: Path) -> None:
    responses = [
        announcing('h3-29=":443"', page="https://a.test/", rank=1000),
        announcing(H3, page="https://b.test/", rank=10000),
        response("https://c.test/", rank=10000),
        response("https://d.test/", rank=None),
    ]
    told = {"question": Question.DRAFTS, "keys": (Key.RANK,)}
    shares = {
        (row["rank"], row["draft"]): row["sites_pct"] for row in found(tmp_path, *responses, **told)
    }
    third = pytest.approx(100 / 3)
    assert shares == {
        (1000, "h3-29"): 100,
        (10000, "h3-29"): third,
        (10000, "h3"): third,
        (10000, "none"): third,
    }


def test_announced_against_used(tmp_path: Path) -> None:
    responses = [
        announcing(H3, page="https://a.test/"),
        announcing(H3, page="https://b.test/", protocol="h3"),
        response("https://c.test/", protocol="h3"),
        response("https://d.test/", size_bytes=7000),
    ]
    answer = found(tmp_path, *responses, question=Question.DISCOVERY)
    assert {row["discovery"]: (row["sites_pct"], row["bytes_pct"]) for row in answer} == {
        "announced only": (25, 10),
        "announced, used": (25, 10),
        "used only": (25, 10),
        "neither": (25, 70),
    }


def page(name: str, over_h3: int, others: int, **values: Any) -> list[CrawledResponse]:
    protocols = ["h3"] * over_h3 + ["HTTP/2"] * others
    first, *rest = [
        response(name, protocol=one, url=f"{name}{index}", is_document=not index, **values)
        for index, one in enumerate(protocols)
    ]
    return [announcing(H3, page=name, protocol=first.protocol, **values), *rest]


def test_how_much_of_pages_comes_over_h3(tmp_path: Path) -> None:
    responses = [
        *page("https://a.test/", 4, 0),
        *page("https://b.test/", 9, 1),
        *page("https://c.test/", 1, 9),
        *page("https://d.test/", 1, 1),
        response("https://not-enabled.test/"),
    ]
    (row,) = found(tmp_path, *responses, question=Question.PAGES)
    assert row["pages"] == 4
    told = {name: row[f"objects_{name}_pct"] for name in ("ge90", "lt20", "median")}
    assert told == {"ge90": 50, "lt20": 25, "median": 70}
    assert row["all_objects_pct"] == 25
    (three,) = found(tmp_path, *responses[4:], question=Question.PAGES)
    assert three["objects_median_pct"] == 50


def test_secondary_pages_count_if_asked_for(tmp_path: Path) -> None:
    responses = [response(), response("https://a.test/more", root_page="https://a.test/")]
    assert found(tmp_path, *responses)[0]["requests"] == 1
    assert found(tmp_path, *responses, secondary=True)[0]["requests"] == 2


def test_only_the_months_that_are_asked_for(tmp_path: Path) -> None:
    days = [date(2024, 5, 1), date(2024, 6, 1), date(2024, 7, 1), date(2025, 6, 1)]
    answer = found(tmp_path, *(response(day=day) for day in days), months=("2024-06", "2025-06"))
    assert [row["month"] for row in answer] == ["2024-06", "2025-06"]


OLD = (
    "pageid,url,firstHtml,respHttpVersion,respOtherHeaders,resp_server,respSize,_cdn_provider\n"
    '1,https://a.test/,true,http/2,"x-a = b, c=d, Alt-Svc = quic="":443"", alt-svc = h3-27="":443"", y = z",'
    "cloudflare,1000,Cloudflare\n"
    '1,https://a.test/x,false,http/2+quic/46,"x-note = see h3="":443"", z = 1",gws,3000,Google\n'
    "2,https://b.test/,true,HTTP/1.1,,,500,\n"
)


def test_tables_of_before_are_read_by_their_name(tmp_path: Path) -> None:
    file = tmp_path / "summary_requests.2020_10_01_mobile.csv"
    file.write_text(OLD)
    told = rows(engine.answer(Asked(question=Question.DRAFTS), [file]))
    assert [(row["month"], row["client"], row["draft"], row["sites"]) for row in told] == [
        ("2020-10", "mobile", "h3-27", 1),
        ("2020-10", "mobile", "none", 1),
    ]
    versions = rows(engine.answer(Asked(question=Question.VERSIONS), [file]))
    assert {row["version"]: row["requests"] for row in versions} == {"h1": 1, "h2": 1, "gquic": 1}


def test_tables_of_before_and_today_are_one_answer(tmp_path: Path) -> None:
    old, new = tmp_path / "2020_10_01_desktop.csv", tmp_path / "new.parquet"
    old.write_text(OLD)
    write_rows([announcing(H3)], new)
    answer = rows(engine.answer(Asked(), [new, old]))
    assert [(row["month"], row["announced_pct"]) for row in answer] == [
        ("2020-10", 50),
        ("2024-06", 100),
    ]


def as_csv(responses: Sequence[CrawledResponse]) -> str:
    """As BigQuery exports it where header fields were made JSON, since CSV has no arrays."""
    text = io.StringIO()
    made = frame(responses).to_dicts()
    writer = csv.DictWriter(text, made[0].keys())
    writer.writeheader()
    for row in made:
        lists = {name: json.dumps(row[name]) for name in row if name.endswith("_headers")}
        writer.writerow(row | lists)
    return text.getvalue()


def test_parquet_and_csv_answer_alike(tmp_path: Path) -> None:
    file = tmp_path / "requests.csv"
    file.write_text(as_csv(list(sample())))
    for question in (Question.ADOPTION, Question.PAGES):
        asked = Asked(question, (Key.MONTH, Key.RANK, Key.PROVIDER))
        assert engine.answer(asked, [file]) == engine.answer(asked, [sample_file()])


@pytest.mark.parametrize("name", ["a[1].parquet", "a*.parquet", "it's a?.csv"])
def test_a_files_name_is_no_pattern(name: str, tmp_path: Path) -> None:
    responses = [announcing(H3)]
    for file in (tmp_path / "a1.parquet", tmp_path / "ab.parquet"):
        write_rows([response(), response()], file)
    if name.endswith(".csv"):
        (tmp_path / name).write_text(as_csv(responses))
    else:
        write_rows(responses, tmp_path / name)
    (row,) = rows(engine.answer(Asked(), [tmp_path / name]))
    assert (row["requests"], row["announced_pct"]) == (1, 100)


@pytest.mark.parametrize("nested", [False, True])
def test_lists_whose_elements_are_structures_of_their_own(nested: bool, tmp_path: Path) -> None:
    """As in `list.element` of Parquet files whose lists are not marked as such."""
    elements = pl.col("response_headers").list.eval(pl.struct(element=pl.element()))
    listed = pl.struct(list=elements) if nested else elements
    written = frame(sample()).with_columns(listed.alias("response_headers"))
    file = tmp_path / "requests.parquet"
    written.write_parquet(file)
    assert engine.answer(Asked(), [file]) == engine.answer(Asked(), [sample_file()])


@pytest.mark.parametrize("question", Question)
@pytest.mark.parametrize("keys", ["rank,provider", "month,client,cdn,server"])
def test_bigquerys_sql_answers_as_duckdb(question: Question, keys: str) -> None:
    """BigQuery's text, put into DuckDB's dialect by another path than ibis' own, over the same rows."""
    asked = Asked(question, keys_of([keys]), ("2022-06", "2023-06", "2024-06"))
    sql = engine.sql_for_bigquery(asked, ["crawl.requests"])
    assert "`crawl`.`requests`" in sql
    for function in ("safe.string(", "safe.int64("):
        sql = sql.replace(function, function.replace("safe.", "json_to_"))
    (again,) = sqlglot.transpile(sql, read="bigquery", write="duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA crawl")
        connection.execute("CREATE MACRO ieee_divide(part, whole) AS part / whole")
        connection.execute("CREATE MACRO json_to_string(value) AS value ->> '$'")
        connection.execute("CREATE MACRO json_to_int64(value) AS CAST(value AS BIGINT)")
        (select,) = [one.select for one in engine._exports(connection, asked, [sample_file()])]
        connection.execute(f"CREATE VIEW crawl.requests AS {select}")
        answered = connection.execute(again).fetchall()
    assert answered == engine.answer(asked, [sample_file()]).rows


def test_sql_for_duckdb_is_whole() -> None:
    asked = Asked(Question.PAGES)
    with duckdb.connect() as connection:
        last = connection.execute(engine.sql_for_files(asked, [sample_file()])).fetchall()
    assert last == engine.answer(asked, [sample_file()]).rows


def test_a_table_of_before_has_its_date_from_its_name() -> None:
    name = "httparchive.summary_requests.2021_09_01_mobile"
    sql = engine.sql_for_bigquery(Asked(Question.DRAFTS), [name])
    assert "`httparchive`.`summary_requests`.`2021_09_01_mobile`" in sql
    assert "2021, 9, 1" in sql or "2021-09-01" in sql


def test_the_crawls_table_is_not_read_without_a_date() -> None:
    with pytest.raises(WrongInputError, match="say which months, as --month 2024-06"):
        engine.sql_for_bigquery(Asked(), [])
    sql = engine.sql_for_bigquery(Asked(months=("2023-12",)), [])
    assert "DATE(2023, 12, 1)" in sql
    assert "DATE(2024, 1, 1)" in sql


def test_the_sample_is_what_its_generator_makes() -> None:
    assert pl.read_parquet(sample_file()).equals(frame(sample()))


def test_header_fields_of_another_form_are_refused(tmp_path: Path) -> None:
    other = pl.col("response_headers").list.eval(
        pl.element().struct.rename_fields(["key", "value"])
    )
    file = tmp_path / "requests.parquet"
    frame([announcing(H3)]).with_columns(other).write_parquet(file)
    with pytest.raises(
        WrongInputError, match=r"`response_headers` is STRUCT\(key .*another version"
    ):
        engine.answer(Asked(), [file])


def test_a_value_that_is_wrong_far_below_is_told(tmp_path: Path) -> None:
    header, first, *_ = OLD.splitlines()
    file = tmp_path / "2021_01_01_mobile.csv"
    file.write_text("\n".join([header, *[first] * 2000, first.replace("true", "perhaps"), ""]))
    with pytest.raises(WrongInputError, match="cannot be read: Conversion Error") as caught:
        engine.answer(Asked(), [file])
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["headway", "census", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_an_answer_as_a_file(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / f"answer{suffix}"
    assert run(monkeypatch, "sample", "--by", "cdn", "--out", str(file)) == 0
    wanted = rows(engine.answer(Asked(keys=(Key.CDN,)), [sample_file()]))
    if suffix == ".json":
        assert json.loads(file.read_text())["rows"] == wanted
    else:
        read = pl.read_csv(file) if suffix == ".csv" else pl.read_parquet(file)
        assert read.to_dicts() == wanted


@pytest.mark.parametrize("by", ["month", "month,client", "month,rank"])
def test_adoption_by_month_as_a_figure(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    svg, again, png = (tmp_path / name for name in ("a.svg", "b.svg", "a.png"))
    for file in (svg, again, png):
        assert run(monkeypatch, "sample", "--by", by, "--out", str(file)) == 0
    assert svg.read_bytes() == again.read_bytes()
    assert png.read_bytes().startswith(b"\x89PNG")
    text = svg.read_text()
    for row in rows(engine.answer(Asked(keys=keys_of([by])), [sample_file()])):
        told = (
            f"{row['month']}: announced {row['announced_pct']:.1f} %, used {row['used_pct']:.1f} %"
        )
        assert told in text
    assert text.count(">2023-06<") == {"month": 1, "month,client": 2, "month,rank": 4}[by]


def test_a_single_month_has_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "one.pdf"
    assert run(monkeypatch, "sample", "--month", "2024-06", "--out", str(file)) == 0
    assert file.read_bytes().startswith(b"%PDF")


def test_columns_are_documented() -> None:
    page = (ROOT / "docs" / "census.md").read_text()
    for question in Question:
        for column in engine.answer(Asked(question), [sample_file()]).columns:
            assert f"`{column}`" in page, column


_ANSWER = engine.answer


@cache
def answer_of(asked: Asked, files: tuple[Path, ...]) -> engine.Answer:
    """An answer, worked out once for all widths."""
    return _ANSWER(asked, files)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("by", ["month,client", "month,client,provider,cdn"])
@pytest.mark.parametrize("question", Question)
def test_no_value_is_cut_in_a_narrow_terminal(
    question: Question, by: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.console import Console

    from headway.instruments.census import cli as census

    # A terminal of this width.
    console = Console(width=width, force_terminal=True, color_system=None, file=io.StringIO())
    monkeypatch.setattr(census, "output", lambda: console)
    monkeypatch.setattr(engine, "answer", lambda asked, files: answer_of(asked, tuple(files)))
    assert run(monkeypatch, "sample", "--question", question, "--by", by) == 0
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    answer = answer_of(Asked(question, keys_of([by])), (sample_file(),))
    whole = {str(row["provider"]) for row in rows(answer)} if "provider" in by else {"mobile"}
    assert all(word in text for word in {"2022-06", "2023-06", "2024-06"} | whole)


def test_a_pipe_has_all_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "sample", "--by", "month,client,rank,provider,server,cdn") == 0
    printed = capsys.readouterr().out
    assert "more column" not in printed
    assert "requests" in printed.splitlines()[1]
