"""One page for a referee: of each paper, what its pages of results say, of which day, and how to see a row of it again.

``write`` counts ``docs/results/README.md`` from the committed pages, their claims and their values (`make docs`); a test
checks that it is what this writes. ``measure`` carries out the commands of the rows, and keeps how long they took.
"""

from __future__ import annotations

import argparse
import csv
import re
import shlex
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby

from headway.analysis.claim_estimate import Judgement
from headway.analysis.published import Agreement
from headway.planning.cells import cells
from headway.report.tables.published import UNKNOWN
from headway.report.tables.table import Table, markdown
from headway.study.cause import ClaimedCause
from headway.study.experiment import Coordinates, Experiment, Study
from headway.study.load import load_study
from headway.study.population import SITES_AXIS
from headway.study.tomlvalue import as_toml
from tools.results_again import RESULTS, ROOT, Again, Page, pages, read_table

FILE = RESULTS / "README.md"
ROWS = RESULTS / "rows.csv"
"""How many seconds the command of each page's row took."""
_PAPER = re.compile(r"[a-z]+\d{4}")
_HEADING = re.compile(r"^## (.+)$")
_CLAIM = re.compile(r"^\| (?P<says>.+?) \|[^|]*\| \*\*(?P<judgement>[^*]+)\*\* \|")
_REASON = re.compile(r"^- (?P<says>.+): ours is .* Why: (?P<why>.+)$")
_IMAGE = re.compile(r" lab image (?P<image>\w+)(?: \(layers: [^)]*\))?: (?P<runs>[^,]+), ")
_MISSED = frozenset({Agreement.DIRECTION, Agreement.DISAGREES, Agreement.DIFFERS})
_AMISS = frozenset({Judgement.BROKEN, Judgement.OTHER_REASON})

_INTRODUCTION = """\
# The papers on one page

What each paper's pages say, counted from the pages themselves, their claims and their values (`make docs`). A miss is "not
known" if its reason says these words.

A missed value whose cause was changed in another experiment, with whose runs it agrees, is known, too; the values of such
experiments count for nothing else. A claim or a value that several pages of a paper have counts once: by the whole study before its short form, then by the
page of the later day. Claims are those that the studies have today. One that is on no page is "not measured".

Claims that name a cause have it in the study: with contenders that lack it, by which the claim is judged, or with a note that
says which other experiment takes it away, or why none does.
"""
_PAGES = """\
## Where the numbers come from

The command carries out one cell of the page with its first seed, and prints each contender's value. Of a population, it
is a site of each stratum. `samples.csv` beside the page has the range of all seeds. The seconds are of two cores that had
other work, too, with the lab image built before.
"""

Key = tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What a page says of a claim or of a published value, and whether it knows no reason."""

    outcome: str
    unknown: bool


class PaperPage:
    """A page of results of a paper.

    Attributes:
        page: the page.
        paper: the paper's name, which those of its studies begin with.
    """

    def __init__(self, page: Page, paper: str) -> None:
        self.page, self.paper = page, paper
        self.words = shlex.split(page.origin["command"])
        self.study = self.words[1]

    @property
    def rank(self) -> tuple[bool, str]:
        """Later in this order overrules."""
        return "--quick" not in self.words, self.page.origin["day"]

    @cached_property
    def claims(self) -> Mapping[Key, Verdict]:
        """By study, experiment and sentence."""
        verdicts: dict[Key, Verdict] = {}
        experiment = ""
        for line in self.page.text.splitlines():
            if heading := _HEADING.match(line):
                experiment = heading[1]
            elif claim := _CLAIM.match(line):
                judgement = claim["judgement"]
                unknown = judgement in _AMISS and UNKNOWN in self._why(claim["says"])
                verdicts[self.study, experiment, claim["says"]] = Verdict(judgement, unknown)
        return verdicts

    def _why(self, says: str) -> str:
        # The place of a claim stands behind its sentence.
        matching = [
            why for text, why in self._reasons if text == says or text.startswith(f"{says} (")
        ]
        return matching[0] if matching else UNKNOWN

    @cached_property
    def _reasons(self) -> Sequence[tuple[str, str]]:
        matches = map(_REASON.match, self.page.text.splitlines())
        return [(match["says"], match["why"].lower()) for match in matches if match]

    @cached_property
    def values(self) -> Mapping[Key, Verdict]:
        """By all that tells a published value from others."""
        file = RESULTS / self.page.name / "values.csv"
        if not file.is_file():
            return {}
        names = (
            "experiment",
            "metric",
            "cell",
            "contender",
            "against",
            "from_s",
            "to_s",
            "origin",
            "statistic",
        )
        with file.open(encoding="utf-8", newline="") as opened:
            return {
                (self.study, *(row[name] for name in names)): Verdict(
                    row["agreement"],
                    row["agreement"] in _MISSED and UNKNOWN in (row["why"] or UNKNOWN).lower(),
                )
                for row in csv.DictReader(opened)
                # A short form that leaves a cell out does not say which.
                if row["cell"] or row["agreement"] != Agreement.NOT_MEASURED
            }

    def row_command(self, again: Sequence[Again]) -> str:
        """The command that carries out one cell of the page with one seed."""
        places = [(row.experiment, row.cell) for row in again if row.page == self.page.name]
        experiment, cell = places[0] if places else self._first_place
        study = _study(self.study, quick="--quick" in self.words)
        mine = next(candidate for candidate in study.experiments if candidate.name == experiment)
        prefix = f"experiments.{experiment}." if experiment else ""
        changes = [f"{prefix}{change}" for change in _changes(mine, cells(mine)[cell])]
        words = ["headway", "run", self.study, *(["--quick"] if "--quick" in self.words else [])]
        words += ["--only", experiment] if experiment else []
        return " ".join([*words, *(f'--set "{change}"' for change in changes)])

    @property
    def _first_place(self) -> tuple[str, str]:
        with (RESULTS / self.page.name / "samples.csv").open(encoding="utf-8", newline="") as file:
            row = next(csv.DictReader(file))
        return row["experiment"], row["cell"]


@cache
def _study(name: str, *, quick: bool) -> Study:
    return load_study(name, quick=quick)


def paper_pages() -> list[PaperPage]:
    """The pages of papers, by paper and then by rank."""
    of_papers = []
    for page in pages():
        paper = _PAPER.match(shlex.split(page.origin["command"])[1])
        if paper:
            of_papers.append(PaperPage(page, paper[0]))
    return sorted(of_papers, key=lambda page: (page.paper, page.rank, page.page.name))


def _changes(experiment: Experiment, cell: Coordinates) -> Iterator[str]:
    """What leaves one cell and one repetition of an experiment; of a population, a site of each stratum."""
    yield "repetitions=1"
    left = [rule for rule in experiment.exclude if _concerns(rule, cell)]
    # A rule that names a value which is gone would be an error.
    if experiment.exclude:
        yield f"exclude={as_toml([rule | {axis: cell[axis] for axis in rule if axis in cell} for rule in left])}"
    for axis, at in cell.items():
        if axis != SITES_AXIS or not experiment.population:
            yield f"axes.{axis}={as_toml([at])}"
            continue
        for stratum in experiment.population.strata:
            sites = [site for site, of in experiment.population.sites.items() if of == stratum]
            yield f"population.strata.{stratum}={as_toml([at if at in sites else sites[0]])}"


def _concerns(rule: Coordinates, cell: Coordinates) -> bool:
    return all(
        str(cell[axis]) in map(str, value if isinstance(value, list) else [value])
        for axis, value in rule.items()
        if axis in cell
    )


def together(verdicts: Sequence[Mapping[Key, Verdict]]) -> Mapping[Key, Verdict]:
    """Verdicts of several pages, each once: those of a later page count, unless it did not measure and another did."""
    merged: dict[Key, Verdict] = {}
    for of_page in verdicts:
        for key, verdict in of_page.items():
            if key not in merged or verdict.outcome != Judgement.NOT_MEASURED:
                merged[key] = verdict
    return merged


def resolved(values: Mapping[Key, Verdict]) -> Mapping[Key, Verdict]:
    """Values without those of experiments that explain others; what agrees there is known here.

    Args:
        values: of all pages of a paper, each once.
    """
    explaining = {
        (name, experiment.name): experiment.explains.experiment
        for name in {key[0] for key in values}
        for experiment in _study(name, quick=False).experiments
        if experiment.explains
    }
    agreeing = {
        (key[0], explaining[key[:2]], *key[2:]): verdict.outcome == Agreement.AGREES
        for key, verdict in ((_at_cell(key), verdict) for key, verdict in values.items())
        if key[:2] in explaining
    }
    return {
        key: Verdict(verdict.outcome, verdict.unknown and not agreeing.get(_at_cell(key), False))
        for key, verdict in values.items()
        if key[:2] not in explaining
    }


def _at_cell(key: Key) -> Key:
    """A value's key whose cell is named without its experiment."""
    study, experiment, metric, cell, *others = key
    return (study, experiment, metric, cell.removeprefix(f"{experiment}-"), *others)


def causes_today(studies: Iterable[str]) -> Mapping[Key, ClaimedCause]:
    """The causes that claims of studies name, by claim."""
    return {
        (name, experiment.name, claim.says): claim.because
        for name in studies
        for experiment in _study(name, quick=False).experiments
        for claim in experiment.claims
        if claim.because is not None
    }


def claims_today(studies: Iterable[str]) -> Mapping[Key, Verdict]:
    """The claims that studies have, as if no page had judged any."""
    return {
        (name, experiment.name, claim.says): Verdict(Judgement.NOT_MEASURED, unknown=False)
        for name in studies
        for experiment in _study(name, quick=False).experiments
        for claim in experiment.claims
    }


def _counts(verdicts: Mapping[Key, Verdict], outcomes: Sequence[str]) -> list[str]:
    counter = Counter(verdict.outcome for verdict in verdicts.values())
    return [str(counter[outcome]) for outcome in outcomes]


def _unknown(
    verdicts: Mapping[Key, Verdict], missed: frozenset[Judgement] | frozenset[Agreement]
) -> str:
    amiss = [verdict for verdict in verdicts.values() if verdict.outcome in missed]
    return f"{sum(verdict.unknown for verdict in amiss)} of {len(amiss)}" if amiss else "–"


def _claims_row(
    name: str, verdicts: Mapping[Key, Verdict], causes: Mapping[Key, ClaimedCause]
) -> tuple[str, ...]:
    own = [causes[key] for key in verdicts if key in causes]
    return (
        name,
        str(len(verdicts)),
        *_counts(verdicts, list(Judgement)),
        _unknown(verdicts, _AMISS),
        str(len(own)),
        str(sum(bool(cause.without) for cause in own)),
    )


def _values_row(name: str, verdicts: Mapping[Key, Verdict]) -> tuple[str, ...]:
    agree, undecided, unmeasured = _counts(
        verdicts, [Agreement.AGREES, Agreement.UNDECIDED, Agreement.NOT_MEASURED]
    )
    missed = sum(verdict.outcome in _MISSED for verdict in verdicts.values())
    counts = (str(len(verdicts)), agree, str(missed), undecided, unmeasured)
    return name, *counts, _unknown(verdicts, _MISSED)


def _papers(every: Sequence[PaperPage]) -> Iterator[str]:
    claims, values = [], []
    causes: dict[Key, ClaimedCause] = {}
    for paper, of_paper in groupby(every, key=lambda page: page.paper):
        mine = [*of_paper]
        studies = sorted({page.study for page in mine})
        today = claims_today(studies)
        causes |= causes_today(studies)
        judged = together([today, *(page.claims for page in mine)])
        claims.append((paper, {key: judged[key] for key in today}))
        values.append((paper, resolved(together([page.values for page in mine]))))
    claims.append(("all", {key: verdict for _, some in claims for key, verdict in some.items()}))
    values.append(("all", {key: verdict for _, some in values for key, verdict in some.items()}))
    yield "## Claims"
    yield ""
    unknown = f'"{UNKNOWN}", of those missed'
    headings = ("paper", "claims", *Judgement, unknown, "name a cause", "which is taken away")
    rows = tuple((_claims_row(*row, causes),) for row in claims)
    yield from markdown(Table(headings, rows, labels=1))
    yield ""
    yield "## Published values"
    yield ""
    headings = (
        "paper",
        "values",
        "agree",
        "missed",
        "undecided",
        "not measured",
        f'"{UNKNOWN}", of those missed',
    )
    rows = tuple((_values_row(*row),) for row in values if row[1])
    yield from markdown(Table(headings, rows, labels=1))


def _row_seconds() -> Mapping[str, str]:
    with ROWS.open(encoding="utf-8", newline="") as file:
        return {row["page"]: row["seconds"] for row in csv.DictReader(file)}


def measure() -> None:
    """Carry out the commands of all rows, and keep how long each took.

    Raises:
        SystemExit: one fails.
    """
    rows = []
    for paper_page in paper_pages():
        command = shlex.split(paper_page.row_command(read_table()))[1:]
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as place:
            done = subprocess.run(
                (str(ROOT / ".venv/bin/headway"), *command, "--out", f"{place}/row"),
                cwd=place,
                check=False,
            )
        if done.returncode:
            raise SystemExit(f"{paper_page.page.name}: exit status {done.returncode}")
        rows.append((paper_page.page.name, f"{time.monotonic() - began:.0f}"))
    with ROWS.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("page", "seconds"), *rows])


def _sources(every: Sequence[PaperPage], again: Sequence[Again]) -> Iterator[str]:
    rows, seconds = [], _row_seconds()
    for paper_page in every:
        image = _IMAGE.search(paper_page.page.origin[0])
        if not image:
            raise SystemExit(f"{paper_page.page.file}: its origin names no lab image and runs")
        some = [row for row in again if row.page == paper_page.page.name]
        repeated = f"{len(some)} runs, {some[0].made}, image `{some[0].image}`" if some else "–"
        rows.append(
            (
                f"[{paper_page.page.name}]({paper_page.page.name}.md)",
                paper_page.page.origin["day"],
                f"`{image['image']}`",
                image["runs"],
                repeated,
                f"`{paper_page.row_command(again)}`",
                seconds.get(paper_page.page.name, "–"),
            )
        )
    headings = ("page", "begun", "lab image", "runs", "repeated", "one row", "seconds")
    yield from markdown(Table(headings, tuple((row,) for row in rows), labels=6))


def text() -> str:
    """The page."""
    every, again = paper_pages(), read_table()
    lines = [_INTRODUCTION, *_papers(every), "", _PAGES, *_sources(every, again)]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write, or only write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("measure", "write"))
    if parser.parse_args().what == "measure":
        measure()
    FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
