"""Results as one file to publish: study, data, manifest, report, checksums, and what all of it is."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from headway.errors import WrongInputError
from headway.foreign.files import check_tree
from headway.records.manifest import Manifest, read_manifest
from headway.records.sources import LEFT_OUT, SOURCES, again
from headway.records.store import (
    ARTIFACTS,
    FLOWS_FILE,
    JOURNAL_FILE,
    NEARBY,
    REPORT,
    RUNS_FILE,
    SEGMENTS_FILE,
    refresh_table,
)
from headway.report.crate import METADATA, crate_metadata
from headway.report.report import PAGE, write_report
from headway.report.reproducing import reproducing

SUFFIX = ".zip"
SUMS = "SHA256SUMS"
_DATA = ("manifest.json", RUNS_FILE, FLOWS_FILE, SEGMENTS_FILE, JOURNAL_FILE)
_TABLES = {
    FLOWS_FILE: "has a row for every flow that competed",
    SEGMENTS_FILE: "has a row for every segment of a video",
}
"""Tables that only some results have."""
_LINK = re.compile(rf'href="\.\./{ARTIFACTS}/([^/"]+)/"')
_BLOCK = 1 << 20


@dataclass(frozen=True)
class _ArchivedFile:
    """A file of the archive: bytes, or a file of the results."""

    content: bytes | Path

    def blocks(self) -> Iterator[bytes]:
        """Its content."""
        if isinstance(self.content, bytes):
            yield self.content
            return
        with self.content.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block


def write_archive(
    directory: Path, archive: Path, *, artifacts: bool = False, licence: str | None = None
) -> None:
    """Write the archive of a results directory; equal results give equal archives.

    Args:
        directory: the results; their report is written if there is none of all runs.
        archive: file to write; one that is there is replaced when the new one is complete.
        artifacts: whether to add what every run left, or only that of the runs that the report shows
            over time.
        licence: address of the licence that the results are given under.

    Raises:
        WrongInputError: it is not a results directory, has no manifest, or holds a link, a pipe or a device.
    """
    page = directory / REPORT / PAGE
    check_tree(directory, directory)
    refresh_table(directory)
    if not _is_of_all_runs(page, directory):
        write_report(directory)
    manifest = _manifest(directory)
    entries = _entries(directory, manifest, page, artifacts)
    sums, sizes = _measured(entries)
    entries[SUMS] = _ArchivedFile(_sums(sums))
    sizes[SUMS] = sum(map(len, entries[SUMS].blocks()))
    metadata = crate_metadata(
        manifest, {quote(path): size for path, size in sizes.items()}, licence
    )
    partial = archive.with_name(f"{archive.name}.partial")
    try:
        with ZipFile(partial, "w", ZIP_DEFLATED) as file:
            for path, entry in {METADATA: _ArchivedFile(metadata), **entries}.items():
                # The default time is 1980: times of files would make equal archives differ.
                with file.open(_info(path), "w") as target:
                    for block in entry.blocks():
                        target.write(block)
        partial.replace(archive)
    finally:
        partial.unlink(missing_ok=True)


def _manifest(directory: Path) -> Manifest:
    manifest = read_manifest(directory)
    if manifest is None or not manifest.study.plain():
        raise WrongInputError("has no manifest with its study", where=str(directory))
    return manifest


def _entries(
    directory: Path, manifest: Manifest, page: Path, artifacts: bool
) -> dict[str, _ArchivedFile]:
    study = json.dumps(manifest.study.plain(), indent=1, ensure_ascii=False)
    entries = {
        "README.txt": _ArchivedFile(_readme(manifest, directory, artifacts)),
        "study.json": _ArchivedFile(f"{study}\n".encode()),
    }
    entries |= {
        name: _ArchivedFile(directory / name) for name in _DATA if (directory / name).is_file()
    }
    # What runs of neighbours left is as much again; their records and what was found of them are not.
    near = directory / NEARBY
    for file in sorted(near.iterdir()) if near.is_dir() else ():
        if file.is_file():
            entries[file.relative_to(directory).as_posix()] = _ArchivedFile(file)
    shown = _LINK.findall(page.read_text(encoding="utf-8"))
    kept = [directory / ARTIFACTS] if artifacts else [directory / ARTIFACTS / run for run in shown]
    for top in (directory / REPORT, directory / SOURCES, *kept):
        for file in sorted(top.rglob("*")):
            if file.is_file():
                entries[file.relative_to(directory).as_posix()] = _ArchivedFile(file)
    return entries


def _is_of_all_runs(page: Path, directory: Path) -> bool:
    """Whether a report is there, and no run came after it, as when a study went on and was interrupted."""
    table = directory / RUNS_FILE
    if not page.exists() or not table.exists():
        return page.exists()
    return page.stat().st_mtime_ns >= table.stat().st_mtime_ns


def _readme(manifest: Manifest, directory: Path, artifacts: bool) -> bytes:
    texts = (
        f"{manifest.study.name or 'Results'}: results of a Headway study",
        manifest.study.question,
        f"Carried out with Headway {manifest.headway or '?'}, begun {manifest.created or '?'}:",
        f"  {manifest.command or '?'}",
        *_again(manifest, directory),
        "report/index.html is the report; runs.parquet has a row for every run, and report/runs.csv the same.",
        *(f"{name} {what}." for name, what in _TABLES.items() if (directory / name).is_file()),
        "manifest.json has programs with versions, kernel, host, seeds and self-test; study.json is the study.",
        f"artifacts/ has the files of {'every run' if artifacts else 'the runs that the report shows over time'}.",
        f"`sha256sum --check {SUMS}` checks all files but {METADATA}, which describes them (RO-Crate 1.1).",
    )
    return "".join(f"{line}\n" for line in texts if line).encode()


def _again(manifest: Manifest, directory: Path) -> Iterator[str]:
    """How the study is carried out again from the archive."""
    if not (directory / SOURCES).is_dir():
        return
    command = again(reproducing(manifest.command), directory)
    yield f"{SOURCES}/ has the study as it was given. Unpacked, this carries it out again, on any machine:"
    yield f"  {command} --out again"
    if (directory / SOURCES / LEFT_OUT).is_file():
        yield f"Files that it names and that are not here are in {SOURCES}/{LEFT_OUT}."


def _measured(entries: Mapping[str, _ArchivedFile]) -> tuple[dict[str, str], dict[str, int]]:
    """Checksum and length of each file."""
    sums, sizes = {}, {}
    for path, entry in entries.items():
        digest, size = hashlib.sha256(), 0
        for block in entry.blocks():
            digest.update(block)
            size += len(block)
        sums[path], sizes[path] = digest.hexdigest(), size
    return sums, sizes


def _sums(sums: Mapping[str, str]) -> bytes:
    return "".join(f"{digest}  {path}\n" for path, digest in sums.items()).encode()


def _info(path: str) -> ZipInfo:
    info = ZipInfo(path)
    info.compress_type = ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info
