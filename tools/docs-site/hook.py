"""What MkDocs has to know to make a site of ``docs/``.

The navigation is that of ``docs/README.md``: its sections, and the pages that they link. Files of the repository
outside ``docs/`` that pages link are part of the site, below ``repository/``, so that no link leaves the site's
directory. MkDocs calls the functions by their names (https://www.mkdocs.org/user-guide/configuration/#hooks).

Pages are written as GitHub reads Markdown. Where Python-Markdown reads it otherwise, a page is changed for it: what
belongs to an item of a list stands four blanks in, and the first line of a block of code names its language alone.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pathspec import GitIgnoreSpec

ROOT = Path(__file__).parents[2]
OUTSIDE = PurePosixPath("repository")
_WORKER = PurePosixPath("assets/iframe-worker.js")
_BOOST = {
    "findings": 0.3,
    "findings.md": 0.3,
    "results": 0.1,
    "repository": 0.5,
    "decisions.md": 0.5,
}
_FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=(?:#[^)\s]*)?\))")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Makes the navigation."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", index, flags=re.MULTILINE)[1:]
    config.nav = ["README.md", *[_section(text) for text in sections]]
    config.not_in_nav = GitIgnoreSpec.from_lines([f"{OUTSIDE}/**"])
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what pages link outside ``docs/``, and what such pages link in turn, and the search's worker."""
    pages = list((ROOT / "docs").rglob("*.md"))
    seen: set[Path] = set()
    while pages:
        page = pages.pop()
        for target in _links(page):
            if target in seen or not target.is_file() or _in_docs(target):
                continue
            seen.add(target)
            files.append(_file(config, _place(target), target))
            if target.suffix == ".md":
                pages.append(target)
    files.append(_file(config, _WORKER, Path(__file__).with_name("iframe-worker.js")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Has links lead to where their targets are on the site, and the search prefer what tells how to do a thing."""
    place = PurePosixPath(page.file.src_uri)
    page.meta["search"] = {"boost": _BOOST.get(place.parts[0], 1.0)}
    source = _source(place)

    def moved(match: re.Match[str]) -> str:
        if "://" in match[1]:
            return match[1]
        target = _target(source, match[1])
        return os.path.relpath(_place(target), place.parent) if target.exists() else match[1]

    parts = _FENCED.split(markdown)
    prose = [_indented(_LINK.sub(moved, text)) for text in parts[::2]]
    code = [re.sub(r"^(```\w+) .*", r"\1", text) for text in parts[1::2]]
    return "".join(text for pair in zip(prose, [*code, ""], strict=True) for text in pair)


def _indented(text: str) -> str:
    return re.sub(r"^ {2,}", lambda blanks: 2 * blanks[0], text, flags=re.MULTILINE)


def _section(text: str) -> dict[str, Any]:
    title, _, body = text.partition("\n")
    return {title: [_entry(*link) for link in re.findall(r"\[([^\]]*)\]\(([^)#]+\.md)\)", body)]}


def _entry(said: str, name: str) -> Any:
    """A page, with the pages of the folder beside it that has its name.

    Pages of results have their titles from commands, several of them the same: they are called what the index says.
    """
    page = _target(ROOT / "docs" / "README.md", name)
    if name.startswith("results/"):
        return {said: str(_place(page))}
    inner = [target for target in _links(page) if target.parent == page.with_suffix("")]
    place = str(_place(page))
    if not inner:
        return place
    title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    pages = [str(_place(target)) for target in dict.fromkeys(inner) if target.suffix == ".md"]
    return {title: [place, *pages]} if pages else place


def _links(page: Path) -> list[Path]:
    """Files and directories that a page links."""
    text = page.read_text(encoding="utf-8")
    return [_target(page, link) for link in _LINK.findall(text) if "://" not in link]


def _target(page: Path, link: str) -> Path:
    return Path(os.path.normpath(page.parent / link))


def _in_docs(path: Path) -> bool:
    return path.is_relative_to(ROOT / "docs")


def _place(path: Path) -> PurePosixPath:
    """Where a file of the repository stands below the site's sources."""
    if _in_docs(path):
        return PurePosixPath(path.relative_to(ROOT / "docs"))
    return OUTSIDE / path.relative_to(ROOT)


def _source(place: PurePosixPath) -> Path:
    """The file of the repository that stands there."""
    if place.is_relative_to(OUTSIDE):
        return ROOT / place.relative_to(OUTSIDE)
    return ROOT / "docs" / place


def _file(config: MkDocsConfig, place: PurePosixPath, source: Path) -> File:
    return File.generated(config, str(place), abs_src_path=str(source))
