"""Measuring the metrics of a page load: each module of this package measures some of them.

What each means, and where it is defined, is in docs/web-metrics.md. They are declared in
`headway.columns.page`.
"""

from __future__ import annotations

from headway.columns import PageMetrics
from headway.columns.gathering import gathered
from headway.modules import modules_in
from headway.pages.load import PageLoad
from headway.pages.metrics.measure import MEASURES

modules_in(__name__)


def page_metrics(load: PageLoad) -> PageMetrics:
    """All metrics of a load; also of a failed one, as far as it came. Decodes its frames."""
    return PageMetrics.model_validate(gathered(MEASURES, load, PageMetrics))
