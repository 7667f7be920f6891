"""Inputs that people name on the command line: exports, the sample, HAR files, and directories of results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from headway.errors import WrongInputError
from headway.instruments.census.campaign import responses_of_campaign
from headway.instruments.census.har import Remark, no_remark, responses_of_har
from headway.instruments.census.rows import CrawledResponse, write_rows
from headway.instruments.census.sample import SAMPLE, sample_file

_HARS = (".har", ".har.gz")


@contextmanager
def as_exports(inputs: Sequence[Path], remark: Remark = no_remark) -> Iterator[list[Path]]:
    """Exports, among them one that is made of what is none and removed afterwards.

    Args:
        inputs: what is named.
        remark: is told what is left out of them.

    Raises:
        WrongInputError: a HAR file or a directory cannot be read as such.
    """
    twice = next((path for path in inputs if inputs.count(path) > 1), None)
    if twice:
        raise WrongInputError("is named twice, and would be counted twice", where=str(twice))
    others = [path for path in inputs if not _is_export(path)]
    with TemporaryDirectory(prefix="headway-census-") as place:
        exports = [
            sample_file() if _is_sample(path) else path for path in inputs if _is_export(path)
        ]
        if others:
            made = Path(place) / "requests.parquet"
            write_rows(_responses(others, remark), made)
            exports.append(made)
        yield exports


def write_as_crawl(inputs: Sequence[Path], file: Path, remark: Remark = no_remark) -> int:
    """Write HAR files and results as Parquet in the schema of `crawl.requests`; returns how many rows.

    Args:
        inputs: the files and directories.
        file: to write.
        remark: is told what is left out of them.

    Raises:
        WrongInputError: one of them is an export already, or cannot be read.
    """
    for path in inputs:
        if _is_export(path):
            raise WrongInputError(
                "is an export already, not a HAR file or results", where=str(path)
            )
    return write_rows(_responses(inputs, remark), file)


def made_first(inputs: Sequence[Path]) -> Path | None:
    """The first that is no export but has to be made one, if there is one."""
    return next((path for path in inputs if not _is_export(path)), None)


def _is_export(path: Path) -> bool:
    return _is_sample(path) or not (path.is_dir() or path.name.lower().endswith(_HARS))


def _is_sample(path: Path) -> bool:
    return str(path) == SAMPLE and not path.exists()


def _responses(inputs: Sequence[Path], remark: Remark) -> Iterator[CrawledResponse]:
    for path in inputs:
        yield from responses_of_campaign(path) if path.is_dir() else responses_of_har(path, remark)
