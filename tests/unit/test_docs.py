"""The documentation says what the code does."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

from headway.campaign import checks
from headway.campaign.checks import checked_plan
from headway.cli.commands import command_line
from headway.study.load import Source, parse_study
from headway.study.outside import OutsideProgram
from headway.study.outsidefile import read_programs
from tests.container_images import Made, write_archive

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs", ROOT / "tools" / "generate_docs.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date() -> None:
    assert (ROOT / "docs" / "columns.md").read_text() == generator().columns()
    assert (ROOT / "docs" / "programs.md").read_text() == generator().programs()
    assert (ROOT / "docs" / "native-quic.md").read_text() == generator().native_quic()
    assert (ROOT / "docs" / "hosts.md").read_text() == generator().hosts()
    assert (ROOT / "docs" / "site-headers.md").read_text() == generator().site_headers()


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_study_files_in_the_documentation_are_valid(page: Path) -> None:
    """Whole ones can be planned as they are printed, parts of them in a study over HTTP/3."""
    for text in blocks(page, "toml"):
        whole = text if "name" in tomllib.loads(text) else f'name = "part"\nprotocol = "h3"\n{text}'
        assert checked_plan(parse_study(Source(page.name, whole, ROOT)), page.name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_of_programs_in_the_documentation_are_valid(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the studies that use them, as far as that can be told without the programs."""
    monkeypatch.setattr(checks, "check_fit", lambda *_: None)
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


def commands(page: Path) -> list[list[str]]:
    """Commands of Headway in a page's shell blocks and in those of CI jobs, as words."""
    text = "\n".join([*blocks(page, "sh"), *blocks(page, "yaml")])
    lines = text.replace("\\\n", " ").splitlines()
    start = r"\s*(?:- )?(?:run: )?(?:\w+=\S+ +)*(?:\.venv/bin/)?headway +(.*)"
    found = (re.match(start, line) for line in lines)
    return [shlex.split(match[1], comments=True) for match in found if match]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_documentation_exist_with_their_options(page: Path) -> None:
    for words in commands(page):
        command: Any = typer.main.get_command(command_line())
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
