"""JUnit's XML: verdicts as test cases, which CI shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True)
class Case:
    """A verdict.

    Attributes:
        name: what was judged.
        passes: whether it may pass.
        said: the verdict in words.
        detail: more of it, of one that may not pass.
        took_s: how long it took; None if that is not known.
        is_open: whether it is not decided, and for that alone may not pass.
    """

    name: str
    passes: bool
    said: str
    detail: str = ""
    took_s: float | None = None
    is_open: bool = False


def junit(title: str, classname: str, cases: Sequence[Case]) -> str:
    """All verdicts as a suite of tests."""
    suite = ElementTree.Element(
        "testsuite",
        name=title,
        tests=str(len(cases)),
        failures=str(sum(not case.passes for case in cases)),
        errors="0",
        time=_seconds(math.fsum(case.took_s or 0.0 for case in cases)),
    )
    for case in cases:
        time = {} if case.took_s is None else {"time": _seconds(case.took_s)}
        element = ElementTree.SubElement(
            suite, "testcase", {"classname": classname, "name": case.name, **time}
        )
        if case.passes:
            ElementTree.SubElement(element, "system-out").text = case.said
        else:
            ElementTree.SubElement(element, "failure", message=case.said).text = case.detail
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _seconds(duration: float) -> str:
    return f"{duration:.3f}"
