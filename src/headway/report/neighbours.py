"""Neighbours of an answer on the terminal: at a glance, then the sentences that lose most."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway.errors import counted
from headway.nearby.document import NearbyAnswer, TriedSentence
from headway.nearby.fate import SentenceFate
from headway.nearby.words import (
    difference_words,
    fate_words,
    outcome,
    overview,
    turning_words,
    worst,
)

_MOST_SENTENCES = 3
_MOST_NEIGHBOURS = 6
STYLES = {
    SentenceFate.HOLDS: "green",
    SentenceFate.TURNS: "bold magenta",
    SentenceFate.GONE: "magenta",
    SentenceFate.DIFFERS: "magenta",
    SentenceFate.FAILS: "red",
    SentenceFate.UNDECIDED: "dim",
}


def print_nearby(console: Console, answer: NearbyAnswer) -> None:
    """Print what became of an answer nearby: how much holds, and the three sentences that lose most."""
    console.print(Text("Nearby", style="bold"))
    console.print(Text(overview(answer)))
    shown = [sentence for sentence in worst(answer) if sentence.neighbours][:_MOST_SENTENCES]
    for sentence in shown:
        console.print()
        _print_sentence(console, sentence)
    tried = [sentence for sentence in answer.sentences if sentence.neighbours]
    if more := len(tried) - len(shown):
        console.print(Text(f"\nThe report has {counted(more, 'sentence')} more.", style="dim"))
    if answer.left_out:
        console.print(
            Text(
                f"{counted(len(answer.left_out), 'neighbour')} not tried; {_why(answer)}",
                style="dim",
            )
        )


def _why(answer: NearbyAnswer) -> str:
    beyond = sum(neighbour.reason.startswith("beyond") for neighbour in answer.left_out)
    unable = len(answer.left_out) - beyond
    parts = []
    if beyond:
        parts.append(f"{beyond} beyond the budget (--minutes or --runs)")
    if unable:
        parts.append(
            f"{unable} that programs cannot do, or that are not there: the report names them"
        )
    return "; ".join(parts)


def _print_sentence(console: Console, sentence: TriedSentence) -> None:
    console.print(Text(f"- {sentence.text}"))
    if sentence.title:
        console.print(
            Text(f"  around {sentence.title}: {difference_words(sentence.difference)}", style="dim")
        )
    changes = any(neighbour.fate.is_change for neighbour in sentence.neighbours)
    console.print(Text(f"  {outcome(sentence)}.", style="magenta" if changes else "green"))
    for turning in sentence.turning:
        console.print(Text(f"  {turning_words(turning)}."))
    others = [
        neighbour for neighbour in sentence.neighbours if neighbour.fate is not SentenceFate.HOLDS
    ]
    if not others:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for heading in ("neighbour", "difference", "sentence"):
        table.add_column(heading)
    for neighbour in others[:_MOST_NEIGHBOURS]:
        table.add_row(
            neighbour.label,
            difference_words(neighbour.difference),
            Text(fate_words(neighbour), style=STYLES[neighbour.fate]),
        )
    console.print(table)
