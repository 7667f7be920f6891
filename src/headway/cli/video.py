"""`headway video`: videos as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.group import CommandGroup, OneCommand
from headway.errors import WrongInputError, counted

if TYPE_CHECKING:
    from headway.study.video import Video

app = typer.Typer(
    cls=CommandGroup,
    help="Write videos as files, for players in browsers.",
    add_completion=False,
    rich_markup_mode=None,
)
_PRESETS = {
    "perna": {"segment": "4 s", "duration": "636 s", "audio": "67071 bit/s"},
    "kakhki": {"segment": "4 s", "duration": "3600 s"},
}
"""Of each ladder with a name, what else the video has that was measured with it."""


@app.callback()
def _group() -> None:
    """Stay a group of commands, though there is only one."""


@app.command("make", cls=OneCommand)
def make_command(
    ladder: Annotated[
        list[str],
        typer.Argument(
            help="perna, kakhki, or rates of the qualities from the lowest up, such as '1 Mbit/s' '4 Mbit/s'.",
            metavar="LADDER",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Directory to write; it must not exist.")
    ],
    segment: Annotated[str | None, typer.Option(help="What a segment plays; 4 s.")] = None,
    duration: Annotated[
        str | None, typer.Option(help="Of the video; the preset's, or 240 s.")
    ] = None,
    audio: Annotated[
        str | None, typer.Option(help="Rate of the sound; the preset's, or no sound.")
    ] = None,
    chunk: Annotated[
        str | None,
        typer.Option(
            help="What a chunk of a segment plays: low-latency CMAF, in a dynamic MPD and without sound."
        ),
    ] = None,
) -> None:
    """Write a video: an MPD, and segments of exactly the sizes that the rates say."""
    # Reading a study and finding an image take a moment, which help and completion need not wait for.
    from headway.lab.links import copy_all
    from headway.lab.videofiles import made_video
    from headway.videos.content import Content, check_content

    if out.exists():
        raise WrongInputError("is there already; name another directory", where=str(out))
    asked = {"segment": segment, "duration": duration, "audio": audio}
    content = Content.of(_video(ladder, asked, chunk))
    check_content(content)
    made = made_video(content, typer.echo)
    out.parent.mkdir(parents=True, exist_ok=True)
    # Whoever edits these files is not to change the cache's.
    copy_all(made, out)
    segments, rungs = counted(content.count, "segment"), len(content.ladder)
    typer.echo(f"{out}/video.mpd: {segments} in {rungs} {'quality' if rungs == 1 else 'qualities'}")


def _video(ladder: list[str], asked: dict[str, str | None], chunk: str | None) -> Video:
    from pydantic import ValidationError

    from headway.study.units import Duration, UnitError
    from headway.study.video import LADDERS, Video

    name = ladder[0] if len(ladder) == 1 and ladder[0] in LADDERS else ""
    keys = {**_PRESETS.get(name, {}), **{key: text for key, text in asked.items() if text}}
    if chunk is not None and asked["audio"]:
        raise WrongInputError("a video in chunks has no sound here; leave it out", where="audio")
    try:
        # Files have no buffer, so that of the player is what any segment fits into.
        keys["buffer"] = str(Duration(2 * Duration.parse(keys.get("segment", "4 s"))))
    except UnitError as error:
        raise WrongInputError(str(error), where="segment") from None
    live = {}
    if chunk is not None:
        keys.pop("audio", None)
        # Nor a latency.
        live = {"live": {"chunk": chunk, "latency": chunk}}
    try:
        return Video.model_validate({"ladder": name or ladder, **keys, **live})
    except ValidationError as error:
        first = error.errors()[0]
        place = first.get("ctx", {}).get("key") or str(
            first["loc"][0] if first["loc"] else "ladder"
        )
        # Of live video, this command has the chunk alone.
        where = "chunk" if place.startswith("live") else place
        raise WrongInputError(first["msg"], where=where) from None
