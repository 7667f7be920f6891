"""The glossary names classes that there are."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GLOSSARY = "".join(page.read_text() for page in sorted(DOCS.glob("glossary*.md")))
CLASSES = sorted(set(re.findall(r"`([a-z_.]+)\.([A-Z]\w+)`", GLOSSARY)))


def test_it_names_classes() -> None:
    assert len(CLASSES) > 50


@pytest.mark.parametrize(("module", "name"), CLASSES, ids=".".join)
def test_its_classes_are_where_it_says(module: str, name: str) -> None:
    found = getattr(importlib.import_module(f"headway.{module}"), name)
    assert found.__module__ == f"headway.{module}"
