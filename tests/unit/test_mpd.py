"""MPDs of users: what follows from them and their files, and what is refused in a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.errors import WrongInputError
from headway.study.film import Film
from headway.study.mpd import film_at
from tests.made_film import FILES, TEMPLATE, USUAL, mpd, pictures, quality, write_film


def film(directory: Path, text: str = USUAL, files: dict[str, int] | None = None) -> Film:
    return film_at(str(write_film(directory, text, files)))


def lengths_s(made: Film) -> list[float]:
    return [length.s for length in made.lengths]


def test_a_template_with_numbers(tmp_path: Path) -> None:
    made = film(tmp_path)
    assert made.names == ("low", "high")
    low, high = made.rungs
    assert (int(low.rate), int(high.rate)) == (8000, 16000)
    assert high.segments == ("high/1.m4s", "high/2.m4s", "high/3.m4s")
    assert (low.sizes, high.sizes) == ((2001, 2002, 2003), (4001, 4002, 4003))
    assert low.initialization == "low/init.mp4"
    assert lengths_s(made) == [2, 2, 2]
    assert (made.manifest, made.sounds) == ("film.mpd", ())
    assert {name for name, _ in made.files} == {"film.mpd", *FILES}


def test_the_last_segment_is_what_is_left(tmp_path: Path) -> None:
    text = USUAL.replace("PT6S", "PT0H0M5.25S")
    assert lengths_s(film(tmp_path, text)) == [2, 2, 1.25]


def test_a_timeline_with_times(tmp_path: Path) -> None:
    timeline = (
        '<SegmentTemplate timescale="90000" presentationTimeOffset="900" media="v/$RepresentationID$-$Time%07d$.m4s">'
        '<SegmentTimeline><S t="900" d="180000" r="1"/><S d="90000"/><S d="45000" r="-1"/></SegmentTimeline>'
        "</SegmentTemplate>"
    )
    text = mpd(pictures(quality("a", 8000), cut=timeline), "PT6S")
    times = (900, 180900, 360900, 450900, 495900)
    made = film(tmp_path, text, {f"v/a-{time:07}.m4s": 9 for time in times})
    assert lengths_s(made) == [2, 2, 1, 0.5, 0.5]
    assert made.rungs[0].segments[0] == "v/a-0000900.m4s"
    assert made.rungs[0].initialization is None


def test_a_list_and_base_urls(tmp_path: Path) -> None:
    def listed(*names: str) -> str:
        urls = "".join(f'<SegmentURL media="{name}"/>' for name in names)
        first = '<Initialization sourceURL="head.mp4"/>'
        return f'<SegmentList timescale="10" duration="40">{first}{urls}</SegmentList>'

    inner = [f"<BaseURL>{name}/</BaseURL>{listed('one.m4s', 'two.m4s')}" for name in "ab"]
    text = mpd(
        "<BaseURL>media/</BaseURL>"
        + pictures(quality("a", 8000, inner[0]), quality("b", 9000, inner[1]), cut=""),
        "PT8S",
    )
    files = {
        f"media/{one}/{name}": 5 for one in "ab" for name in ("head.mp4", "one.m4s", "two.m4s")
    }
    made = film(tmp_path, text, files)
    assert made.rungs[1].segments == ("media/b/one.m4s", "media/b/two.m4s")
    assert made.rungs[1].initialization == "media/b/head.mp4"
    assert lengths_s(made) == [4, 4]


def test_what_is_said_further_in_counts_and_bandwidth_is_a_name(tmp_path: Path) -> None:
    outer = '<SegmentTemplate duration="3" startNumber="5" media="x"/>'
    inner = '<SegmentTemplate media="$Bandwidth$/$Number%03d$$$.m4s"/>'
    text = mpd(pictures(quality("a", 8000, inner), cut=outer)).replace("$$.m4s", ".m4s")
    made = film(tmp_path, text, {"8000/005.m4s": 1, "8000/006.m4s": 2})
    assert made.rungs[0].sizes == (1, 2)


def test_sound_is_told_apart(tmp_path: Path) -> None:
    sound = (
        f'<AdaptationSet contentType="audio" lang="en">{TEMPLATE}<Representation id="sound" bandwidth="900"'
        ' mimeType="audio/mp4" codecs="mp4a.40.2"/></AdaptationSet>'
    )
    text = mpd(pictures(quality("low", 8000), quality("high", 16000)) + sound)
    files = FILES | {f"sound/{name}": 3 for name in ("init.mp4", "1.m4s", "2.m4s", "3.m4s")}
    made = film(tmp_path, text, files)
    assert (made.names, [one.name for one in made.sounds]) == (("low", "high"), ["sound"])


def test_equal_films_have_equal_keys_wherever_they_are(tmp_path: Path) -> None:
    one, other = film(tmp_path / "one"), film(tmp_path / "other")
    assert one.key == other.key
    assert film(tmp_path / "third", files=FILES | {"low/1.m4s": 77}).key != one.key
    before = other.state_key
    (tmp_path / "other/low/1.m4s").write_bytes(b"y" * FILES["low/1.m4s"])
    assert other.state_key != before, "the same sizes, but written anew"


def test_a_segment_that_is_not_there_is_refused(tmp_path: Path) -> None:
    file = write_film(tmp_path, USUAL.replace("PT6S", "PT8S"))
    with pytest.raises(WrongInputError, match="low/4") as refused:
        film_at(str(file))
    assert refused.value.where == str(file)


def test_an_empty_segment_and_an_mpd_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match=r"high/2.m4s, segment 2 of 'high', is empty"):
        film(tmp_path, files=FILES | {"high/2.m4s": 0})
    with pytest.raises(WrongInputError, match="there is no such MPD"):
        film_at(str(tmp_path / "none.mpd"))
