"""From a table to labels: fit, read off, keep. Needs the extra ``label``."""

from semikpca.labeling import AccuracyEstimate
from semikpca.workflow._accepted import accepted_in_words, drawn_rows, percent
from semikpca.workflow._audit import AuditedTable, audit_table
from semikpca.workflow._cluster_label import ClusterLabels, cluster_classifier, label_on_cluster
from semikpca.workflow._filled import FilledTable
from semikpca.workflow._label import (
    Progress,
    about_empty_rows,
    fit_labels,
    label_table,
    number_table,
    prepare_table,
    views_that_matter,
)
from semikpca.workflow._label_model import LabelModel, NumberModel
from semikpca.workflow._labeled import LabeledTable, audit_frame, hidden, left_out_estimate
from semikpca.workflow._model_file import load_model, save_model
from semikpca.workflow._number_audit import AuditedNumbers, audit_numbers
from semikpca.workflow._numbered import COVERAGE, NumberedTable, value_audit_frame
from semikpca.workflow._options import LabelingOptions, kernel_names
from semikpca.workflow._rows import RowMap, printable, row_map, row_names, row_texts, shortened
from semikpca.workflow._value_estimate import ValueEstimate
from semikpca.workflow._value_ranges import ValueRange, round_edges, round_numbers, value_ranges

__all__ = [
    "COVERAGE",
    "AccuracyEstimate",
    "AuditedNumbers",
    "AuditedTable",
    "ClusterLabels",
    "FilledTable",
    "LabelModel",
    "LabeledTable",
    "LabelingOptions",
    "NumberModel",
    "NumberedTable",
    "Progress",
    "RowMap",
    "ValueEstimate",
    "ValueRange",
    "about_empty_rows",
    "accepted_in_words",
    "audit_frame",
    "audit_numbers",
    "audit_table",
    "cluster_classifier",
    "drawn_rows",
    "fit_labels",
    "hidden",
    "kernel_names",
    "label_on_cluster",
    "label_table",
    "left_out_estimate",
    "load_model",
    "number_table",
    "percent",
    "prepare_table",
    "printable",
    "round_edges",
    "round_numbers",
    "row_map",
    "row_names",
    "row_texts",
    "save_model",
    "shortened",
    "value_audit_frame",
    "value_ranges",
    "views_that_matter",
]
