"""The analysis of runs: contenders compared within each cell, with statistics and in words."""

from headway.analysis.analysis import Analysis, analyse
from headway.analysis.cells import Cell, ContenderRuns
from headway.analysis.compare import Comparison
from headway.analysis.contest import Pairing
from headway.analysis.result_loading import StudyResults, load_results
from headway.analysis.sentences import sentence, sentences
from headway.analysis.summary import answer
from headway.analysis.verdict import Basis, SpreadVerdict, Verdict

__all__ = [
    "Analysis",
    "Basis",
    "Cell",
    "Comparison",
    "ContenderRuns",
    "Pairing",
    "SpreadVerdict",
    "StudyResults",
    "Verdict",
    "analyse",
    "answer",
    "load_results",
    "sentence",
    "sentences",
]
