"""What the runs say: contenders compared within each cell, with statistics and in words."""

from headway.analysis.cells import Analysis, Cell, Side, analyse
from headway.analysis.compare import Basis, Comparison, Pairing, Verdict
from headway.analysis.inputs import Results, load_results
from headway.analysis.sentences import answer, sentence, sentences

__all__ = [
    "Analysis",
    "Basis",
    "Cell",
    "Comparison",
    "Pairing",
    "Results",
    "Side",
    "Verdict",
    "analyse",
    "answer",
    "load_results",
    "sentence",
    "sentences",
]
