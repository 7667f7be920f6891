"""Hints that tell a browser nothing: links to what a page does not have, and a 103 without links or over HTTP/1.1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from headway.planning.deployment import DeployedFlow
from headway.planning.runs import Run
from headway.sites.finding import find_site
from headway.sites.hints import destination_of, document_of
from headway.sites.site import Site
from headway.study.hints import Hints
from headway.study.host import Protocol


def vain_hints(runs: Sequence[Run]) -> Iterator[str]:
    """Remarks about hints and Early Hints that no browser of these runs can follow."""
    by_experiment: dict[str, list[DeployedFlow]] = {}
    for run in runs:
        by_experiment.setdefault(run.experiment, []).extend(run.deployment.flows)
    for flows in by_experiment.values():
        for hints, name in dict.fromkeys(_hinted(flows)):
            yield from (f"{name}: {reason}" for reason in _without(find_site(name), hints))
        yield from dict.fromkeys(_early(flows))


def _hinted(flows: Sequence[DeployedFlow]) -> Iterator[tuple[Hints, str]]:
    for flow in flows:
        workload = flow.asked.workload
        if workload.replay.hints and workload.replay.site:
            yield workload.replay.hints, workload.replay.site


def _without(site: Site, hints: Hints) -> Iterator[str]:
    """What the hints name and the page lacks."""
    kinds = {destination_of(exchange) for exchange in site.exchanges}
    for kind in hints.preload:
        if kind not in kinds:
            yield f"workload.hints.preload names no {kind}, because the page has none"
    if hints.preconnect and len(site.hosts) == 1:
        yield "workload.hints.preconnect names no host, because the page has no other host"


def _early(flows: Sequence[DeployedFlow]) -> Iterator[str]:
    """Of one version among several this is usual; that none can follow is a mistake."""
    asked = [flow for flow in flows if flow.http_server.asked.knobs.get("early_hints") == "on"]
    if asked and all(flow.asked.protocol is Protocol.H1 for flow in asked):
        yield "server.knobs.early_hints does nothing: browsers ignore a 103 over HTTP/1.1"
    for flow in asked:
        workload = flow.asked.workload
        if workload.replay.hints is None and workload.replay.site:
            document = document_of(find_site(workload.replay.site))
            if document.header("link") is None:
                yield (
                    f"{workload.replay.site}: server.knobs.early_hints does nothing: the document has no links; "
                    "state workload.hints"
                )
