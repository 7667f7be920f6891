"""The matrix as a page that needs no network: `index.html` beside ``result.json``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import jinja2

from headway.instruments.interop.matrix import Cell, Matrix
from headway.instruments.interop.results import details
from headway.instruments.interop.verdict import Result

_TEMPLATE = "page.html.j2"


def page(matrix: Matrix, cells: Sequence[Cell]) -> str:
    """The page's text; equal results give equal bytes."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    of_pair: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        pair = cell.pairing.client.name, cell.pairing.server.name
        of_pair.setdefault(pair, []).append(cell)
    return environment.get_template(_TEMPLATE).render(
        matrix=matrix,
        of_pair=of_pair,
        failed=[cell for cell in cells if cell.result is Result.FAILED],
        results=list(Result),
        details=details,
        seeds=len(matrix.seeds),
    )
