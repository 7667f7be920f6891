"""Tables between two marks of pages that are written by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from headway.planning.keyrules import DEPLOYED_RULES
from headway.programs.knobfile import NATIVE_KNOBS
from headway.study.exclusions import EXCLUSIONS
from headway.study.kernel import HostProfile
from headway.study.processor import Processor, ProcessorProfile
from headway.study.rulerow import RuleTable
from headway.study.rules import RULES_OF_NETWORKS, RULES_OF_PARTS
from headway.tables import table

_ROWS = Sequence[str]


def with_tables(docs: Path) -> dict[str, str]:
    """The texts of the pages that have such tables, by name.

    Args:
        docs: the directory of the pages as they are.
    """
    return {
        page: _with_tables((docs / page).read_text(encoding="utf-8"), tables)
        for page, tables in _TABLES.items()
    }


def _with_tables(text: str, tables: dict[str, Callable[[], _ROWS]]) -> str:
    for name, rows in tables.items():
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        _, _, after = rest.partition(f"<!-- /{name} -->")
        text = "\n".join([f"{before}<!-- {name} -->", *rows(), f"<!-- /{name} -->{after}"])
    return text


def _knobs() -> _ROWS:
    rows = ["| knob | values | default | in studies | meaning |", "|---|---|---|---|---|"]
    for knob in NATIVE_KNOBS["quic"]:
        default = f"`{knob.default}`" if knob.default else "its own"
        lab = "a key of the host" if knob.host_key else f"`{knob.lab}`" if knob.lab else ""
        of = f" (with {' or '.join(knob.controls)} only)" if knob.controls else ""
        rows.append(f"| `{knob.name}` | {knob.values} | {default} | {lab} | {knob.meaning}{of} |")
    return rows


def _host_profiles() -> _ROWS:
    profiles = [profile for profile in HostProfile if profile is not HostProfile.TUNED]
    rows = [f"| | {' | '.join(profiles)} | source |", "|---|" + "---|" * (len(profiles) + 1)]
    lines = table("headway.study", "data/hosts.csv")
    for name in dict.fromkeys(line["name"] for line in lines):
        own = [line for line in lines if line["name"] == name]
        values = (
            ", ".join(f"`{line['value']}`" for line in own if profile in line["profiles"].split())
            for profile in profiles
        )
        sources = "; ".join(line["source"] for line in own)
        rows.append(f"| `{name}` | {' | '.join(values)} | {sources} |")
    return rows


def _processors() -> _ROWS:
    priced = [profile for profile in ProcessorProfile if profile is not ProcessorProfile.FREE]
    costs_of = {profile: Processor(profile=profile).costs for profile in priced}
    rows = [f"| cost of | {' | '.join(priced)} |", "|---|" + "---|" * len(priced)]
    for key in dict.fromkeys(key for costs in costs_of.values() for key in costs):
        rows.append(f"| `{key}` | {' | '.join(str(costs[key]) for costs in costs_of.values())} |")
    return rows


def _exclusions() -> _ROWS:
    rows = ["| part | not beside | because | instead |", "|---|---|---|---|"]
    for row in EXCLUSIONS:
        instead = row.instead or "leave out one of them"
        rows.append(f"| `{row.key}` | `{row.beside}` | {row.because} | {instead} |")
    return rows


def _rules(tables: Sequence[RuleTable[Any, Any]]) -> Callable[[], _ROWS]:
    def rows() -> _ROWS:
        lines = ["| part | what must hold | what to do if it does not |", "|---|---|---|"]
        for kind in tables:
            for number, rule in enumerate(kind.rows):
                instead = "" if "{" in rule.instead else rule.instead
                lines.append(f"| {'' if number else kind.of} | {rule.rule} | {instead} |")
        return lines

    return rows


_TABLES: dict[str, dict[str, Callable[[], _ROWS]]] = {
    "native-quic.md": {"knobs": _knobs},
    "hosts.md": {"profiles": _host_profiles},
    "processors.md": {"processors": _processors},
    "study-refused.md": {"exclusions": _exclusions, "rules": _rules(RULES_OF_NETWORKS)},
    "study-needs.md": {"parts": _rules(RULES_OF_PARTS), "programs": _rules(DEPLOYED_RULES)},
}
"""The tables of each page, by their marks."""
