"""Colours of flows that compete: one for each name of the study, the same in all figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.analysis import Analysis
from headway.analysis.shares import shares
from headway.report.shared import FlowCourse, SharedStory
from headway.report.theme import PLAIN, Colour


def name_colours(analysis: Analysis) -> Mapping[str, Colour]:
    """A colour for each name of a flow, in the order of contenders; many names begin again."""
    names = dict.fromkeys(name.named for one in shares(analysis) for name in one.names)
    return {name: PLAIN[place % len(PLAIN)] for place, name in enumerate(names)}


def flow_colours(analysis: Analysis, stories: Sequence[SharedStory]) -> Mapping[str, Colour]:
    """A colour for each flow of some runs: the first of a name has that of the name, the others have what is left."""
    by_name = name_colours(analysis)
    flows: dict[str, FlowCourse] = {}
    for story in stories:
        flows |= {flow.name: flow for flow in story.flows if flow.name not in flows}
    firsts = {flow.named: flow.name for flow in reversed(flows.values()) if flow.named in by_name}
    found = {name: by_name[named] for named, name in firsts.items()}
    left = [colour for colour in PLAIN if colour not in found.values()] or list(PLAIN)
    others = [name for name in flows if name not in found]
    found |= {name: left[place % len(left)] for place, name in enumerate(others)}
    return {name: found[name] for name in flows}
