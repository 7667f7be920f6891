"""Revisits: responses whose bodies others have, in any of the files that are named together.

Crawlers split a crawl into files, and records refer across them (ISO 28500, sections 5.11 to 5.13 and 6.7).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headway.sites.captured import Captured, Original, RecordedFile, Revisit, Told
from headway.sites.digests import digest_key, digest_of, same_digest
from headway.sites.urls import as_asked

_LONGEST_CHAIN = 20
"""Of revisits that refer to revisits."""
_KILOBYTE = 1000


def resolved(files: Sequence[RecordedFile]) -> tuple[RecordedFile, ...]:
    """Files whose revisits have the bodies that they refer to, with an account of them.

    Args:
        files: that belong together.
    """
    originals = _Originals([original for file in files for original in file.originals])
    where = "this file" if len(files) == 1 else "these files"
    return tuple(
        replace(
            file,
            captured=tuple(
                captured
                if captured.revisit is None
                else _resolved(captured, captured.revisit, originals, where)
                for captured in file.captured
            ),
            notes=(*file.notes, *_account(file)),
        )
        for file in files
    )


def _account(file: RecordedFile) -> Iterator[str]:
    """How much of a file's responses was fetched, if some were not."""
    fetched = [captured for captured in file.captured if captured.revisit is None]
    if revisits := len(file.captured) - len(fetched):
        size_kb = sum(len(captured.body or b"") for captured in fetched) / _KILOBYTE
        yield (
            f"responses that were fetched: {len(fetched):,}, {size_kb:,.1f} kB; "
            f"revisits, with the content of another response: {revisits:,}"
        )


def _resolved(revisit: Captured, refers: Revisit, originals: _Originals, where: str) -> Captured:
    """A response with the body of the one that it refers to, or without one."""
    original = originals.find(revisit, refers)
    if original is None:
        named = refers.url if refers.url and refers.url != revisit.url else "another record"
        lost = f"it is the same as that of {named}, which is not in {where}"
        return replace(revisit, status=revisit.status or 200, told=Told(lost=lost))
    if revisit.status and not refers.is_unchanged:
        return replace(revisit, body=original.body, told=original.told)
    return replace(
        revisit,
        status=original.status,
        headers=original.headers,
        body=original.body,
        told=original.told,
    )


class _Originals:
    """What revisits may refer to, by record, URL and digest; the first of several is taken."""

    def __init__(self, originals: Sequence[Original]) -> None:
        self._responses = [original for original in originals if original.captured.revisit is None]
        self._by_record: dict[str, Original] = {}
        self._by_url: dict[str, list[Original]] = {}
        self._by_digest: dict[object, Original] = {}
        self._computed: set[str] = set()
        for original in originals:
            if original.record:
                self._by_record.setdefault(original.record, original)
        for original in self._responses:
            self._by_url.setdefault(_normal(original.captured.url), []).append(original)
            if original.digest:
                self._by_digest.setdefault(digest_key(original.digest), original)

    def find(self, revisit: Captured, refers: Revisit) -> Captured | None:
        """The response with the body; None if it is not there.

        Args:
            revisit: the response without one.
            refers: what it says of the other one.
        """
        for _ in range(_LONGEST_CHAIN):
            original = next(self._candidates(revisit, refers), None)
            if original is None or original.captured.revisit is None:
                return original.captured if original else None
            revisit, refers = original.captured, original.captured.revisit
        return None

    def _candidates(self, revisit: Captured, refers: Revisit) -> Iterator[Original]:
        by_record = self._by_record.get(refers.record)
        # Programs differ in what they take a digest of, so that a reference to a record is worth as much.
        if by_record and by_record.captured is not revisit and self._may_be(by_record, refers):
            yield by_record
        for url in (refers.url, "" if refers.record else revisit.url):
            of_url = [
                original
                for original in self._by_url.get(_normal(url), ())
                if self._may_be(original, refers)
            ]
            yield from (original for original in of_url if _is_of(original, refers.instant_s))
            # A revisit that names neither a record nor a digest is of the same URL.
            if url == refers.url or not (refers.digest or refers.url):
                yield from of_url
        yield from self._of_digest(refers.digest)

    def _may_be(self, original: Original, refers: Revisit) -> bool:
        """Whether digests do not say that it is another one."""
        if not (original.digest and refers.digest):
            return True
        return same_digest(original.digest, refers.digest) is not False

    def _of_digest(self, digest: str) -> Iterator[Original]:
        if not digest:
            return
        key = digest_key(digest)
        algorithm = digest.partition(":")[0]
        if key not in self._by_digest and algorithm not in self._computed:
            self._computed.add(algorithm)
            for original in self._responses:
                if not original.digest and (
                    own := digest_of(original.captured.body or b"", digest)
                ):
                    self._by_digest.setdefault(own, original)
        if key in self._by_digest:
            yield self._by_digest[key]


def _is_of(original: Original, instant_s: float | None) -> bool:
    return instant_s is not None and original.captured.began_s == instant_s


def _normal(url: str) -> str:
    return (as_asked(url) or url) if url else ""
