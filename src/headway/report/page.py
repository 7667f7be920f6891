"""The report's page: everything a reader needs to believe, question and repeat a study."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Sequence
from functools import partial

import jinja2
from markupsafe import Markup, escape

from headway.analysis import StudyResults
from headway.analysis.significance import (
    KOLMOGOROV_SMIRNOV_ALPHA,
    MANN_WHITNEY_ALPHA,
    WELCH_ALPHA,
)
from headway.report import provenance, setting, tables, theme
from headway.report.figures import Picture
from headway.report.paragraph import methods_paragraph
from headway.report.reproducing import reproducing
from headway.report.section import Section
from headway.report.sections import ExperimentPart
from headway.report.sheet import Sheet
from headway.report.svg import svg_element
from headway.report.tables.kind import Matter
from headway.statistics.pairs import PAIRED_ALPHA, fewest_pairs
from headway.study.variation import DELAY_SHARE
from headway.version import VERSION

_KEPT_TOGETHER = re.compile(
    r"(?<=[\d)]) (?=(?:%|s|ms|[kMG]i?B|B|[kMG]?bit/s)(?:\W|$))"  # a number and its unit
    r"|(?<=\b[pn]) (?=[<=] )|(?<=\b[pn] [<=]) "  # p < 0.001, n = 5
)

_FILE = re.compile(r"\b([a-z-]+\.csv)\b")


def render(
    matter: Matter,
    parts: Sequence[ExperimentPart],
    warnings: Sequence[str],
    files: Sequence[str],
) -> str:
    """The page as HTML.

    Args:
        matter: the study.
        parts: what it says of each experiment.
        warnings: what a reader must know first, beside what the manifest tells.
        files: names of the files with its tables.
    """
    results = matter.results
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("headway.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["bound"] = bound
    environment.filters["begun"] = begun
    environment.filters["noted"] = partial(noted, files=frozenset(files))
    environment.globals["drawn"] = drawn
    return environment.get_template("page.html.j2").render(
        name=setting.study_name(results) or "Results",
        manifest=results.manifest,
        part=results.part,
        study=_study(results),
        repeating=reproducing(results.manifest.command),
        experiments=parts,
        several=len(parts) > 1,
        files=files,
        sections=[
            (section, tables.tables(matter, section)) for section in Section if section.of_study
        ],
        warnings=(*filter(None, (results.manifest.warning,)), *warnings),
        provenance=provenance.provenance_facts(results),
        paragraph=methods_paragraph(results, matter.firsts),
        light=Markup(theme.css_variables(dark=False)),
        dark=Markup(theme.css_variables(dark=True)),
        delay_share=f"{DELAY_SHARE:.0%}".replace("%", " %"),
        paired_alpha=PAIRED_ALPHA,
        fewest_pairs=fewest_pairs(),
        welch_alpha=WELCH_ALPHA,
        mann_whitney_alpha=MANN_WHITNEY_ALPHA,
        kolmogorov_smirnov_alpha=KOLMOGOROV_SMIRNOV_ALPHA,
        version=VERSION,
    )


def bound(text: str) -> Markup:
    """Text for the page, with numbers kept on one line with their units."""
    return escape(_KEPT_TOGETHER.sub("\N{NO-BREAK SPACE}", text))


def noted(text: str, files: Container[str] = ()) -> Markup:
    """Text for the page in which commands stand between backquotes, and files that are there become links."""
    parts = text.split("`")
    shown = (
        Markup("<code>{}</code>").format(part) if place % 2 else _linked(part, files)
        for place, part in enumerate(parts)
    )
    return Markup("").join(shown)


def _linked(text: str, files: Container[str]) -> Markup:
    parts = _FILE.split(text)
    shown = (
        Markup('<a href="{0}">{0}</a>').format(part) if part in files else bound(part)
        for part in parts
    )
    return Markup("").join(shown)


def begun(text: str) -> str:
    """Text as the beginning of a sentence or a heading."""
    return f"{text[:1].upper()}{text[1:]}"


def drawn(picture: Picture, sheet: Sheet, name: str) -> Markup:
    """A drawing of a figure as an element of the page."""
    return Markup(svg_element(sheet, picture.title, picture.said, name))


def _study(results: StudyResults) -> str:
    """The study as JSON; empty if it is not known."""
    plain = results.manifest.study.plain()
    return json.dumps(plain, indent=2, ensure_ascii=False) if plain else ""
