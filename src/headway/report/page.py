"""The report's page: everything a reader needs to believe, question and repeat a study."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import jinja2
from markupsafe import Markup, escape

from headway.analysis import StudyResults
from headway.analysis.paired import fewest_pairs
from headway.analysis.published import TOLERANCE
from headway.analysis.significance import (
    KOLMOGOROV_SMIRNOV_ALPHA,
    MANN_WHITNEY_ALPHA,
    PAIRED_ALPHA,
    WELCH_ALPHA,
)
from headway.analysis.validated import Validated
from headway.report import provenance, setting, theme
from headway.report.figures import Picture
from headway.report.paragraph import methods_paragraph
from headway.report.parts import ExperimentPart
from headway.report.reproducing import showing_packets
from headway.report.sheet import Sheet
from headway.report.svg import svg_element
from headway.report.tables.disturbances import disturbances_frame, disturbances_table
from headway.report.tables.failures import failures_table
from headway.report.tables.validation import (
    failed_checks_table,
    validation_table,
)
from headway.study.variation import DELAY_SHARE
from headway.version import VERSION

_KEPT_TOGETHER = re.compile(
    r"(?<=[\d)]) (?=(?:%|s|ms|[kMG]i?B|B|[kMG]?bit/s)(?:\W|$))"  # a number and its unit
    r"|(?<=\b[pn]) (?=[<=] )|(?<=\b[pn] [<=]) "  # p < 0.001, n = 5
)


def render(
    results: StudyResults,
    parts: Sequence[ExperimentPart],
    validated: Sequence[Validated],
    warnings: Sequence[str],
    tables: Sequence[str],
) -> str:
    """The page as HTML.

    Args:
        results: the study's results.
        parts: what it says of each experiment.
        validated: what validates the runs.
        warnings: what a reader must know first, beside what the manifest tells.
        tables: names of the files with its tables.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("headway.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["bound"] = bound
    environment.filters["begun"] = begun
    environment.filters["coded"] = coded
    environment.globals["drawn"] = drawn
    titles = {name: title for part in parts for name, title in part.first.analysis.titles.items()}
    return environment.get_template("page.html.j2").render(
        name=setting.study_name(results) or "Results",
        manifest=results.manifest,
        study=_study(results),
        experiments=parts,
        several=len(parts) > 1,
        tables=tables,
        settings=setting.settings_table(results),
        failures=failures_table(results, titles),
        showing_packets=showing_packets(results),
        validation=validation_table(validated),
        validation_failed=failed_checks_table(validated),
        warnings=(*filter(None, (results.manifest.warning,)), *warnings),
        disturbances=disturbances_table(disturbances_frame(results), titles),
        self_test=provenance.self_test_table(results),
        provenance=provenance.provenance_facts(results),
        paragraph=methods_paragraph(results, [part.first.analysis for part in parts]),
        light=Markup(theme.css_variables(dark=False)),
        dark=Markup(theme.css_variables(dark=True)),
        delay_share=f"{DELAY_SHARE:.0%}".replace("%", " %"),
        paired_alpha=PAIRED_ALPHA,
        fewest_pairs=fewest_pairs(PAIRED_ALPHA),
        welch_alpha=WELCH_ALPHA,
        mann_whitney_alpha=MANN_WHITNEY_ALPHA,
        kolmogorov_smirnov_alpha=KOLMOGOROV_SMIRNOV_ALPHA,
        tolerance=f"{TOLERANCE:.0%}".replace("%", " %"),
        version=VERSION,
    )


def bound(text: str) -> Markup:
    """Text for the page, with numbers kept on one line with their units."""
    return escape(_KEPT_TOGETHER.sub("\N{NO-BREAK SPACE}", text))


def coded(text: str) -> Markup:
    """Text for the page in which commands stand between backquotes."""
    parts = text.split("`")
    shown = (
        Markup("<code>{}</code>").format(part) if place % 2 else bound(part)
        for place, part in enumerate(parts)
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
