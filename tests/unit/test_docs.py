"""The documentation says what the code does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from headway.campaign import feasibility
from headway.campaign.feasibility import checked_plan
from headway.cli.group import command_line
from headway.study.load import Source, parse_study
from headway.study.outsidefile import read_programs
from headway.study.user_programs import OutsideProgram
from tests.container_images import Made, write_archive
from tests.doc_examples import PAGES, ROOT, as_toml, blocks, commands, short, studies
from tools.generate_docs import pages


def test_generated_pages_are_up_to_date() -> None:
    for name, text in pages().items():
        assert (ROOT / "docs" / name).read_text() == text, f"{name}: make docs"


MOST_WORDS = 1500
USER_PAGES = sorted((ROOT / "docs").glob("*.md"))
"""Those that answer questions: findings and results are notebooks and records."""


@pytest.mark.parametrize("page", USER_PAGES, ids=lambda page: page.name)
def test_a_page_is_short(page: Path) -> None:
    """Counted as `wc -w` does, with code and tables."""
    words = len(page.read_text(encoding="utf-8").split())
    assert words <= MOST_WORDS, f"{page.name} has {words} words: divide it by its questions"


@pytest.mark.parametrize("name", studies())
def test_studies_in_the_documentation_are_valid(name: str) -> None:
    """As they are printed, and in the short form in which they are carried out (`tests/lab/test_doc_studies.py`)."""
    raw = studies()[name]
    printed = checked_plan(parse_study(Source(name, as_toml(raw), ROOT)), name)
    carried_out = checked_plan(parse_study(Source(name, as_toml(short(raw)), ROOT)), name)
    assert 0 < len(carried_out) <= min(len(printed), 30)
    assert {run.contender for run in carried_out} == {run.contender for run in printed}


def test_a_short_form_is_short() -> None:
    raw = {
        "axes": {
            "protocol": ["h2", "h3"],
            "path": {"rtt": ["1 ms", "2 ms", "3 ms"], "loss": [0, 1]},
        },
        "workload": {"size": "10 MB"},
        "path": {"queue": {"size": "4 MB"}},
        "flows": {
            "a": {"start": "5 s", "workload": {"duration": "60 s", "starts": ["0 s", "5 s"]}}
        },
        "control": {},
    }
    assert short(raw) == {
        "axes": {"protocol": ["h2", "h3"]},
        "cells": [{"path": {"rtt": "1 ms", "loss": 0}}, {"path": {"rtt": "3 ms", "loss": 1}}],
        "workload": {"size": "100 kB"},
        "path": {"queue": {"size": "4 MB"}},
        "flows": {"a": {"start": "1 s", "workload": {"duration": "4 s", "starts": ["0 s", "1 s"]}}},
        "control": {},
        "repetitions": 2,
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_block_without_a_language_has_a_command(page: Path) -> None:
    """Nobody would try it."""
    fences = re.findall(r"^```(.*)\n((?:(?!```).*\n)*)```$", page.read_text(), re.MULTILINE)
    assert fences or "```" not in page.read_text()
    for language, text in fences:
        if not language:
            assert not re.search(r"^(\.venv/bin/)?headway \w", text, re.MULTILINE), text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_of_programs_in_the_documentation_are_valid(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the studies that use them, as far as that can be told without the programs."""
    monkeypatch.setattr(feasibility, "check_fit", lambda *_: None)
    programs: list[OutsideProgram] = []
    for text in blocks(page, "toml programs.toml"):
        declared = tomllib.loads(text)
        for one in (program for role in declared.values() for program in role.values()):
            if "image" in one:
                write_archive(tmp_path / one["image"], Made(()).saved())
                continue
            for name in [*one.get("mount", []), *[word for word in one["argv"][:1] if "/" in word]]:
                (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
                (tmp_path / name).touch(0o755)
        file = tmp_path / "programs.toml"
        file.write_text(text)
        programs += read_programs(file)
    for text in blocks(page, "toml own-study"):
        study = parse_study(Source(page.name, text, tmp_path), programs=tuple(programs))
        assert checked_plan(study, page.name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_documentation_exist_with_their_options(page: Path) -> None:
    for words in commands(page):
        command: Any = command_line()
        context = command.context_class(command)
        while hasattr(command, "get_command") and words and not words[0].startswith("-"):
            name, *words = words
            command = command.get_command(context, name)
            assert command, f"{page.name}: no command {name}"
            context = command.context_class(command, parent=context)
        command.make_parser(context).parse_args(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_in_the_documentation_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


FINDINGS = sorted((ROOT / "docs" / "findings").glob("*.md"))


@pytest.mark.parametrize("page", FINDINGS, ids=lambda page: page.stem)
def test_a_finding_has_a_line_in_the_index(page: Path) -> None:
    """Under the page's own title; the page has what a reader has to know before believing it."""
    text = page.read_text()
    title = text.partition("\n")[0].removeprefix("# ")
    index = (ROOT / "docs" / "findings.md").read_text()
    assert f"\n- [{title}](findings/{page.name})\n" in index
    for label in ("**How sure**: ", "**Depends on**", "**Command**: "):
        assert " ".join(text.split()).count(label) == 1, label


def test_the_index_has_every_page_of_the_documentation() -> None:
    """``docs/README.md``, from which the site has its navigation, and the index of findings."""
    docs = ROOT / "docs"
    linked = {
        (page.parent / target).resolve()
        for page in (docs / "README.md", docs / "findings.md")
        for target in re.findall(r"\]\(([^)#]+\.md)", page.read_text())
    }
    assert {page for page in docs.rglob("*.md") if page.name != "README.md"} <= linked
