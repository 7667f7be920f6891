"""`headway look`: accounts of files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.errors import WrongInputError
from headway.foreign.kinds.every import every_kind
from headway.look.account import Account
from headway.look.reading import _MODULES, account_of


def headway(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headway", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


PAGE = {
    "request": {"method": "GET", "url": "https://a.test/"},
    "response": {
        "status": 200,
        "httpVersion": "h2",
        "headers": [{"name": "Content-Type", "value": "text/html"}],
        "content": {"size": 3, "text": "<p>", "mimeType": "text/html"},
    },
}
HAR = {"log": {"version": "1.2", "creator": {"name": "Tool", "version": "3"}, "entries": [PAGE]}}


def account(tmp_path: Path, data: bytes | str) -> Account:
    file = tmp_path / "file"
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return account_of(file)


def facts(of: Account) -> dict[str, str]:
    assert of.content
    return {fact.name: fact.value for fact in of.content.facts}


def test_a_recording(tmp_path: Path) -> None:
    shown = facts(account(tmp_path, json.dumps(HAR)))
    assert shown["page"] == "https://a.test/"
    assert shown["responses"] == "1 (2xx 1)"
    assert shown["bodies"] == "3 bytes"


def test_a_study(tmp_path: Path) -> None:
    text = 'name = "s"\nrepetitions = 3\n[contenders]\na = { protocol = "h2" }\nb = { protocol = "h3" }\n'
    shown = facts(account(tmp_path, text))
    assert (shown["contenders"], shown["runs"]) == ("a, b", "6")


def test_a_table(tmp_path: Path) -> None:
    read = account(tmp_path, "time;rate\n0;5\n1;7,5\n2;6\n")
    assert read.content
    assert facts(read) == {"rows": "3", "columns": "2"}
    assert read.content.listings[0].rows[0] == ("time", "0", "0", "2")


def test_what_is_not_read_has_a_name_and_a_way(tmp_path: Path) -> None:
    read = account(tmp_path, b"\xd4\xc3\xb2\xa1\x02\0\x04\0" + bytes(16))
    assert read.content is None
    assert "capture" in str(read.identity)
    assert read.way


def test_every_kind_that_is_read_has_an_account() -> None:
    assert {kind for kind in every_kind() if kind.is_read} == _MODULES.keys()


@pytest.mark.parametrize("name", ["-x.har", "a b.har", "ä.har"])
def test_odd_names_are_words_of_the_command(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(json.dumps(HAR))
    done = headway("look", "--", name, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(f"{name}: a HAR 1.2 file of Tool 3\n")


def test_odd_files_take_a_line_each(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "cut.gz").write_bytes(b"\x1f\x8bxx")
    done = headway("look", "nothing", "pipe", "cut.gz", "empty", cwd=tmp_path)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 4


def test_a_reader_that_refuses_says_first_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match=r"a HAR 1\.2 file of Tool 3: "):
        account(tmp_path, json.dumps({"log": {**HAR["log"], "entries": []}}))


def test_json_is_a_line_each(tmp_path: Path) -> None:
    (tmp_path / "a.har").write_text(json.dumps(HAR))
    done = headway("look", "--json", "a.har", "a.har", cwd=tmp_path)
    first, second = map(json.loads, done.stdout.splitlines())
    assert first == second
    assert (first["kind"], first["maker"]) == ("har", "Tool 3")
