"""From a table to labels: fit, read off, keep. Needs the extra ``label``."""

from semikpca.workflow._audit import audit_frame
from semikpca.workflow._estimate import AccuracyEstimate
from semikpca.workflow._label import Progress, label_table
from semikpca.workflow._labeled import LabeledTable
from semikpca.workflow._map import RowMap, row_map
from semikpca.workflow._model_file import LabelModel, load_model, save_model
from semikpca.workflow._options import LabelingOptions, kernel_names
from semikpca.workflow._rows import printable, row_names, row_texts, shortened

__all__ = [
    "AccuracyEstimate",
    "LabelModel",
    "LabeledTable",
    "LabelingOptions",
    "Progress",
    "RowMap",
    "audit_frame",
    "kernel_names",
    "label_table",
    "load_model",
    "printable",
    "row_map",
    "row_names",
    "row_texts",
    "save_model",
    "shortened",
]
