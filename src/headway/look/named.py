"""The files that a study names, each with what it is and holds in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel

from headway.errors import WrongInputError
from headway.foreign.kinds.model import Identity
from headway.look.account import FileContents
from headway.look.reading import account_of
from headway.planning.runs import Run
from headway.sites.finding import is_archive
from headway.study.workloadpart import WorkloadPart

_MOST_FACTS = 4


def named_files(runs: Iterable[Run]) -> dict[str, str]:
    """Files that runs name, and what each is and holds; of traces `planning.traces` tells more.

    Args:
        runs: of a study; many share their setting.
    """
    settings = {id(run.setting): run.setting for run in runs}
    files: dict[str, str] = {}
    for setting in settings.values():
        for part in _parts(setting):
            for file, described in _described(part, files):
                files[file] = described
    return files


def _parts(value: object) -> Iterator[BaseModel]:
    """A setting and all parts in it."""
    if isinstance(value, BaseModel):
        yield value
        for name in type(value).model_fields:
            yield from _parts(getattr(value, name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _parts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _parts(item)


def _described(part: BaseModel, known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Files that a part names, and that are not described yet."""
    if isinstance(part, WorkloadPart):
        site, mpd = part.replayed or "", getattr(part, "mpd", None) or ""
        for file in (site if is_archive(site) else "", mpd):
            if file and file not in known:
                yield file, _line_of(Path(file))


def _line_of(path: Path) -> str:
    try:
        account = account_of(path)
    except WrongInputError as error:
        return error.message
    return _line(account.identity, account.content)


def _line(identity: Identity, content: FileContents | None) -> str:
    facts = content.facts[:_MOST_FACTS] if content else ()
    return ", ".join([f"{identity}", *(f"{fact.name} {fact.value}" for fact in facts)])
