"""The RO-Crate metadata of an archive of results: what its files are, and how they came about.

RO-Crate 1.1, https://w3id.org/ro/crate/1.1: a JSON-LD document in the crate's root with a flat list of entities,
among them a descriptor of the document itself, the root data set, and every file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from headway.records.manifest import Manifest

METADATA = "ro-crate-metadata.json"
_SPECIFICATION = "https://w3id.org/ro/crate/1.1"
_ROOT, _HEADWAY, _CAMPAIGN = "./", "#headway", "#campaign"
_TYPES = {
    "css": "text/css",
    "csv": "text/csv",
    "har": "application/json",
    "html": "text/html",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
    "pcapng": "application/x-pcapng",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "svg": "image/svg+xml",
    "txt": "text/plain",
}
_DESCRIBED = {
    "README.txt": "What the archive has, and how to repeat the study.",
    "SHA256SUMS": "SHA-256 checksums of all other files, as sha256sum --check reads them.",
    "manifest.json": "Study, versions of all programs, kernel, image, host, seeds, self-test, the command.",
    "records.jsonl": "A line for every run, in the order in which they ended.",
    "runs.parquet": "A row for every run, with everything that was measured.",
    "flows.parquet": "A row for every flow that competed, with what was measured of it.",
    "segments.parquet": "A row for every segment that a player of videos fetched.",
    "study.json": "The study, with everything filled in that its file left out.",
    "report/index.html": "The report.",
}
_RESULTS = ("runs.parquet", "flows.parquet", "segments.parquet", "records.jsonl")

Entity = dict[str, Any]


def crate_metadata(manifest: Manifest, sizes: Mapping[str, int], licence: str | None) -> bytes:
    """The metadata document.

    Args:
        manifest: the results' manifest.
        sizes: bytes of each file of the archive but this one, by its path in the archive.
        licence: address of the licence that the results are given under, if one is said.
    """
    name = manifest.study.name or "results"
    root: Entity = {
        "@id": _ROOT,
        "@type": "Dataset",
        "name": f"{name}: results of a Headway study",
        "description": manifest.study.question or "Measurements of HTTP over TCP and QUIC.",
        "datePublished": manifest.created or None,
        "hasPart": [{"@id": path} for path in sizes],
        "mentions": [{"@id": _CAMPAIGN}],
    }
    entities = [_descriptor(), root, *(_file(path, size) for path, size in sizes.items())]
    if licence:
        root["license"] = {"@id": licence}
        entities.append({"@id": licence, "@type": "CreativeWork", "name": licence})
    entities += [_software(manifest), _action(manifest, sizes)]
    document = {"@context": f"{_SPECIFICATION}/context", "@graph": entities}
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _descriptor() -> Entity:
    return {
        "@id": METADATA,
        "@type": "CreativeWork",
        "conformsTo": {"@id": _SPECIFICATION},
        "about": {"@id": _ROOT},
    }


def _file(path: str, size: int) -> Entity:
    values: Entity = {"@id": path, "@type": "File", "name": path, "contentSize": str(size)}
    if media_type := _TYPES.get(path.rpartition(".")[2].lower()):
        values["encodingFormat"] = media_type
    if path in _DESCRIBED:
        values["description"] = _DESCRIBED[path]
    return values


def _software(manifest: Manifest) -> Entity:
    return {
        "@id": _HEADWAY,
        "@type": "SoftwareApplication",
        "name": "Headway",
        "description": "A laboratory for HTTP over TCP and QUIC in virtual time.",
        "version": manifest.headway or "unknown",
    }


def _action(manifest: Manifest, sizes: Mapping[str, int]) -> Entity:
    return {
        "@id": _CAMPAIGN,
        "@type": "CreateAction",
        "name": manifest.command or "the campaign",
        "startTime": manifest.created or None,
        "instrument": {"@id": _HEADWAY},
        "object": {"@id": "study.json"},
        "result": [{"@id": path} for path in _RESULTS if path in sizes],
    }
