"""The documentation says what the code does."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from headway.study.load import Source, parse_study

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs", ROOT / "tools" / "generate_docs.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date() -> None:
    assert (ROOT / "docs" / "columns.md").read_text() == generator().columns()
    assert (ROOT / "docs" / "programs.md").read_text() == generator().programs()
    assert (ROOT / "docs" / "site-headers.md").read_text() == generator().site_headers()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_study_files_in_the_documentation_are_valid(page: Path) -> None:
    for text in re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL):
        if "name" in tomllib.loads(text):
            parse_study(Source(page.name, text, ROOT))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_in_the_documentation_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target
