"""The parts of the page, in its order."""

from __future__ import annotations

from enum import Enum


class Section(Enum):
    """Part of an experiment's section of the page, or of the study's; figures and tables each stand in one.

    Attributes:
        anchor: its id, behind that of the experiment.
        title: its heading.
        without: what a section of the study says that has nothing to show.
    """

    SHARES = "shares", "Who got how much"
    POPULATION = "population", "Over the sites"
    RESULTS = "results", ""
    ACROSS = "across", ""
    NEARBY = "nearby", "How far it holds"
    ADVICE = "advice", "What to do"
    PAGES = "pages", "Page loads"
    CLAIMS = "claims", "Claims"
    PUBLISHED = "published", "Published and ours"
    FAULTS = "faults", "Single faults"
    FLOWS = "flows", "Flows that compete"
    WHY = "why", "Why"
    SETTING = "setting", "Setting"
    NUMBERS = "numbers", "Numbers"
    FILES = "files", "Files", ""
    PROGRAMS = "programs", "Programs", "Nothing was set in the programs."
    METHOD = "method", "Method", ""
    FAILURES = "failures", "Failures", "No run failed."
    DISTURBANCES = "disturbances", "Disturbances", "The paths name none, or the runs did not count."
    VALIDATION = (
        "validation",
        "Validation",
        "No run was validated by control pings or captures.",
    )
    SELF_TEST = "self-test", "The emulation's test of itself", "The results hold no self-test."
    PROVENANCE = "provenance", "Provenance", ""

    def __init__(self, anchor: str, title: str, without: str | None = None) -> None:
        self.anchor = anchor
        self.title = title
        self.without = without or ""
        self.of_study = without is not None


PLACES = {section: place for place, section in enumerate(Section)}
