"""`headway sites` and `headway record`: what they print, and their exit status."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headway import cli
from headway.instruments.corpus.catalogue import corpus_names, make_site
from headway.instruments.corpus.summary import summary
from headway.sites.finding import find_site
from headway.sites.site import Exchange, Site
from headway.sites.warc import write_archive

RECORDED = Path(__file__).parent / "sites"
PAGE = Exchange("GET", "https://a.test/", 200, (("content-type", "text/html"),), b"<p>" * 1000)
STYLE = Exchange(
    "GET", "https://b.test/s?v=1", 200, (("content-type", "text/css; charset=utf-8"),), b"1" * 500
)
SITE = Site("mine", PAGE.url, (PAGE, STYLE), "Two responses.")


def run(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["headway", *map(str, words)])
    monkeypatch.setenv("COLUMNS", "100")
    try:
        cli.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "mine.warc.gz"
    write_archive(SITE, path)
    return path


def lines(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_list_has_the_corpus_and_the_archives_that_are_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], archive: Path
) -> None:
    monkeypatch.chdir(archive.parent)
    assert run(monkeypatch, "sites", "list", archive.name) == 0
    shown = lines(capsys)
    assert [line[0] for line in shown] == ["site", *corpus_names(), "mine.warc.gz"]
    kepler = ["generated", "after", "ETSI's", "Kepler", "page"]
    assert ["kepler", "75", "1", "815.8", *kepler] in shown
    assert shown[-1] == ["mine.warc.gz", "2", "2", "3.5", "Two", "responses."]


@pytest.mark.parametrize("name", ["kepler", "sander-03", "liu-04", "objects-3x1kB"])
def test_what_the_list_says_of_generated_sites_is_true(name: str) -> None:
    site, told = make_site(name), summary(name)
    assert (told.objects, told.hosts) == (len(site.exchanges), len(site.hosts))
    images = [e for e in site.exchanges if "image" in (e.header("content-type") or "")]
    of_images = sum(len(image.body) for image in images)
    assert told.size_bytes == (of_images if name.startswith("objects") else site.size_bytes)


def test_show_has_exchanges_and_totals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], archive: Path
) -> None:
    assert run(monkeypatch, "sites", "show", archive) == 0
    assert lines(capsys) == [
        ["mine", "https://a.test/"],
        ["Two", "responses."],
        ["status", "type", "kB", "url"],
        ["200", "text/html", "3.0", "https://a.test/"],
        ["200", "text/css", "0.5", "https://b.test/s?v=1"],
        ["type", "objects", "kB"],
        ["text/html", "1", "3.0"],
        ["text/css", "1", "0.5"],
        ["host", "objects", "kB"],
        ["a.test", "1", "3.0"],
        ["b.test", "1", "0.5"],
    ]


def test_verify_fails_if_one_of_them_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], archive: Path
) -> None:
    assert run(monkeypatch, "sites", "verify", archive, "sander-01") == 0
    assert capsys.readouterr().out == (
        f"{archive}: nothing is wrong (2 exchanges)\nsander-01: nothing is wrong (10 exchanges)\n"
    )
    broken = archive.with_name("broken.warc.gz")
    page = Exchange(
        "GET", PAGE.url, 200, PAGE.headers, b"<script src=/gone></script><img loading=lazy src=i>"
    )
    write_archive(Site("broken", page.url, (page,)), broken)
    assert run(monkeypatch, "sites", "verify", broken, archive) == 1
    assert capsys.readouterr().out == (
        f"{broken}: 1 broken, 1 doubtful (1 exchanges)\n"
        "  broken    https://a.test/: refers to https://a.test/gone, which is not in the archive\n"
        "  doubtful  https://a.test/: refers to https://a.test/i, which is not in the archive\n"
        f"{archive}: nothing is wrong (2 exchanges)\n"
    )


def test_a_flood_of_findings_is_cut(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], archive: Path
) -> None:
    lazy = "".join(f"<img loading=lazy src=/{at}>" for at in range(1000))
    body = f"{lazy}<script src=/{'x' * 100_000}></script>".encode()
    page = Exchange("GET", PAGE.url, 200, PAGE.headers, body)
    write_archive(Site("many", page.url, (page,)), archive)
    assert run(monkeypatch, "sites", "verify", archive) == 1
    head, first, *others, last = capsys.readouterr().out.splitlines()
    assert head.endswith("1 broken, 1000 doubtful (1 exchanges)")
    assert first.startswith("  broken    https://a.test/: refers to https://a.test/xxx")
    assert (len(first) < 700, len(others), last) == (True, 199, "  and 801 more")


def test_record_imports_into_an_archive(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], archive: Path
) -> None:
    out = archive.with_name("New one.warc.gz")
    words = ("record", RECORDED / "flows.har", archive, "--out", out)
    assert run(monkeypatch, *words, "--map", "c.test=127.0.0.1:18000") == 0
    captured = capsys.readouterr()
    assert captured.out == (
        f"https://c.test/: responses 10, hosts 3, 3.9 kB, in {out}\n"
        f"{out}: 1 broken (10 exchanges)\n"
        "  broken    https://c.test/: refers to https://c.test/frame.html, which is not in the "
        "archive\n"
    )
    assert captured.err.splitlines()[0] == "content coding applied again: gzip (level 6) (1)"
    site = find_site(str(out))
    assert site.name == "New-one"
    assert site.exchanges[-2:] == SITE.exchanges
    assert run(monkeypatch, "record", archive, "--out", out, "--name", "other") == 0
    assert find_site(str(out)) == Site("other", SITE.page, SITE.exchanges, SITE.description)


def test_a_page_of_this_machine_cannot_be_replayed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, "record", str(RECORDED / "flows.har"), "--out", "x.warc.gz") == 2
    assert "127.0.0.1 is an address" in " ".join(capsys.readouterr().err.split())
    assert not [*tmp_path.iterdir()]
