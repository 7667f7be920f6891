"""Files of the videos that servers have: made by ffmpeg when first asked for, and kept in the cache."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path

from headway.cache import EntryDirectory, cache_directory, digest
from headway.errors import HeadwayError
from headway.image.process import Runner, scrubbed_environment
from headway.image.treeprogram import tree_command
from headway.lab.ready import ready_image
from headway.planning.deployment import Deployment
from headway.study.video import Video
from headway.videos import boxes, content, encode, manifest
from headway.videos.content import Content, write_content

_LAYER = "ffmpeg"
_RECIPE = (boxes, content, encode, manifest)


def needed_videos(deployment: Deployment) -> tuple[Content, ...]:
    """The videos whose files the servers of a deployment must have."""
    found = (
        Content.of(flow.asked.workload)
        for flow in deployment.flows
        if flow.client.plays_files and isinstance(flow.asked.workload, Video)
    )
    return tuple(dict.fromkeys(found))


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
