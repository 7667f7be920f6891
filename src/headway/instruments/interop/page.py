"""The matrix as a page that needs no network: `index.html` beside ``result.json``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jinja2

from headway.instruments.interop.matrix import Matrix, MatrixCell
from headway.instruments.interop.results import details
from headway.instruments.interop.verdict import CaseResult

_TEMPLATE = "page.html.j2"


def page(matrix: Matrix, cells: Sequence[MatrixCell]) -> str:
    """The page's text; equal results give equal bytes."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    of_pair: dict[tuple[str, str], list[MatrixCell]] = {}
    for cell in cells:
        pair = cell.pairing.client.name, cell.pairing.server.name
        of_pair.setdefault(pair, []).append(cell)
    return environment.get_template(_TEMPLATE).render(
        matrix=matrix,
        of_pair=of_pair,
        failed=[cell for cell in cells if cell.result is CaseResult.FAILED],
        results=list(CaseResult),
        details=details,
        seeds=len(matrix.seeds),
    )
