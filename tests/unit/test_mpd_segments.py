"""Segments of MPDs, whose periods bound them: by hand, and against another parser's reading of drawn MPDs."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import strategies as st
from mpegdash.parser import MPEGDASHParser

from headway.errors import WrongInputError
from headway.study import mpd as mpd_module
from headway.study.film import Film
from headway.study.mpd import film_at
from headway.study.mpdaccount import read_mpd_account
from headway.study.mpdtimes import UnreadableMpdError, period_spans, seconds_of
from tests.unit.many import AMOUNTS, check_many

TWO_SECONDS = '<SegmentTemplate timescale="10" duration="20" media="$Number$.m4s"{}/>'


def mpd(cut: str, period: str = "", whole: str = 'mediaPresentationDuration="PT8S"') -> str:
    return (
        f'<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" {whole}><Period {period}>'
        '<AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="8000">'
        f"{cut}</Representation></AdaptationSet></Period></MPD>"
    )


def timeline(*elements: str, said: str = "", name: str = "$Number$") -> str:
    inner = "".join(f"<S {one}/>" for one in elements)
    return (
        f'<SegmentTemplate timescale="10" media="{name}.m4s" {said}>'
        f"<SegmentTimeline>{inner}</SegmentTimeline></SegmentTemplate>"
    )


def listed(said: str, count: int) -> str:
    urls = "".join(f'<SegmentURL media="{number}.m4s"/>' for number in range(1, count + 1))
    return f'<SegmentList timescale="10" {said}>{urls}</SegmentList>'


def played(directory: Path, text: str) -> tuple[list[str], list[float]]:
    """Files and seconds of the segments of an MPD beside which every file is that it may name."""
    for number in range(100):
        (directory / f"{number}.m4s").write_bytes(b"x")
    file = directory / "a b ü.mpd"
    file.write_text(text, encoding="utf-8")
    film = film_at(str(file))
    (track,) = film.rungs
    return [name.removesuffix(".m4s") for name in track.segments], [one.s for one in film.lengths]


@pytest.mark.parametrize(
    ("text", "names", "seconds"),
    [
        (mpd(TWO_SECONDS.format("")), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(TWO_SECONDS.format(""), 'start="PT4S"', 'mediaPresentationDuration="PT12S"'), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(TWO_SECONDS.format(""), 'start="PT1S"'), "1 2 3 4", [2, 2, 2, 1]),
        (mpd(TWO_SECONDS.format(""), 'duration="PT4S"'), "1 2", [2, 2]),
        (mpd(TWO_SECONDS.format(""), 'duration="PT40S"'), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(TWO_SECONDS.format(""), 'duration="PT4S"', ""), "1 2", [2, 2]),
        (mpd(TWO_SECONDS.format(' startNumber="0"')), "0 1 2 3", [2, 2, 2, 2]),
        (mpd(TWO_SECONDS.format(' startNumber="5" endNumber="6"')), "5 6", [2, 2]),
        (mpd(TWO_SECONDS.format(' startNumber="5" endNumber="6"'), whole=""), "5 6", [2, 2]),
        (mpd(TWO_SECONDS.format(' endNumber="99"')), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(TWO_SECONDS.format(' presentationTimeOffset="70"')), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(timeline('t="0" d="20" r="5"')), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(timeline('d="20" r="-1"')), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(timeline('d="30" r="-1"')), "1 2 3", [3, 3, 2]),
        (mpd(timeline('t="70" d="20" r="-1"', said='presentationTimeOffset="70"')), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(timeline('t="0" d="20" r="9"', said='presentationTimeOffset="50"')), "3 4 5 6 7", [1, 2, 2, 2, 1]),
        (mpd(timeline('t="0" d="20" r="1"', 't="40" d="10" r="-1"')), "1 2 3 4 5 6", [2, 2, 1, 1, 1, 1]),
        (mpd(timeline('t="0" d="20" r="-1"', 't="60" d="20"', 'd="20"')), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(timeline('t="0" d="20"', 't="60" d="20"')), "1 2", [2, 2]),
        (mpd(timeline('t="0" d="20" r="9"', said='startNumber="7" endNumber="8"')), "7 8", [2, 2]),
        (mpd(timeline('t="0" d="20" n="3"', 'd="20" r="1"')), "3 4 5", [2, 2, 2]),
        (mpd(timeline('t="5" d="20" r="1"', name="$Time$")), "5 25", [2, 2]),
        (mpd(timeline('t="0" d="20" r="999999999999999"')), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(timeline('t="0" d="20" r="1"'), whole=""), "1 2", [2, 2]),
        (mpd(timeline('t="60" d="20"', 't="80" d="20"')), "1", [2]),
        (mpd(listed('duration="20"', 4)), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(listed('duration="20"', 6)), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(listed('duration="20"', 3), whole=""), "1 2 3", [2, 2, 2]),
        (mpd(listed('duration="20"', 4), whole='mediaPresentationDuration="PT8.01S"'), "1 2 3 4", [2, 2, 2, 2]),
        (mpd(listed("", 1)), "1", [8]),
    ],
)  # fmt: skip
def test_what_lies_in_the_period_is_played(
    text: str, names: str, seconds: list[float], tmp_path: Path
) -> None:
    assert played(tmp_path, text) == (names.split(), seconds)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (mpd(TWO_SECONDS.format(""), 'start="PT9S"'), "period 1 begins at 9 s, after its end at 8 s"),
        (mpd(TWO_SECONDS.format(""), 'start="PT8S"'), "'v' has no segments"),
        (mpd(TWO_SECONDS.format(' endNumber="x"')), "endNumber is 'x', and not a whole number"),
        (mpd(timeline('d="20" r="-1"'), whole=""), "SegmentTimeline repeats without an end"),
        (mpd(timeline('d="20" r="x"')), "r of a SegmentTimeline is 'x', and not a whole number"),
        (mpd(timeline('d="20" k="2"')), r"sequences of segments \(k\)"),
        (mpd(timeline('d="1" r="-1"'), whole='mediaPresentationDuration="P99999D"'), "more than 100,000 segments"),
        (mpd(TWO_SECONDS.format(""), whole='mediaPresentationDuration="P99999D"'), "more than 100,000 segments"),
        (mpd(timeline('d="1" r="999999999999999"'), whole=""), "more than 100,000 segments"),
        (mpd(listed('duration="20"', 2)), "has 4 segments, and SegmentList names 2"),
        (mpd(listed("", 2)), "have neither a duration nor a SegmentTimeline"),
        (mpd("", 'xlink:href="a.xml"').replace("<Period", '<Period xmlns:xlink="http://www.w3.org/1999/xlink"'), "a period in another document"),
        ("#EXTM3U\n#EXT-X-VERSION:3\n", "a playlist of HLS, not an MPD; write an MPD"),
        ("", "an empty file, not an MPD"),
        ('{"log": {"version": "1.2", "creator": {}, "entries": []}}', "a HAR 1.2 file, not an MPD"),
    ],
)  # fmt: skip
def test_what_is_not_played_is_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(WrongInputError, match=message) as raised:
        played(tmp_path, text)
    assert "\n" not in str(raised.value) and len(raised.value.message) < 300


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for name, message in (
        ("d", "is a directory, not a file"),
        ("none", "there is no such MPD"),
        ("x" * 300, "cannot be read"),
    ):
        with pytest.raises(WrongInputError, match=message):
            film_at(str(tmp_path / name))


def test_an_mpd_in_utf_16(tmp_path: Path) -> None:
    played(tmp_path, mpd(TWO_SECONDS.format("")))
    file = tmp_path / "-utf16.mpd"
    file.write_text(
        '<?xml version="1.0" encoding="utf-16"?>' + mpd(TWO_SECONDS.format("")), encoding="utf-16"
    )
    assert len(film_at(str(file)).lengths) == 4


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT8S", 8), ("PT0H0M8.000S", 8), ("P0Y0M0DT0H0M8.000S", 8), ("P0Y0M0DT0H2M17.000S", 137), ("P1D", 86400),
        ("P1DT1H", 90000), ("PT1H1M", 3660), (" PT1.25S\n", "5/4"), ("-PT0S", 0), ("P0Y", 0), ("P0M", 0), ("PT5M", 300),
        ("PT100000H", 360_000_000),
    ],
)  # fmt: skip
def test_durations(text: str, seconds: int | str) -> None:
    assert seconds_of(text) == Fraction(seconds)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "is no duration") for text in ("", "P", "PT", "8", "8 s", "P1DT", "P1S", "PT1D", "P5H", "PT1S1M", "PT.5S", "PT1.S", "P1.5D", "PT-1S", "pt8s", "P٣D", "PT1e3S", "P" + "9" * 5000 + "D")),
        ("P1Y", "years or months"), ("P1M", "years or months"), ("P0Y2MT1S", "years or months"), ("-PT1S", "below zero"),
    ],
)  # fmt: skip
def test_what_is_no_duration(text: str, message: str) -> None:
    with pytest.raises(UnreadableMpdError, match=message) as raised:
        seconds_of(text)
    assert len(str(raised.value)) < 200


def test_periods_begin_where_the_one_before_ends() -> None:
    spans = period_spans(
        {"mediaPresentationDuration": "PT20S"},
        [{"duration": "PT5S"}, {"duration": "PT9S"}, {"start": "PT12S"}],
    )
    assert spans == ((0, 5), (5, 7), (12, 8))
    with pytest.raises(UnreadableMpdError, match="period 2 needs start"):
        period_spans({}, [{}, {}])


def test_the_account_of_what_cannot_be_played(tmp_path: Path) -> None:
    made = mpd(TWO_SECONDS.format("")).replace(
        "<MPD", '<!-- Created with Made 1.0 -->\n<MPD type="dynamic"'
    )
    (tmp_path / "1.m4s").write_bytes(b"12345")
    (tmp_path / "live.mpd").write_text(made)
    account = read_mpd_account(tmp_path / "live.mpd")
    assert (account.maker, account.is_live, account.periods, account.seconds) == (
        "Created with Made 1.0",
        True,
        1,
        8,
    )
    assert (account.segments, account.size_bytes, account.missing) == (4, 5, 3)
    assert "live video" in account.lacks


def read(file: Path) -> Film:
    """The film of an MPD that may have been written anew in the same moment."""
    return mpd_module._read.__wrapped__(str(file), 0)


def independent(file: Path) -> list[tuple[int, int, Fraction]]:
    """Numbers, start ticks and seconds of the segments, from another parser's objects, a tick at a time."""
    whole = MPEGDASHParser.parse(str(file))
    (period,) = whole.periods
    (representation,) = period.adaptation_sets[0].representations
    (template,) = representation.segment_templates
    start = _seconds(period.start) or Fraction(0)
    ends = [one for one in (_seconds(period.duration),) if one is not None]
    if (presentation := _seconds(whole.media_presentation_duration)) is not None:
        ends.append(presentation - start)
    end = min(ends) * template.timescale
    number = 1 if template.start_number is None else template.start_number
    last = math.inf if template.end_number is None else template.end_number
    begin = template.presentation_time_offset or 0
    made: list[tuple[int, int, Fraction]] = []
    if template.duration:
        starts = [
            (at, at + template.duration) for at in range(0, math.ceil(end), template.duration)
        ]
        begin = 0
    else:
        starts, at = [], 0
        for one in template.segment_timelines[0].Ss:
            at = at if one.t is None else one.t
            for _ in range((one.r or 0) + 1 if (one.r or 0) >= 0 else 10_000):
                if at >= begin + end and (one.r or 0) < 0:
                    break
                starts.append((at, at + one.d))
                at += one.d
    for first, until in starts:
        shown = min(Fraction(until), begin + end) - max(first, begin)
        if shown > 0 and number <= last:
            made.append((number, first, shown / template.timescale))
        number += 1
    return made


def _seconds(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text.removeprefix("PT").removesuffix("S"))


TICKS = st.integers(1, 40)
SAID = st.fixed_dictionaries(
    {},
    optional={
        "startNumber": st.integers(0, 5),
        "endNumber": st.integers(1, 12),
        "presentationTimeOffset": st.integers(0, 60),
    },
)
ELEMENT = st.fixed_dictionaries(
    {"d": TICKS}, optional={"r": st.integers(0, 6), "gap": st.integers(0, 9)}
)
TENTHS = st.integers(1, 200)


def drawn_mpd(
    spans: dict[str, int],
    said: dict[str, int],
    elements: list[dict[str, int]],
    last: int,
    duration: int,
) -> str:
    times = {name: f'"PT{tenths / 10}S"' for name, tenths in spans.items()}
    period = " ".join(f"{name}={times[name]}" for name in ("start", "duration") if name in times)
    whole = f"mediaPresentationDuration={times['end']}" if "end" in times else ""
    attributes = " ".join(f'{name}="{value}"' for name, value in said.items())
    if duration:
        cut = f'<SegmentTemplate timescale="10" duration="{duration}" media="$Number$.m4s" {attributes}/>'
        return mpd(cut, period, whole)
    at, written = 0, []
    for one in elements:
        start = f't="{at + one["gap"]}" ' if "gap" in one else ""
        at += one.get("gap", 0) + one["d"] * (one.get("r", 0) + 1)
        written.append(f'{start}d="{one["d"]}" r="{one.get("r", 0)}"')
    if last:
        written.append(f'd="{last}" r="-1"')
    return mpd(timeline(*written, said=attributes), period, whole)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_drawn_mpds_have_the_segments_that_another_parser_gives(
    amount: int, tmp_path: Path
) -> None:
    for number in range(1500):
        (tmp_path / f"{number}.m4s").write_bytes(b"x")

    def check(
        spans: dict[str, int],
        said: dict[str, int],
        elements: list[dict[str, int]],
        last: int,
        length: int,
    ) -> None:
        file = tmp_path / "drawn.mpd"
        file.write_text(drawn_mpd(spans, said, elements, last, length))
        begins, ends = spans.get("start", 0), spans.get("end")
        expected = independent(file) if ends is None or ends >= begins else []
        try:
            film = read(file)
        except WrongInputError as error:
            assert not expected, error
            return
        (track,) = film.rungs
        assert track.segments == tuple(f"{number}.m4s" for number, _, _ in expected)
        assert [one.ns for one in film.lengths] == [
            round(length * 10**9) for _, _, length in expected
        ]

    spans = st.fixed_dictionaries({"end": TENTHS}, optional={"start": TENTHS, "duration": TENTHS})
    unbounded = st.fixed_dictionaries({"duration": TENTHS}, optional={"start": TENTHS})
    check_many(
        amount, check, spans | unbounded, SAID,
        st.lists(ELEMENT, min_size=1, max_size=5), st.just(0) | TICKS, st.just(0) | TICKS,
    )  # fmt: skip


ODD = st.text(alphabet='<>/="?!-&;$%01aSdrtn \n\0é', max_size=40)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_odd_mpds_are_refused_in_words(amount: int, tmp_path: Path) -> None:
    pieces = mpd(
        timeline('t="0" d="20" r="3"', 'd="20"', said='startNumber="1"'), 'start="PT0S"'
    ).split('"')

    def check(places: list[int], odd: list[str], raw: bool) -> None:
        text = list(pieces)
        for place, one in zip(places, odd, strict=False):
            text[place] = one
        file = tmp_path / "odd.mpd"
        file.write_bytes(("".join(odd) if raw else '"'.join(text)).encode())
        for reader in (read, read_mpd_account):
            try:
                reader(file)
            except WrongInputError as error:
                assert len(str(error)) < 700 and "\n" not in str(error)

    places = st.lists(st.integers(0, len(pieces) - 1), min_size=1, max_size=4)
    check_many(amount, check, places, st.lists(ODD, min_size=1, max_size=4), st.booleans())
