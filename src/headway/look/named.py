"""The files that a study names, each with what it is and holds in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

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
        for workload in (setting.workload, *setting.workloads):
            files |= _described(workload, files)
    return files


def _described(workload: WorkloadPart, known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Files that a workload names, and that are not described yet."""
    site, mpd = workload.replay.site or "", getattr(workload, "mpd", None) or ""
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
