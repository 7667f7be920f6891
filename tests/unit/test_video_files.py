"""Files of videos: fragments that say their own time, padded to exact sizes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from headway.errors import WrongInputError
from headway.study.units import Duration, Rate
from headway.videos.boxes import BoxError, Encoded, boxes, widened
from headway.videos.content import Content, check_content, write_content
from headway.videos.encode import audio_frames, picture_bytes, silence_bytes

SECOND = 10**9


def box(kind: bytes, content: bytes = b"") -> bytes:
    return struct.pack(">I4s", 8 + len(content), kind) + content


def fragment(time_version: int = 1, time: int = 0) -> bytes:
    said = box(b"tfdt", bytes([time_version, 0, 0, 0]) + struct.pack(">Q", time))
    head = box(b"moof", box(b"mfhd", bytes(8)) + box(b"traf", box(b"tfhd") + said))
    return head + box(b"mdat", b"picture")


def encoded(*fragments: bytes) -> bytes:
    described = box(b"moov", b"avcC\x01\x64\x00\x1f")
    parts = fragments or (fragment(),)
    return box(b"ftyp", b"iso5") + described + b"".join(parts) + box(b"mfra")


def ffmpeg(arguments: Sequence[str]) -> None:
    Path(arguments[-1]).write_bytes(encoded())


CONTENT = Content((Rate(8000), Rate(16000)), Duration(2 * SECOND), 3, Rate(4000))


def test_segments_have_their_number_their_time_and_the_size_of_their_rate(tmp_path: Path) -> None:
    write_content(CONTENT, tmp_path, ffmpeg)
    for name, size, ticks in (("video-0", 2000, 10_000), ("video-1", 4000, 10_000)):
        for number in (1, 2, 3):
            data = (tmp_path / name / f"{number}.m4s").read_bytes()
            assert len(data) == size
            assert [one.kind for one in boxes(data)] == [b"moof", b"mdat"]
            assert data[20:24] == struct.pack(">I", number)
            (place,) = (data.index(b"tfdt") + 8,)
            assert struct.unpack_from(">Q", data, place) == ((number - 1) * ticks,)
    assert not (tmp_path / ".scratch").exists()


CHUNK_TICKS = 2000
"""Of two frames, as all frames have a thousand ticks."""


def ffmpeg_of_chunks(arguments: Sequence[str]) -> None:
    """Writes four fragments, if it is asked for fragments that end half a frame before half a second."""
    assert arguments[arguments.index("-frag_duration") + 1] == "375000"
    times = range(0, 5 * CHUNK_TICKS, CHUNK_TICKS)
    Path(arguments[-1]).write_bytes(encoded(*(fragment(time=time) for time in times)))


def test_a_segment_of_live_video_has_a_fragment_for_each_chunk(tmp_path: Path) -> None:
    half = Duration(SECOND // 2)
    write_content(
        Content((Rate(8002),), Duration(2 * SECOND), 3, chunk=half), tmp_path, ffmpeg_of_chunks
    )
    data = (tmp_path / "video-0/3.m4s").read_bytes()
    found = list(boxes(data))
    assert [one.kind for one in found] == [b"moof", b"mdat"] * 4
    # headway-server's chunks of 2001 bytes end there, too.
    assert [one.end for one in found[1::2]] == [500, 1000, 1500, 2000]
    for place, moof in enumerate(found[::2]):
        (time,) = struct.unpack_from(">Q", data, data.index(b"tfdt", moof.start) + 8)
        assert time == (2 * 4 + place) * CHUNK_TICKS
        assert struct.unpack_from(">I", data, moof.start + 20) == (2 * 4 + place + 1,)
    root = ElementTree.parse(tmp_path / "video.mpd").getroot()
    assert (root.get("type"), root.get("availabilityStartTime")) == (
        "dynamic",
        "1970-01-01T00:00:00Z",
    )
    template = root.find(".//{urn:mpeg:dash:schema:mpd:2011}SegmentTemplate")
    assert template is not None
    assert template.get("availabilityTimeOffset") == "1.500000"
    assert template.get("availabilityTimeComplete") == "false"


def test_a_fragment_without_room_is_refused() -> None:
    one = fragment()
    assert widened(one, len(one)) == one
    with pytest.raises(BoxError, match="has no room"):
        widened(one, len(one) - 1)


def test_sound_has_whole_frames_and_is_no_longer_than_the_picture(tmp_path: Path) -> None:
    assert audio_frames(Duration(4 * SECOND)) == 188  # 192512 samples at 48 kHz, 4.0107 s
    write_content(CONTENT, tmp_path, ffmpeg)
    assert len(list((tmp_path / "audio").glob("*.m4s"))) == 3
    last = (281 - 2 * 94) * 1024  # of the 281 whole frames in 6 s
    assert (tmp_path / "audio/3.m4s").stat().st_size == round(4000 * last / 48000 / 8)
    assert (tmp_path / "audio/1.m4s").stat().st_size == round(4000 * 94 * 1024 / 48000 / 8)


def test_each_video_has_a_place_of_its_own() -> None:
    one, two, three = Rate(8000), Rate(16000), Rate(32000)
    made = [
        Content(ladder, Duration(seconds * SECOND), 3, audio, pictures)
        for ladder in ((one, two), (one, two, three))
        for seconds in (1, 2)
        for audio in (None, three, Rate(64000))
        for pictures in (None, ("256x144", "320x180", "640x360")[: len(ladder)])
    ]
    assert len({content.place for content in made}) == len(made) == 24


def test_the_mpd_lists_all_qualities(tmp_path: Path) -> None:
    write_content(CONTENT, tmp_path, ffmpeg)
    root = ElementTree.parse(tmp_path / "video.mpd").getroot()
    space = {"d": "urn:mpeg:dash:schema:mpd:2011"}
    assert root.get("mediaPresentationDuration") == "PT6.000000S"
    listed = root.findall(".//d:Representation", space)
    assert [(one.get("id"), one.get("bandwidth")) for one in listed] == [
        ("video-0", "8000"),
        ("video-1", "16000"),
        ("audio", "4000"),
    ]
    assert listed[0].get("codecs") == "avc1.64001f"


def test_a_rate_without_room_for_a_picture_is_refused(tmp_path: Path) -> None:
    small = Content((Rate(100),), Duration(SECOND), 1)
    with pytest.raises(WrongInputError, match=r"ladder: 100 bit/s is 12 bytes .* takes \d+"):
        write_content(small, tmp_path, ffmpeg)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (Content((Rate(100),), Duration(SECOND), 1), "ladder: 100 bit/s is 12 bytes for a segment, and a picture of 256x144"),
        (Content((Rate(10_000_000),), Duration(SECOND), 1, pictures=("853x480",)), "resolutions: 853x480: both are even"),
        (Content((Rate(10_000_000),), Duration(SECOND), 1, pictures=("99998x2",)), "resolutions: 99998x2: .* at most 16384"),
        (Content((Rate(10_000_000),), Duration(SECOND), 1, pictures=("16384x16384",)), "resolutions: .* area"),
        (Content((Rate(9000),), Duration(SECOND), 1, pictures=("1280x720",)), "ladder: 9 kbit/s is 1125 bytes"),
        (Content((Rate(10_000),), Duration(2 * SECOND), 2, Rate(2000)), "audio: 2 kbit/s is 501 bytes for a segment, and sound"),
        (Content((Rate(10_000_000_000),), Duration(4 * SECOND), 1), "ladder: .* which has at most 4,294,967,295"),
        (Content((Rate(10_000),), Duration(2 * SECOND), 2, Rate(10**11)), "audio: .* which has at most"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_refused_by_its_key(content: Content, message: str) -> None:
    with pytest.raises(WrongInputError, match=f"^{message}"):
        check_content(content)


@pytest.mark.parametrize(
    ("size", "seconds", "measured"),
    [
        ("2x2", 1, 815), ("16x16", 10, 1537), ("256x144", 4, 1172), ("640x360", 10, 2057), ("1280x720", 10, 3108),
        ("3840x2160", 1, 3275), ("3840x2160", 10, 14257), ("7680x4320", 4, 24319), ("8192x4320", 1, 11178),
    ],
)  # fmt: skip
def test_a_picture_has_room_in_what_is_reckoned_for_it(
    size: str, seconds: int, measured: int
) -> None:
    """What ffmpeg made of these, in bytes; that of the image does the same."""
    assert measured <= picture_bytes(size, Duration(seconds * SECOND)) <= 1.2 * measured


def test_silence_has_room_in_what_is_reckoned_for_it() -> None:
    measured = {1: 120, 5: 144, 47: 396, 188: 1242, 469: 2928}
    assert {frames: silence_bytes(frames) for frames in measured} == measured


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (box(b"ftyp") + box(b"moov") + box(b"mdat"), "there are 0 of 1 boxes moof"),
        (b"\0\0\0\x10moov", "does not fit"),
        (b"\0\0\0", "are no box"),
    ],
)
def test_what_is_no_fragment_is_named(data: bytes, message: str) -> None:
    with pytest.raises(BoxError, match=message):
        Encoded.of(data)


def test_short_times_are_refused() -> None:
    with pytest.raises(BoxError, match="less than 64 bits"):
        list(Encoded.of(encoded(fragment(0))).segment(1, 0))
