"""Texts of others: terminals obey nothing in them, and what is nested without end is refused in a sentence."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

import headway
from headway import cli
from headway.cli.changes import parsed_changes
from headway.errors import HeadwayError, WrongInputError
from headway.foreign.console import escaping_console
from headway.foreign.documents import MOST_DEPTH, json_value, toml_tables
from headway.foreign.shown import is_printable, printable, quoted
from headway.instruments.census.har import responses_of_har
from headway.instruments.states.cli import states
from headway.records.manifest import read_manifest
from headway.sites.sources import Browsing, record_site
from headway.study.load import load_study
from headway.study.mpd import film_at
from headway.study.outsidefile import read_programs
from headway.terminal import complain, note, say

OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]")
HOSTILE = "\x1b]0;title\x07\x1b[31mred\x9b2J\u202e\r"
DEEP = 20_000


@given(st.text())
def test_what_is_shown_has_no_control_characters(text: str) -> None:
    shown = printable(text)
    assert not OBEYED.search(shown)
    assert (shown == text) == is_printable(text)
    assert printable(shown) == shown
    assert not OBEYED.search(quoted(text))


def test_lines_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    for show in (say, note, complain):
        show(f"a\tline\n{HOSTILE}")
    shown = capsys.readouterr()
    for text in (shown.out, shown.err):
        assert r"\x1b[31mred\x9b2J\u202e\r" in text
        assert not OBEYED.search(text)


def test_tables_have_their_own_colours_only() -> None:
    file = io.StringIO()
    console = escaping_console(
        file=file, force_terminal=True, width=200, color_system="standard", highlight=False
    )
    table = Table(HOSTILE)
    table.add_row(Text(HOSTILE, style="red"))
    console.print(table)
    console.print(f"[bold]{HOSTILE}[/bold]")
    text = file.getvalue()
    assert text.count(r"\x1b[31mred\x9b2J") == 3
    assert "\x1b[31m\\x1b]0;title" in text
    assert not OBEYED.search(re.sub(r"\x1b\[[\d;]*m", "", text))


def test_a_bar_of_progress_still_moves() -> None:
    file = io.StringIO()
    console = escaping_console(file=file, force_terminal=True, width=100)
    with Progress(console=console) as progress:
        progress.add_task(HOSTILE, total=1)
    assert "\x1b[?25l" in file.getvalue()
    assert "\x1b[31mred" not in file.getvalue()


def study(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "study.toml"
    file.write_text(text)
    return file


def test_lines_and_tabs_are_texts_of_studies(tmp_path: Path) -> None:
    text = 'name = "a"\nquestion = """one\n\ttwo"""\n[contenders.b]\nprotocol = "h2"\n'
    assert load_study(str(study(tmp_path, text))).question == "one\n\ttwo"


@pytest.mark.parametrize(
    "words", [["plan", "\x1b[31mno.toml"], ["\x1b[31mno"], ["run", "--\x1b[2J"]]
)
def test_no_message_passes_on_what_was_typed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["headway", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    shown = capsys.readouterr()
    assert not OBEYED.search(shown.out + shown.err)


NESTED = {
    "dots": ".".join("a" * DEEP) + " = 1",
    "arrays": "a = " + "[" * DEEP + "]" * DEEP,
    "tables": "a = " + "{a = " * DEEP + "1" + "}" * DEEP,
    "headings": f"[{'.'.join('a' * DEEP)}]\nb = 1",
    "lists of tables": f"[[{'.'.join('a' * DEEP)}]]\nb = 1",
    "in between": "a = " + "[" * 150 + "]" * 150,
}


@pytest.mark.parametrize("name", NESTED)
def test_tables_without_end_are_refused(tmp_path: Path, name: str) -> None:
    text = NESTED[name]
    with pytest.raises(WrongInputError, match=r"study.toml: not a TOML file: .*nested"):
        load_study(str(study(tmp_path, text)))
    (tmp_path / "programs.toml").write_text(text)
    with pytest.raises(WrongInputError, match=r"programs.toml: not a TOML file: .*nested"):
        read_programs(tmp_path / "programs.toml")


def test_tables_as_deep_as_anybody_writes_are_read() -> None:
    for depth, accepted in ((MOST_DEPTH - 1, True), (MOST_DEPTH + 1, False)):
        for read, text in ((toml_tables, "a = {0}{1}"), (json_value, '{{"a": {0}{1}}}')):
            written = text.format("[" * depth, "]" * depth)
            if accepted:
                assert read(written)["a"]
            else:
                with pytest.raises(ValueError, match="nested more than"):
                    read(written)


def nested_dict() -> dict[str, object]:
    found: dict[str, object] = {}
    for _ in range(DEEP):
        found = {"a": found}
    return found


def test_python_has_no_tables_without_end_either() -> None:
    with pytest.raises(WrongInputError, match="nested more than"):
        headway.load(nested_dict())
    with pytest.raises(WrongInputError):
        parsed_changes([f"{'.'.join('a' * DEEP)}=1"])
    with pytest.raises(WrongInputError):
        parsed_changes(["path=" + "[" * DEEP + "]" * DEEP])


def deep_files() -> Iterator[tuple[str, bytes]]:
    lists = b"[" * DEEP + b"]" * DEEP
    yield "a.har", b'{"log": ' + lists + b"}"
    yield "b.har", b'{"a": ' + lists + b', "log": {"entries": []}}'
    yield "a.wprgo", b'{"Requests": ' + lists + b"}"
    flow = b""
    for _ in range(2000):
        flow = b"%d:%s]" % (len(flow), flow)
    yield "a.flows", flow
    yield "a.zip", lists


@pytest.mark.parametrize(("name", "data"), [*deep_files()], ids=lambda one: str(one)[:8])
def test_recordings_without_end_are_refused(tmp_path: Path, name: str, data: bytes) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(WrongInputError) as refused:
        record_site("a", [str(file)], Browsing())
    assert "\n" not in str(refused.value)
    if name.endswith(".har"):
        with pytest.raises(WrongInputError):
            responses_of_har(file)


def test_other_files_without_end_are_refused(tmp_path: Path) -> None:
    lists = "[" * DEEP + "]" * DEEP
    (tmp_path / "manifest.json").write_text(f'{{"study": {lists}}}')
    with pytest.raises(WrongInputError, match=r"manifest.json: is damaged: .*nested"):
        read_manifest(tmp_path)
    for name, text in {
        "a.qlog": f'{{"traces": [{{"events": [{lists}]}}]}}',
        "b.qlog": f'\x1e{{"trace": {lists}}}\n',
    }.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(HeadwayError):
            states([tmp_path / name])
    (tmp_path / "a.mpd").write_text("<MPD>" * DEEP + "</MPD>" * DEEP)
    with pytest.raises(WrongInputError, match=r"a\.mpd"):
        film_at(str(tmp_path / "a.mpd"))
