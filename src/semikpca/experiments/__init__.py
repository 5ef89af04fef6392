"""The paper's experiments: what to run, the draws, the records and the tables made of them."""

from semikpca._files import versions
from semikpca.experiments._records import CellRecord, ModelRecord
from semikpca.experiments._runner import run_cell, run_missing
from semikpca.experiments._spec import MODEL_NAMES, MODELS, Cell, PaperSpec, paper_label_counts, paper_values
from semikpca.experiments._store import RecordStore, RecordT, SpecT
from semikpca.experiments._surfaces import ObjectiveSurface, Outcome, objective_surfaces
from semikpca.experiments._tables import PAPER_DRAWS, Agreement, curve_rows, dataset_rows, result_rows, summarize
from semikpca.experiments._workers import WithParent

__all__ = [
    "MODELS",
    "MODEL_NAMES",
    "PAPER_DRAWS",
    "Agreement",
    "Cell",
    "CellRecord",
    "ModelRecord",
    "ObjectiveSurface",
    "Outcome",
    "PaperSpec",
    "RecordStore",
    "RecordT",
    "SpecT",
    "WithParent",
    "curve_rows",
    "dataset_rows",
    "objective_surfaces",
    "paper_label_counts",
    "paper_values",
    "result_rows",
    "run_cell",
    "run_missing",
    "summarize",
    "versions",
]
