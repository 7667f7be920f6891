"""Videos: segments in several qualities, of which a player chooses one after the other."""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, WithJsonSchema, field_validator, model_validator

from headway.columns.column import Needs, Of
from headway.errors import WrongInputError
from headway.overriding import override
from headway.study.application import Application
from headway.study.base_model import wrong
from headway.study.film import Film
from headway.study.live import LIVE_RECORD_BYTES, MOST_CHUNKS, MOST_SEGMENT_BYTES, Live
from headway.study.mpd import film_at
from headway.study.offeredload import OfferedLoad
from headway.study.payload import Payload
from headway.study.units import Duration, Rate, Size
from headway.study.workloadpart import WorkloadPart

Resolution = Annotated[str, StringConstraints(pattern=r"^[1-9]\d{0,4}x[1-9]\d{0,4}$")]
"""As ``1280x720``."""

LADDERS = {
    "perna": tuple(
        Rate(bit_s)
        for bit_s in (
            *(254_320, 507_246, 759_798, 1_013_310, 1_254_758),
            *(1_883_700, 3_134_488, 4_952_892, 9_914_554, 14_931_538),
        )
    ),
    "kakhki": tuple(Rate(bit_s) for bit_s in (110_000, 600_000, 2_300_000, 18_000_000)),
}
"""Ladders by name. ``perna``: the ten rates of Perna and others 2022, of the video "Big Buck Bunny" at 30 frames
per second that dash.js 4.2.1 plays by default (``@bandwidth`` in its MPD). ``kakhki``: the qualities tiny, medium,
hd720 and hd2160 of Kakhki and others 2017; the paper has no rates, these are typical of H.264 at 144, 360, 720
and 2160 lines."""
RESOLUTIONS = {
    "perna": (
        *("320x180", "320x180", "480x270", "640x360", "640x360"),
        *("768x432", "1024x576", "1280x720", "1920x1080", "3840x2160"),
    ),
    "kakhki": ("256x144", "640x360", "1280x720", "3840x2160"),
}
"""Of the ladders' qualities; Perna's are of the same MPD."""
_OF_A_FILM = ("ladder", "segment", "duration", "audio", "resolutions")
"""Keys that an MPD takes the place of."""
_SECOND = 10**9
_LADDER_FORMS = {
    "anyOf": [
        {"enum": list(LADDERS)},
        {"type": "array", "items": Rate.json_schema(), "minItems": 1, "maxItems": 20},
    ]
}
"""JSON Schema of what a file may write: a name, or rates."""


class QualityRule(StrEnum):
    """Who chooses the quality of a segment; docs/workloads.md has what each does."""

    THROUGHPUT = "throughput"
    BOLA = "bola"
    MPC = "mpc"
    DYNAMIC = "dynamic"
    LOLP = "lol+"
    L2A = "l2a"
    LOWEST = "lowest"
    HIGHEST = "highest"


_LIVE_RULES = (QualityRule.LOLP, QualityRule.L2A)


class Video(WorkloadPart):
    """A video that a player plays: it fetches one segment after the other, in the quality that its rule chooses.

    Segments of a rung all have the same size: its rate times their length. Those of a user's own film have the sizes
    of their files.
    """

    kind: Literal["video"] = "video"
    mpd: str | None = Field(
        default=None,
        min_length=1,
        exclude_if=lambda value: value is None,
        description="an MPD with its files beside it, which are the video; the file's path from the study's directory",
    )
    ladder: Annotated[tuple[Rate, ...], WithJsonSchema(_LADDER_FORMS)] = Field(
        default=LADDERS["perna"],
        min_length=1,
        max_length=20,
        description="rates of the qualities, from the lowest up, or the name of a ladder: perna, kakhki",
    )
    segment: Duration = Field(default=Duration(4 * _SECOND), description="what a segment plays")
    duration: Duration = Field(
        default=Duration(240 * _SECOND), description="of the video, in whole segments"
    )
    audio: Rate | None = Field(
        default=None, description="rate of the sound, which has one quality; none without it"
    )
    rule: QualityRule = Field(default=QualityRule.BOLA, description="who chooses the quality")
    buffer: Duration = Field(
        default=Duration(30 * _SECOND),
        description="the most that is buffered; two segments or more",
    )
    start: Duration | None = Field(
        default=None,
        description="what is buffered before the picture moves, at the start and after a stall; a segment without it",
    )
    watch: Duration | None = Field(
        default=None,
        description="when the viewer leaves, from the session's start; twice the video's duration without it",
    )

    resolutions: tuple[Resolution, ...] | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="width and height of each quality, as 1280x720, for models of quality; known of named ladders",
    )
    cmcd: bool = Field(
        default=False,
        exclude_if=lambda value: not value,
        description="whether the player tells the server of its state with each request (CMCD, CTA-5004)",
    )

    live: Live | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="the source makes the video while it is played, and chunks of segments can be had as they are made",
    )

    @model_validator(mode="before")
    @classmethod
    def _at_the_edge(cls, value: Any) -> Any:
        """The rule of live video, if none is asked for."""
        if isinstance(value, dict) and value.get("live") is not None:
            return {"rule": QualityRule.THROUGHPUT, **value}
        return value

    @model_validator(mode="before")
    @classmethod
    def _of_its_mpd(cls, value: Any) -> Any:
        """What the MPD says, in the place of keys."""
        if not isinstance(value, dict) or not isinstance(value.get("mpd"), str):
            return value
        if text := next((key for key in _OF_A_FILM if key in value), None):
            raise wrong(text, "the MPD says that; leave it out")
        try:
            film = film_at(value["mpd"])
        except WrongInputError as error:
            raise wrong("mpd", str(error)) from None
        shown = tuple(rung.picture for rung in film.rungs)
        return value | {
            "ladder": tuple(rung.rate for rung in film.rungs),
            "segment": max(film.lengths),
            "duration": Duration(sum(film.lengths)),
            "resolutions": shown if all(shown) else None,
        }

    @field_validator("ladder", mode="before")
    @classmethod
    def _by_name(cls, value: object) -> object:
        if isinstance(value, str):
            if value not in LADDERS:
                raise ValueError(f"a list of rates, or one of {', '.join(LADDERS)}")
            return LADDERS[value]
        return value

    @model_validator(mode="after")
    def _can_be_played(self) -> Self:
        if any(above <= below for below, above in pairwise(self.ladder)):
            raise wrong("ladder", "the rates go up: each is above the one in front of it")
        if not self.segment:
            raise wrong("segment", "a segment plays for a time")
        if self.film is None and (not self.duration or self.duration % self.segment):
            raise wrong("duration", f"in whole segments: a multiple of {self.segment}")
        if self.buffer < 2 * self.segment:
            raise wrong("buffer", f"two segments or more: {Duration(2 * self.segment)}")
        if self.start is not None and self.start > self.buffer:
            raise wrong("start", f"no more than the buffer holds: {self.buffer}")
        if self.resolutions is not None and len(self.resolutions) != len(self.ladder):
            raise wrong("resolutions", f"one for each of the {len(self.ladder)} qualities")
        if self.film is None and min(self.sizes) < 1:
            raise wrong("ladder", f"in {self.segment} the lowest rate is less than a byte")
        if self.watch is not None and not self.watch:
            raise wrong("watch", "nobody watches for no time")
        if self.live is not None:
            self._check_live(self.live)
        elif self.rule in _LIVE_RULES:
            raise wrong("rule", f"{self.rule} is for live video: add live = {{}}")
        return self

    def _check_live(self, live: Live) -> None:
        if self.mpd is not None:
            raise wrong("live", "a video of your own is there as a whole: leave out mpd")
        if self.segment % live.chunk:
            raise wrong("live.chunk", f"whole chunks make a segment of {self.segment}")
        self._check_chunks(self.segment // live.chunk)
        if live.latency + self.segment > self.buffer:
            least = Duration(live.latency + self.segment)
            raise wrong("buffer", f"latency and a segment have room in it: {least} or more")
        if self.first_level > live.latency:
            raise wrong(
                "start", f"no more than the latency, {live.latency}: the source has no more"
            )
        if self.rule is QualityRule.BOLA:
            reason = "bola goes by buffers of 10 s and more, which live video never has; throughput and mpc are for it"
            raise wrong("rule", reason)

    def _check_chunks(self, chunks: int) -> None:
        """Refuse what headway-server, the source, does not make: it would answer with 404, or with all of a file at once."""
        least, most = min(self.sizes), max(self.sizes)
        if chunks > MOST_CHUNKS:
            raise wrong(
                "live.chunk", f"a segment has at most {MOST_CHUNKS:,} chunks, here {chunks:,}"
            )
        if least < chunks:
            reason = f"each of the {chunks:,} chunks has a byte or more; a segment of the lowest rate has {int(least):,}"
            raise wrong("live.chunk", reason)
        if most > MOST_SEGMENT_BYTES:
            reason = f"a segment of live video has at most {MOST_SEGMENT_BYTES:,} bytes; of the highest rate it has {int(most):,}"
            raise wrong("ladder", reason)

    @property
    def first_level(self) -> Duration:
        """What is buffered before the picture moves: of live video a chunk, of others a segment, if nothing is said."""
        if self.start is not None:
            return self.start
        return self.segment if self.live is None else self.live.chunk

    @property
    def film(self) -> Film | None:
        """A user's own; None if the ladder says all."""
        return None if self.mpd is None else film_at(self.mpd)

    @property
    def lengths(self) -> tuple[Duration, ...]:
        """What each segment plays."""
        film = self.film
        return film.lengths if film else (self.segment,) * (self.duration // self.segment)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Of a segment of each rung, where all of a rung have one size."""
        return tuple(Size(round(rate * self.segment / (8 * _SECOND))) for rate in self.ladder)

    def size(self, rung: int, number: int) -> int:
        """Of a segment of a rung, bytes; numbers are from 0."""
        film = self.film
        return film.rungs[rung].sizes[number] if film else int(self.sizes[rung])

    @property
    @override
    def tells_state(self) -> bool:
        return self.cmcd

    @property
    def pictures(self) -> tuple[str, ...] | None:
        """The resolution of each quality; None if it is not known."""
        known = (RESOLUTIONS[name] for name, ladder in LADDERS.items() if ladder == self.ladder)
        return self.resolutions or next(known, None)

    @property
    def is_h264(self) -> bool:
        """Whether its pictures are H.264, as far as is known; those that are made for it are."""
        rungs = self.film.rungs if self.film else ()
        return all(rung.codecs[:4] in ("", "avc1", "avc3") for rung in rungs)

    @property
    def leaves(self) -> Duration:
        """When the viewer leaves, from the session's start."""
        return Duration(2 * self.duration) if self.watch is None else self.watch

    @property
    @override
    def offered_load(self) -> OfferedLoad:
        return OfferedLoad(
            sends=Duration(min(self.duration, self.leaves)),
            leaves=self.leaves,
            rate=self.ladder[-1],
        )

    @property
    @override
    def payload(self) -> Payload:
        if self.live:
            source = Application("", streams=True, files=True, record_bytes=LIVE_RECORD_BYTES)
            return Payload(application=source)
        return Payload(bodies=() if self.mpd else self.sizes)

    @property
    @override
    def run_kinds(self) -> frozenset[Of]:
        return super().run_kinds | {Of.VIDEOS}

    @property
    @override
    def offers(self) -> frozenset[Needs]:
        return frozenset({Needs.LIVE} if self.live else ())

    def __str__(self) -> str:
        rungs = f"{len(self.ladder)} qualities to {self.ladder[-1]}"
        watched = f" watched for {self.watch}" if self.watch is not None else ""
        live = f", {self.live}" if self.live is not None else ""
        return f"video of {self.duration} in {rungs}{watched}, by {self.rule}{live}"
