"""Claims at the neighbours over which they are meant, as what became of them is kept beside results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from headway.durable import write_atomically
from headway.errors import WrongInputError
from headway.records.store import NEARBY

FILE = "claims.json"
Place = tuple[str, str]
"""An experiment, and what a claim of it says."""


class ClaimedNeighbours(BaseModel):
    """A claim at its neighbours, each by its name in a sentence.

    Attributes:
        experiment: its experiment.
        says: the claim.
        holds: where its order or difference is found again.
        changes: where it turns around or is gone.
        undecided: where the runs do not tell.
        untried: how many neighbours the budget did not suffice for.
    """

    model_config = ConfigDict(frozen=True)

    experiment: str
    says: str
    holds: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    untried: int = 0


class _ClaimsDocument(BaseModel):
    claims: tuple[ClaimedNeighbours, ...]


def write_claimed_neighbours(claims: Iterable[ClaimedNeighbours], directory: Path) -> None:
    """Keep them in the directory of the neighbours' runs."""
    text = _ClaimsDocument(claims=tuple(claims)).model_dump_json(indent=1)
    write_atomically(directory / FILE, f"{text}\n".encode())


def read_claimed_neighbours(results: Path) -> Mapping[Place, ClaimedNeighbours]:
    """Those of a results directory, none if nothing was tried.

    Raises:
        WrongInputError: the document is damaged.
    """
    file = results / NEARBY / FILE
    try:
        document = _ClaimsDocument.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise WrongInputError(
            f"is damaged: {reason}; `headway nearby {results}` writes it again", where=str(file)
        ) from None
    return {(claim.experiment, claim.says): claim for claim in document.claims}
