"""Some runs of each page of results, again: what today's code gives beside what the page says.

``docs/results/again.csv`` names the runs and has their values. ``record`` carries them out and writes the values of today;
``write`` writes what they show on the pages (`make docs`). By night a test carries them out and compares every digit.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path

from headway.campaign.feasibility import needed_layers
from headway.cli.changes import parsed_changes
from headway.columns import Record
from headway.lab.ready import ready_image, ready_machine
from headway.lab.run import carry_out
from headway.planning.runs import Run, plan
from headway.records.record import make_record
from headway.study.load import load_study

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
TABLE = RESULTS / "again.csv"
BEGIN, END = "<!-- again -->", "<!-- /again -->"
_ORIGIN = re.compile(r"^From `headway (?P<command>[^`]+)`, begun (?P<day>[\d-]+), .*", re.MULTILINE)
_OTHER_KEYS_UNTIL = "2026-11-28"
"""Pages of this day and before have keys that layers were part of, unless they name their layers apart."""


@dataclass(frozen=True)
class Again:
    """A run of a page that is carried out again, and what came last.

    Attributes:
        page: its name, without suffix.
        experiment: of the run, as the cell, the contender, the seed and the metric.
        value: all its digits; empty before it was recorded.
        made: the day.
        commit: the last that changed what runs.
        image: the key of the lab image.
    """

    page: str
    experiment: str
    cell: str
    contender: str
    seed: int
    metric: str
    value: str
    made: str
    commit: str
    image: str

    @property
    def place(self) -> tuple[str, str, str, str]:
        """The row of the page's ``samples.csv``."""
        return self.experiment, self.cell, self.contender, self.metric


@dataclass(frozen=True)
class Published:
    """What a page has of a contender in a cell: to six digits."""

    n: int
    median: str
    least: str
    greatest: str

    def verdict(self, values: Sequence[str]) -> str:
        """What values of today, one for each of the first seeds, are beside it."""
        found = sorted(map(_six, values))
        if len(found) == self.n == 1:
            return "the same digits" if found == [self.median] else "other digits"
        if self.least == self.greatest:
            return "the same digits" if {*found} == {self.least} else "other digits"
        within = float(self.least) <= float(found[0]) <= float(found[-1]) <= float(self.greatest)
        return f"{'within' if within else 'outside'} the range of its {self.n} runs"


class Page:
    """A page of results."""

    def __init__(self, name: str) -> None:
        self.name, self.file = name, RESULTS / f"{name}.md"
        self.text = self.file.read_text(encoding="utf-8")

    @cached_property
    def origin(self) -> re.Match[str]:
        """The sentence that says from which command it is."""
        found = _ORIGIN.search(self.text)
        if not found:
            raise SystemExit(f"{self.file}: no sentence that begins with 'From `headway'")
        return found

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs of its command, as today's study has them."""
        parser = argparse.ArgumentParser()
        parser.add_argument("verb")
        parser.add_argument("study")
        parser.add_argument("--quick", action="store_true")
        parser.add_argument("--only", action="append")
        parser.add_argument("--set", action="append", default=[])
        asked = parser.parse_args(shlex.split(self.origin["command"]))
        study = load_study(asked.study, quick=asked.quick, changes=parsed_changes(asked.set))
        return plan(study.only(asked.only) if asked.only else study)

    @cached_property
    def published(self) -> dict[tuple[str, str, str, str], Published]:
        """What its ``samples.csv`` has, by experiment, cell, contender and metric."""
        with (RESULTS / self.name / "samples.csv").open(encoding="utf-8", newline="") as file:
            return {
                (row["experiment"], row["cell"], row["contender"], row["metric"]): Published(
                    int(row["n"]), row["median"], row["least"], row["greatest"]
                )
                for row in csv.DictReader(file)
            }

    def run_of(self, again: Again) -> Run:
        """The run of a row of the table."""
        key = again.experiment, again.cell, again.contender, again.seed
        for run in self.runs:
            if (run.experiment, run.cell, run.contender, run.seed) == key:
                return run
        raise SystemExit(f"{TABLE}: {self.name}: its study has no run {key}")

    def with_block(self, rows: Sequence[Again]) -> str:
        """Its text, with what running again showed behind the sentence of its origin."""
        plain = re.sub(rf"\n*{BEGIN}.*?{END}", "", self.text, flags=re.DOTALL)
        at = plain.index("\n\n", plain.index(self.origin[0]))
        block = "\n".join([BEGIN, "", *self._block(rows), "", END])
        return f"{plain[:at]}\n\n{block}{plain[at:]}"

    def _block(self, rows: Sequence[Again]) -> Iterator[str]:
        origin = self.origin[0]
        if self.origin["day"] <= _OTHER_KEYS_UNTIL and "(layers: " not in origin:
            yield (
                "When it was made, keys of lab images were of the layers in use, too: none of today can be compared with it."
            )
        if "claims judged" in self.text and "Verdicts are those of the rules of" not in self.text:
            yield "The page does not say of which day the rules are that judged its claims."
        if not any(row.value for row in rows):
            yield "None of its runs was repeated with a later Headway."
            return
        first = rows[0]
        yield (
            f"Some of its runs again, on {first.made}, with commit {first.commit} and lab image {first.image}; "
            "a test repeats them by night:"
        )
        yield ""
        yield "| cell | contender | metric | here | again, by seed | again beside here |"
        yield "|---|---|---|---|---|---|"
        for place, some in groupby(rows, lambda row: row.place):
            values = [row.value for row in some]
            here = self.published[place]
            spread = f" ({here.least} to {here.greatest}; n = {here.n})" if here.n > 1 else ""
            yield (
                f"| {place[1]} | {place[2]} | {place[3]} | {here.median}{spread} "
                f"| {', '.join(map(_six, values))} | {here.verdict(values)} |"
            )


def _six(value: str) -> str:
    return f"{float(value):.6g}"


def pages() -> list[Page]:
    """All pages of results; the one that counts them is none."""
    files = sorted(RESULTS.glob("*.md"))
    return [Page(file.stem) for file in files if file.name != "README.md"]


def read_table() -> list[Again]:
    """The runs that are carried out again."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [
            Again(
                **{key: value for key, value in row.items() if key != "seed"}, seed=int(row["seed"])
            )
            for row in csv.DictReader(file)
        ]


def carried_out(rows: Iterable[Again], directory: Path) -> Iterator[Again]:
    """The same runs with the values of today.

    Raises:
        SystemExit: a run is not there any more, or failed.
    """
    rows = list(rows)
    known = {name: Page(name) for name in {row.page for row in rows}}
    runs = [known[row.page].run_of(row) for row in rows]
    image = ready_image(layers=needed_layers(runs))
    machine = ready_machine(image)
    for number, (row, run) in enumerate(zip(rows, runs, strict=True)):
        place = directory / str(number)
        record = make_record(run, carry_out(run, machine, place), place)
        yield replace(row, value=_value(record, row), image=image.key)


def _value(record: Record, row: Again) -> str:
    value = getattr(record, row.metric)
    if record.status != "ok" or value is None:
        raise SystemExit(f"{row.page}: {record.run_id}: {record.error or f'no {row.metric}'}")
    return repr(float(value))


def record() -> None:
    """Carry all out, and write their values with what they were made with."""
    changed = ("git", "log", "-1", "--format=%h", "--", "src", "native")
    commit = subprocess.run(changed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    made = datetime.datetime.now(datetime.UTC).date().isoformat()
    with tempfile.TemporaryDirectory() as place:
        rows = [
            replace(row, made=made, commit=commit.strip())
            for row in carried_out(read_table(), Path(place))
        ]
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Again)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, rows))


def texts() -> Iterator[tuple[Path, str]]:
    """Every page's file, and what it is to say."""
    rows = read_table()
    for page in pages():
        yield page.file, page.with_block([row for row in rows if row.page == page.name])


def main() -> None:
    """Record and write, or only write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("record", "write"))
    if parser.parse_args().what == "record":
        record()
    for file, text in texts():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
