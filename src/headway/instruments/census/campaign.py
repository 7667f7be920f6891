"""Headway's own page loads as the HTTP Archive's crawl has them, so that the same questions can be asked of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

from headway.columns import Record, Status
from headway.errors import WrongInputError
from headway.instruments.census.har import responses_of_har
from headway.instruments.census.rows import CrawledResponse
from headway.programs.chromium import HAR_FILE
from headway.records.manifest import read_manifest
from headway.records.store import ARTIFACTS, read_records
from headway.records.stranger import check_files, check_runs


def responses_of_campaign(directory: Path) -> Iterator[CrawledResponse]:
    """Responses of all page loads of a study that ended well.

    A load is a page of its own, whose URL ends in the run's name as its fragment, since repetitions load the same
    page. The contender stands for the client, and the month is that of the study, because a lab's clock begins at
    the same moment in every run.

    Raises:
        WrongInputError: the directory has no results, or no page loads.
    """
    check_files(directory)
    runs = [run for run in read_records(directory) if run.status is Status.OK]
    check_runs(directory, [run.run_id for run in runs])
    loads = [(run, directory / ARTIFACTS / run.run_id / HAR_FILE) for run in runs]
    loads = [(run, har) for run, har in loads if har.is_file()]
    if not loads:
        raise WrongInputError(
            'has no page loads: a census needs results of a study with kind = "page"',
            where=str(directory),
        )
    day = _day(directory)
    for run, har in loads:
        for response in responses_of_har(har):
            yield _of_run(response, run, day)


def _of_run(crawled_response: CrawledResponse, run: Record, day: date) -> CrawledResponse:
    page = f"{crawled_response.page}#{run.run_id}"
    return replace(crawled_response, page=page, root_page=page, client=run.contender, day=day)


def _day(directory: Path) -> date:
    manifest = read_manifest(directory)
    if manifest is None or not manifest.created:
        raise WrongInputError("does not say when the study was carried out", where=str(directory))
    return datetime.fromisoformat(manifest.created).date().replace(day=1)
