"""Things that are made at the same time, so that downloads, compilers and archives fill all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from headway.errors import HeadwayError


def together(
    jobs: Sequence[Callable[[], None]], end: Callable[[], None], say: Callable[[str], None]
) -> None:
    """Do all jobs at once, each in a thread; if one fails, the others still come to their end.

    Args:
        jobs: what to do.
        end: ends what the jobs are running; called if this is interrupted, or a job breaks.
        say: is told at once of a job that fails while others go on.

    Raises:
        HeadwayError: a job failed: the first one's error.
    """
    failed: list[HeadwayError] = []
    with ThreadPoolExecutor(max(len(jobs), 1)) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            for done in as_completed(futures):
                if error := _failure(done):
                    failed.append(error)
                    if not all(future.done() for future in futures):
                        say(f"{error}; the rest goes on, and need not be made again")
        except BaseException:
            end()
            raise
    if failed:
        raise failed[0]


def _failure(done: Future[None]) -> HeadwayError | None:
    """What a job failed with; raises what else it raised."""
    error = done.exception()
    if error is None or isinstance(error, HeadwayError):
        return error
    raise error
