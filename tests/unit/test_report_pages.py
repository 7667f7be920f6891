"""Page loads in the report: waterfalls, filmstrips, visual progress, and the table of metrics."""

import io
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image

from headway.analysis import analyse
from headway.instruments.waterfalls.drawing import KINDS, kind_of, waterfall_rows
from headway.instruments.waterfalls.figures.filmstrip import KIND as FILMSTRIP
from headway.instruments.waterfalls.figures.progress import KIND as PROGRESS
from headway.instruments.waterfalls.figures.waterfall import KIND as WATERFALL
from headway.instruments.waterfalls.film import film
from headway.instruments.waterfalls.thumbnails import thumbnails
from headway.pages.load import Chunk, PageLoad, Timing
from headway.pages.resource import RequestPhase
from headway.pages.visual import visual_progress
from headway.report import write_report
from headway.report.chosen import ChosenRun, chosen_groups, runs_said
from headway.report.evidence import PageStory, RunEvidence, evidence_of
from headway.report.figures import Picture, Subject
from headway.report.figures.heatmap import KIND as HEATMAP
from headway.report.figures.kind import Kind
from headway.report.raster import png_file
from headway.report.sheet import Bitmap, Dots, Line, Sheet
from headway.report.styles import study_styles
from headway.report.svg import svg_element
from headway.report.tables.pages import pages_table
from headway.study.experiment import Experiment
from tests.unit import made_results as made
from tests.unit.drawn import texts, within
from tests.unit.made_frames import save_frames, striped
from tests.unit.made_loads import ORIGIN_MS, Recording, load, resource, told

RUN = ChosenRun("cell-h2-001", "h2", "", "1 s", "seed 1")
PAGE_MANIFEST = made.experiments({"name": "", "baseline": "h2", "metrics": ["plt_s"]})


def page_rows(**times: float) -> list[dict[str, Any]]:
    """Three loads of each contender, whose times are this and around it."""
    return [
        made.run(
            name,
            seed,
            time + shift,
            plt_s=time + shift,
            onload_s=time + shift,
            fcp_s=time / 2,
            workload="page made",
            size_bytes=None,
        )
        for name, time in times.items()
        for seed, shift in enumerate((-0.01, 0.0, 0.01), start=1)
    ]


def story(load: PageLoad, contender: str = "h2", run_id: str = "r") -> PageStory:
    run = ChosenRun(run_id, contender, "", "1 s", "seed 1")
    return PageStory(run, load, visual_progress(load.frames))


def drawn(kind: Kind, *pages: PageStory) -> Picture:
    picture = kind.draw(subject(*pages))
    assert picture is not None
    for sheet in (picture.wide, picture.narrow):
        assert sheet is not None and within(sheet)
    return picture


def subject(*pages: PageStory) -> Subject:
    analysis = analyse(made.results(page_rows(h2=1.0, h3=2.0), PAGE_MANIFEST))
    return Subject(analysis, study_styles([analysis]), evidence=RunEvidence(pages=pages))


def bitmaps(sheet: Sheet) -> list[Bitmap]:
    return [shape for shape in sheet.shapes if isinstance(shape, Bitmap)]


def painted(directory: Path, *shown: tuple[float, int]) -> PageLoad:
    """A load whose page has so many of its 20 stripes at these times."""
    directory.mkdir(parents=True, exist_ok=True)
    return load(frames=save_frames(directory, [(at, striped(count)) for at, count in shown]))


def write_load(results: Path, run_id: str, failed: str | None = None) -> None:
    """What a run leaves that loaded a page of two objects, which was painted in two steps."""
    directory = results / "artifacts" / run_id
    (directory / "frames").mkdir(parents=True)
    recording = Recording()
    for request, url in (("1", "https://a.test/"), ("2", "https://a.test/x.png")):
        recording.sent(request, url, 10.0 * int(request))
        recording.received(request, 100.0)
        recording.data(request, 150.0, 1000, 1000)
        recording.finished(request, 200.0, 1100)
    recording.write(directory, {**told(loadEventStart=210.0), "error": failed})
    frames = [(100, 10), (180, 20)]
    lines = [
        {"at_s": (ORIGIN_MS + at_ms) / 1e3, "file": f"frames/{painted}.png"}
        for at_ms, painted in frames
    ]
    for _, stripes in frames:
        striped(stripes).save(directory / "frames" / f"{stripes}.png")
    (directory / "frames.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_rows_say_what_came_over_which_connection() -> None:
    page = load(
        resource("https://a.test/", mime_type="text/html", connection_id=31),
        resource("https://b.test/x/y.js?v=1", protocol="http/1.1", connection_id=70),
        resource("https://a.test/gone.css", status=404, connection_id=31),
        resource(
            "https://a.test/z.png", error="net::ERR_FAILED", protocol=None, connection_id=None
        ),
        resource("https://a.test/kept.png", from_cache=True),
    )
    rows = waterfall_rows(page, 10)
    assert [row.name for row in rows] == [
        "a.test",
        "b.test/y.js?v=1",
        "404: gone.css",
        "failed: z.png",
        "kept.png",
    ]
    over = [("h2", "1"), ("h1", "2"), ("h2", "1"), ("", ""), ("cache", "")]
    assert [(row.versions, row.connections) for row in rows] == over
    assert [row.failed for row in rows] == [False, False, True, True, False]


@pytest.mark.parametrize(
    ("media_type", "kind"),
    [
        ("text/html; charset=utf-8", "document"),
        ("text/css", "stylesheet"),
        ("text/javascript", "script"),
        ("image/svg+xml", "image"),
        ("font/woff2", "font"),
        ("video/mp4", "media"),
        ("application/json", "data"),
        ("application/octet-stream", "other"),
        ("", "other"),
    ],
)
def test_kinds_of_resources(media_type: str, kind: str) -> None:
    assert kind_of(resource(mime_type=media_type)) == kind
    assert kind in KINDS


@pytest.mark.parametrize("most", [1, 2, 7, 60, 299, 300, 400])
def test_long_loads_have_a_bounded_number_of_rows_and_every_resource(most: int) -> None:
    resources = [
        resource(
            f"https://a.test/{number}",
            priority="High" if number % 50 == 0 else "Low",
            mime_type="image/png",
            connection_id=number % 6,
        )
        for number in range(300)
    ]
    rows = waterfall_rows(load(*resources), most)
    assert len(rows) == min(most, 300)
    assert list(itertools.chain.from_iterable(row.resources for row in rows)) == resources
    if most == 60:
        alone = {row.resources[0].url for row in rows if not row.folded}
        assert {f"https://a.test/{number}" for number in range(0, 300, 50)} <= alone
        assert all(len(row.resources) < 20 for row in rows)
        assert any(row.name.startswith("+ ") and row.name.endswith(" images") for row in rows)


def test_waterfalls_show_data_where_they_came() -> None:
    page = load(
        resource(
            mime_type="image/png",
            response_start_ms=400.0,
            ended_ms=900.0,
            chunks=(Chunk(500.0, 500), Chunk(900.0, 500)),
            timing=Timing(connect=RequestPhase(0.0, 100.0), send=RequestPhase(100.0, 101.0)),
        )
    )
    picture = drawn(WATERFALL, story(page))
    (data,) = [
        shape
        for shape in picture.wide.shapes
        if isinstance(shape, Line) and shape.colour is KINDS["image"]
    ]
    ends = [run[1][0] for run in data.runs]
    # The axis goes to the load event at 1000 ms, and both chunks are 400 ms apart.
    said = texts(picture.wide)
    assert {"onLoad", "FCP", "LCP", "DCL", "response", "connecting", "1 kB", "h2", "1"} <= set(said)
    heads = ["resource", "HTTP", "conn.", "request", "content"]
    assert [text for text in said if text in heads] == heads
    assert "0.000 s" in said
    onload = max(
        shape.runs[0][0][0]
        for shape in picture.wide.shapes
        if isinstance(shape, Line) and shape.dash
    )
    assert ends[1] - ends[0] == pytest.approx(0.8 * (onload - ends[0]))


def test_waterfalls_of_300_objects_are_small_figures() -> None:
    chunks = tuple(Chunk(100.0 + step, 1400) for step in range(800))
    page = load(*(resource(f"https://a.test/{n}", chunks=chunks) for n in range(300)))
    picture = drawn(WATERFALL, story(page), story(page, "h3"))
    assert "Rows that begin with +" in picture.caption
    for sheet in (picture.wide, picture.narrow):
        assert sheet is not None and sheet.height < 3400
        assert len(svg_element(sheet, "")) < 300_000


def test_a_load_that_got_nothing_has_no_waterfall() -> None:
    assert WATERFALL.draw(subject(story(load(error="it crashed")))) is None


def test_waterfalls_say_what_came_beside_what_blocked() -> None:
    chunks = (Chunk(150.0, 310_000), Chunk(900.0, 446_000))
    font = resource("https://a.test/shop.ttf", ended_ms=900.0, body_bytes=756_000, chunks=chunks)
    early = resource("https://a.test/early.png", started_ms=0.0, ended_ms=90.0, body_bytes=5_000)
    script = resource(
        "https://a.test/block.js", started_ms=100.0, ended_ms=300.0, render_blocking="Blocking"
    )
    shown = load(resource("https://a.test/", ended_ms=80.0), early, font, script)
    sheet = drawn(WATERFALL, story(shown)).wide
    assert [text for text in texts(sheet) if "meanwhile" in text] == ["310 kB meanwhile"]
    assert not [
        text
        for text in texts(drawn(WATERFALL, story(load(resource(), font))).wide)
        if "meanwhile" in text
    ]


def test_filmstrips_show_what_changed_and_when(tmp_path: Path) -> None:
    """Equal frames are one; the first paint of each load is there, and what it was when it was complete."""
    early = painted(tmp_path / "a", (300, 10), (320, 10), (400, 10), (700, 20), (900, 20))
    late = painted(tmp_path / "b", (500, 5), (1000, 20))
    sheet = drawn(FILMSTRIP, story(early), story(late, "h3")).wide
    said = texts(sheet)
    assert [text for text in said if text.endswith("%")] == ["50 %", "100 %", "25 %", "100 %"]
    times = [text for text in said if text in ("0.300 s", "0.700 s", "0.500 s", "1.00 s")]
    assert times == ["0.300 s", "0.700 s", "0.500 s", "1.00 s"]
    assert said.count("FCP") == said.count("complete") == 2
    assert len(bitmaps(sheet)) == 4
    assert len({bitmap.top for bitmap in bitmaps(sheet)}) == 2
    painted_sheet = Image.open(io.BytesIO(png_file(sheet)))
    assert painted_sheet.size == (2 * sheet.width, round(2 * sheet.height))


def test_three_loads_stand_below_each_other_on_one_time_axis(tmp_path: Path) -> None:
    ends = {"h1": 1000, "h2": 2000, "h3": 4000}
    shown = [
        story(painted(tmp_path / name, (end / 4, 10), (end, 20)), name)
        for name, end in ends.items()
    ]
    sheet = drawn(FILMSTRIP, *shown).wide
    dots = [shape.points for shape in sheet.shapes if isinstance(shape, Dots)]
    lasts = [points[-1][0] - points[0][0] for points in dots]
    assert lasts[1] == pytest.approx(2 * lasts[0]) and lasts[2] == pytest.approx(4 * lasts[0])


def test_of_many_changes_the_largest_are_shown(tmp_path: Path) -> None:
    """What changes in quick succession is one change; what the page showed at the FCP is there, however small."""
    steps = [
        (100, 1),
        (320, 2),
        (600, 12),
        (605, 13),
        (610, 14),
        *((1000 + 100 * n, 14 + n // 2) for n in range(8)),
    ]
    page = painted(tmp_path, *steps, (2000, 20))
    scenes = film(story(page), 4)
    assert [(scene.at_ms, scene.tag) for scene in scenes] == [
        (100, ""),
        (320, "FCP"),
        (610, ""),
        (2000, "complete"),
    ]
    assert len(film(story(page), 8)) <= 8
    assert [scene.at_ms for scene in film(story(page), 1)] == [100, 320, 2000]


def test_the_same_run_twice_is_told_apart(tmp_path: Path) -> None:
    page = painted(tmp_path, (300, 10), (700, 20))
    said = texts(drawn(FILMSTRIP, story(page, run_id="r1"), story(page, run_id="r2")).wide)
    assert {"h2, r1", "h2, r2"} <= set(said)


def test_progress_is_a_step_curve_with_the_speed_index(tmp_path: Path) -> None:
    early = painted(tmp_path / "a", (200, 10), (400, 20))
    late = painted(tmp_path / "b", (500, 5), (1000, 20))
    of = subject(story(early), story(late, "h3"))
    sheet = drawn(PROGRESS, *of.evidence.pages).wide
    # 200 ms of nothing and 200 ms of half; 500 ms of nothing and 500 ms of a quarter.
    assert {"h2: Speed Index 0.300 s", "h3: Speed Index 0.875 s"} <= set(texts(sheet))
    curves = [s.runs[0] for s in sheet.shapes if isinstance(s, Line) and s.width == 2]
    assert len(curves) == 2
    heights = [sorted({y for _, y in curve}, reverse=True) for curve in curves]
    whole = heights[0][0] - heights[0][-1]
    assert heights[0][0] - heights[0][1] == pytest.approx(whole / 2)
    assert heights[1][0] - heights[1][1] == pytest.approx(whole / 4)


def test_loads_without_frames_have_a_waterfall_only() -> None:
    of = subject(story(load(resource())))
    assert FILMSTRIP.draw(of) is None
    assert PROGRESS.draw(of) is None
    assert drawn(WATERFALL, *of.evidence.pages)


def test_thumbnails_keep_to_their_bytes(tmp_path: Path) -> None:
    files = []
    for number in range(3):
        noise = Image.effect_noise((600, 400), 80 + number).convert("RGB")
        files.append(tmp_path / f"{number}.png")
        noise.save(files[-1])
    free, tight = thumbnails(files, 150, 10**6), thumbnails(files, 150, 15_000)
    assert sum(map(len, tight.values())) <= 15_000 < sum(map(len, free.values()))
    assert {Image.open(io.BytesIO(data)).size for data in tight.values()} == {(150, 100)}
    (tmp_path / "0.png").write_bytes(b"no picture")
    assert files[0] not in thumbnails(files, 150, 10**6)


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    file = tmp_path / "clear.png"
    Image.new("RGBA", (40, 40), (0, 0, 0, 0)).save(file)
    (data,) = thumbnails([file], 20, 10**6).values()
    assert Image.open(io.BytesIO(data)).getpixel((10, 10)) == (255, 255, 255)


def test_bitmaps_are_part_of_the_page_and_painted_upright() -> None:
    picture = Image.new("RGB", (10, 10), "red")
    picture.paste("blue", (0, 5, 10, 10))
    stream = io.BytesIO()
    picture.save(stream, "png")
    sheet = Sheet(40, 40)
    sheet.bitmap(10, 10, 20, 20, stream.getvalue())
    element = svg_element(sheet, "a picture")
    assert 'href="data:image/png;base64,' in element
    image = Image.open(io.BytesIO(png_file(sheet)))
    assert image.getpixel((40, 30)) == (255, 0, 0)
    assert image.getpixel((40, 50)) == (0, 0, 255)
    assert image.getpixel((10, 10)) == (255, 255, 255)


def test_reports_of_pages(tmp_path: Path) -> None:
    rows = page_rows(h2=1.0, h3=0.5)
    made.saved(tmp_path, rows, PAGE_MANIFEST)
    for name in ("cell-h2-2", "cell-h3-2"):
        write_load(tmp_path, name)
    text = write_report(tmp_path).read_text(encoding="utf-8")
    report = tmp_path / "report"
    assert {"plt_s-waterfall.svg", "plt_s-filmstrip.svg", "plt_s-progress.png"} <= {
        file.name for file in report.iterdir()
    }
    assert "Runs: cell-h2-2, cell-h3-2 (seed 2)." in text
    assert "data:image/jpeg;base64," in text
    table = pl.read_csv(report / "page-metrics.csv")
    assert table["contender"].to_list() == ["h2", "h3"]
    assert table["plt_s"].to_list() == [1.0, 0.5]
    assert table["n"].to_list() == [3, 3]
    again = write_report(tmp_path).read_text(encoding="utf-8")
    assert again == text


def test_named_runs_are_shown_also_failed_ones(tmp_path: Path) -> None:
    rows = [*page_rows(h2=1.0, h3=0.5), made.run("h2", 4, None, workload="page made")]
    made.saved(tmp_path, rows, PAGE_MANIFEST)
    write_load(tmp_path, "cell-h2-4", failed="the page crashed")
    write_report(tmp_path, ["cell-h2-4", "cell-h3-1"])
    waterfall = (tmp_path / "report" / "plt_s-waterfall.svg").read_text()
    assert "failed: the page crashed" in waterfall


def test_loads_without_artefacts_have_the_table_only(tmp_path: Path) -> None:
    text = write_report(made.saved(tmp_path, page_rows(h2=1.0, h3=0.5), PAGE_MANIFEST)).read_text()
    assert "Page loads" in text and "Waterfall" not in text


def test_studies_without_pages_have_no_part_of_them(tmp_path: Path) -> None:
    text = write_report(made.saved(tmp_path, made.grid())).read_text(encoding="utf-8")
    assert "Page loads" not in text
    assert not (tmp_path / "report" / "page-metrics.csv").exists()


def test_torn_recordings_are_shown_as_far_as_they_go(tmp_path: Path) -> None:
    write_load(tmp_path, "cell-h2-001")
    directory = tmp_path / "artifacts" / "cell-h2-001"
    (directory / "load.json").unlink()
    (directory / "frames.jsonl").write_text('{"at_s": 18')
    (found,) = evidence_of(tmp_path, [RUN, replace(RUN, run_id="none")]).pages
    assert found.load.error
    assert drawn(WATERFALL, found)
    assert FILMSTRIP.draw(subject(found)) is None


def test_tables_leave_out_what_nobody_measured() -> None:
    results = made.results(page_rows(h2=1.0), PAGE_MANIFEST)
    table = pages_table(results, analyse(results))
    assert table.headings == ("contender", "n", "FCP", "onLoad", "PLT")
    assert table.rows == ((("h2", "3", "0.5000", "1.000", "1.000"),),)


def test_two_loads_of_the_same_repetition_are_chosen() -> None:
    """The pair with the median ratio, and not the median load of each."""
    rows = [
        made.run(name, seed, total_s, plt_s=total_s, rate_mbit=10.0 * seed)
        for name, times in {"h2": (1.0, 2.0, 3.0), "h3": (3.0, 0.5, 2.4)}.items()
        for seed, total_s in enumerate(times, start=1)
    ]
    results = made.results(rows, PAGE_MANIFEST)
    chosen = chosen_groups(results, analyse(results))[0].runs
    assert [run.run_id for run in chosen] == ["cell-h2-3", "cell-h3-3"]
    assert {run.repetition for run in chosen} == {"seed 3: 30 Mbit/s"}
    assert runs_said(chosen) == "Runs: cell-h2-3, cell-h3-3 (seed 3: 30 Mbit/s)."


def test_the_comparison_that_was_asked_first_is_shown() -> None:
    asked = {**PAGE_MANIFEST["study"]["experiments"][0]}
    asked["comparisons"] = [["h3", "h2"], ["h1", "h2"]]
    manifest = {**PAGE_MANIFEST, "study": {**PAGE_MANIFEST["study"], "experiments": [asked]}}
    rows = [row | {"plt_s": None} for row in page_rows(h2=1.0, h3=0.9, h1=9.0)]
    manifest["study"]["experiments"][0]["metrics"] = ["total_s"]
    results = made.results(rows, manifest)
    assert {run.contender for run in chosen_groups(results, analyse(results))[0].runs} == {
        "h2",
        "h3",
    }


def test_page_loads_of_all_contenders_are_beside_each_other() -> None:
    """Of the repetition that is most like the others; of many contenders those that differ most."""
    times = {"h1": (3.0, 3.1, 9.0), "h2": (1.0, 5.0, 1.0), "h3": (0.5, 0.5, 0.5)}
    rows = [
        made.run(name, seed, time, plt_s=time)
        for name, found in times.items()
        for seed, time in enumerate(found, start=1)
    ]
    results = made.results(rows, PAGE_MANIFEST)
    (group,) = chosen_groups(results, analyse(results))
    assert [run.run_id for run in group.runs] == ["cell-h1-1", "cell-h2-1", "cell-h3-1"]
    assert group.title == "h1, h2 and h3: seed 1"
    many = page_rows(h2=1.0, h3=1.01, a=9.0, b=1.02, c=0.1, d=1.0)
    results = made.results(many, PAGE_MANIFEST)
    (group,) = chosen_groups(results, analyse(results))
    assert {run.contender for run in group.runs} == {"h2", "a", "c", "h3"}


def test_of_page_loads_that_never_all_ended_well_a_pair_is_shown() -> None:
    rows = [
        row
        for row in page_rows(h1=3.0, h2=1.0, h3=0.5)
        if row["contender"] != "h1" or row["seed"] == 1
    ]
    rows = [row for row in rows if row["contender"] != "h2" or row["seed"] != 1]
    results = made.results(rows, PAGE_MANIFEST)
    (group,) = chosen_groups(results, analyse(results))
    assert len(group.runs) == 2


def test_loads_of_different_repetitions_are_told() -> None:
    other = replace(RUN, run_id="other", repetition="seed 2")
    assert runs_said([RUN, other]).startswith("Runs, not of the same repetition: ")


@pytest.mark.parametrize(
    ("told", "metrics"),
    [
        ({"conditions": {"workload": {"kind": "page"}}}, ["plt_s", "fcp_s", "speed_index_s"]),
        ({"conditions": {"workload": {"kind": "page", "frames": False}}}, ["plt_s", "fcp_s"]),
        (
            {"axes": {"workload": [{"kind": "page", "site": name} for name in "ab"]}},
            ["plt_s", "fcp_s", "speed_index_s"],
        ),
        ({"axes": {"workload": [{"kind": "page"}, {"size": "1 MB"}]}}, ["total_s"]),
        ({"conditions": {"workload": {"kind": "page"}}, "metrics": ["onload_s"]}, ["onload_s"]),
        ({"conditions": {"workload": {"size": "1 MB"}}}, ["total_s"]),
        ({}, ["total_s"]),
    ],
)
def test_pages_are_compared_by_their_own_metrics(told: dict[str, Any], metrics: list[str]) -> None:
    assert list(Experiment.model_validate(told).metrics) == metrics


def test_heat_maps_of_made_pages() -> None:
    """Rates are rows, pages are columns: by count, then by bytes, in short words."""
    sites = {"100x10kB": 1_000_000, "1x1MB": 1_000_000, "1x5kB": 5_000, "10x10kB": 100_000}
    rows = [
        row
        for site, size in sites.items()
        for rate in (5.0, 50.0)
        for row in made.runs(
            {"h2": [1.0, 1.1, 1.2], "h3": [2.0, 2.1, 2.2]},
            cell=f"{site}-{rate}",
            rate_mbit=rate,
            rate_up_mbit=rate,
            workload=f"page objects-{site}",
            size_bytes=None,
            page_bytes=size,
        )
    ]
    analysis = analyse(made.results(rows))
    picture = HEATMAP.draw(Subject(analysis, study_styles([analysis])))
    assert picture is not None
    said = texts(picture.wide)
    pages = ["1 x 5 kB", "1 x 1 MB", "10 x 10 kB", "100 x 10 kB"]
    assert [text for text in said if " x " in text] == pages
    assert [text for text in said if text.endswith("Mbit/s")] == ["5 Mbit/s", "50 Mbit/s"]
    assert analysis.conditions.factors[0].name == "page"


def test_pages_of_the_corpus_are_ordered_by_their_bytes() -> None:
    sizes = {"page kepler": 880_000, "page sander-01 ipad": 90_000, "page zoo": 500_000}
    rows = [
        row
        for workload, size in sizes.items()
        for row in made.runs(
            {"h2": [1.0]}, cell=workload[5:], workload=workload, size_bytes=None, page_bytes=size
        )
    ]
    (factor,) = analyse(made.results(rows)).conditions.factors
    assert factor.levels == ("sander-01 ipad", "zoo", "kepler")
