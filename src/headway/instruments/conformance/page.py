"""The verdicts as a page that needs no network: `index.html` beside ``result.json``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jinja2

from headway.instruments.conformance.case import ConformanceCase
from headway.instruments.conformance.results import counts
from headway.instruments.conformance.verdict import ConformanceResult, ConformanceVerdict

_TEMPLATE = "page.html.j2"


def page(
    cases: Sequence[ConformanceCase], verdicts: Sequence[ConformanceVerdict], seed: int
) -> str:
    """The page's text; equal verdicts give equal bytes."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(_TEMPLATE).render(
        cases=cases,
        senders=list(dict.fromkeys(verdict.sender for verdict in verdicts)),
        verdicts={(verdict.case, verdict.sender): verdict for verdict in verdicts},
        counts=counts(verdicts),
        results=list(ConformanceResult),
        seed=seed,
    )
