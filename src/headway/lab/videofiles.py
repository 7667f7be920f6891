"""Files of the videos that servers have: made by ffmpeg when first asked for, or a user's own; kept in the cache."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from headway.cache import EntryDirectory, cache_directory, digest
from headway.errors import HeadwayError, WrongInputError
from headway.image.kept import kept
from headway.image.process import Runner, scrubbed_environment
from headway.image.treeprogram import tree_command
from headway.lab.links import copy_file
from headway.lab.ready import ready_image
from headway.planning.deployment import Deployment
from headway.study.film import Film
from headway.study.video import Video
from headway.videos import boxes, content, encode, manifest
from headway.videos.content import Content, VideoFiles, files_of, write_content

_LAYER = "ffmpeg"
_FILMS = 5
"""A user's own that are kept."""
_RECIPE = (boxes, content, encode, manifest)


def needed_videos(deployment: Deployment) -> tuple[VideoFiles, ...]:
    """The videos whose files the servers of a deployment must have."""
    result = (
        files_of(flow.asked.workload)
        for flow in deployment.flows
        if isinstance(flow.asked.workload, Video)
        and (flow.client.plays_files or flow.asked.workload.mpd)
    )
    return tuple(dict.fromkeys(result))


def video_files(video: VideoFiles) -> Path:
    """The directory with a video's files, made first if it is new.

    Raises:
        HeadwayError: as `made_video`, or no space is left for a user's own.
        WrongInputError: files of a user's own have changed meanwhile.
    """
    if isinstance(video, Content):
        return made_video(video)
    return kept("films", video.state_key, partial(_copy_film, video), _FILMS)


def _copy_film(film: Film, directory: Path) -> None:
    """Copy it, so that what is done to it while labs run does not matter."""
    for name, size in film.files:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        copy_file(film.file.parent / name, directory / name)
        if (directory / name).stat().st_size != size:
            raise WrongInputError(
                f"{name} has changed meanwhile; begin again", where=str(film.file)
            )


def made_video(video: Content, say: Callable[[str], None] = lambda _: None) -> Path:
    """The directory with a video's files.

    Args:
        video: which.
        say: is told what is made.

    Raises:
        HeadwayError: ffmpeg cannot be fetched or fails, or no space is left.
        WrongInputError: the lowest rate is too little for a picture.
    """
    recipe = (inspect.getsource(module) for module in _RECIPE)
    name = f"{video.place}-{digest(*recipe)}"
    store = EntryDirectory(cache_directory() / "videos")
    if (entry := store.entry(name)).is_dir():
        return entry
    root = ready_image(layers=[_LAYER]).root
    with store.locked(say) as lock:
        if entry.is_dir():
            return entry
        log = store.directory / "ffmpeg.log"
        log.unlink(missing_ok=True)
        runner = Runner(log, lock)

        def ffmpeg(arguments: Sequence[str]) -> None:
            runner.run(
                tree_command(root, "ffmpeg", *arguments),
                purpose="encoding a video",
                environment=scrubbed_environment(),
            )

        try:
            return store.make(name, lambda directory: write_content(video, directory, ffmpeg, say))
        except boxes.BoxError as error:
            raise HeadwayError(f"ffmpeg made no segment: {error} (log: {log})") from error
