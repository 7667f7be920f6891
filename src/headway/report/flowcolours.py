"""Colours of flows that compete: one for each name of the study, the same in all figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.analysis import Analysis
from headway.analysis.shares import shares
from headway.report.evidence import SharedStory
from headway.report.theme import PLAIN, Colour


def name_colours(analysis: Analysis) -> Mapping[str, Colour]:
    """A colour for each name of a flow, in the order of contenders; many names begin again."""
    names = dict.fromkeys(name.named for share in shares(analysis) for name in share.names)
    return {name: PLAIN[place % len(PLAIN)] for place, name in enumerate(names)}


def flow_colours(analysis: Analysis, stories: Sequence[SharedStory]) -> Mapping[str, Colour]:
    """A colour for each flow of some runs: the first of a name in its run has that of the name, the others what is left."""
    by_name = name_colours(analysis)
    colours: dict[str, Colour] = {}
    for story in stories:
        firsts = {flow.named: flow.name for flow in reversed(story.flows)}
        for named, name in firsts.items():
            if named in by_name:
                colours.setdefault(name, by_name[named])
    left = [colour for colour in PLAIN if colour not in by_name.values()] or list(PLAIN)
    names = dict.fromkeys(name for story in stories for name in story.names)
    others = [name for name in names if name not in colours]
    colours |= {name: left[place % len(left)] for place, name in enumerate(others)}
    return {name: colours[name] for name in names}
